import { useState } from 'preact/hooks';
import type { RequestContent, RequestEntry } from '../../../control/journal/request-entry.ts';
import { useInspector } from '../../inspector.ts';
import { Code, Failure } from '../../parts.tsx';
import { Time } from '../../time.tsx';
import { useLoaded } from '../../use-loaded.ts';
import { writeCurl, writeTest } from './request-as-code.ts';
import { toneOf } from './request-list.tsx';
import { ShapingBehaviours } from './shaping-behaviours.tsx';

/** One request: the result and why, what shaped it, and what was sent. */
export function RequestDetail({ id }: { readonly id: string }) {
  const { client } = useInspector();
  const load = () => client.getRequest({ id });
  // An entry never changes, but after a reset its id belongs to another one.
  const { value, error } = useLoaded(load, id, ({ kind }) => kind === 'reset');
  if (!value) return <Failure error={error} />;
  const entry = value as unknown as RequestEntry;
  const { method, path, status, code, request, reply } = entry;
  return (
    <>
      <h1>
        {method} {path} <span class={`mark ${toneOf(status)}`}>{[status, code].filter(Boolean).join(' ')}</span>
      </h1>
      <Reason entry={entry} />
      {entry.protocol === 'http' && (
        <>
          <CopyText title="As a curl command" text={writeCurl(entry, location.origin)} />
          <CopyText title="As a test" text={writeTest(entry)} />
        </>
      )}
      <Facts entry={entry} />
      <h2>What shaped the reply</h2>
      <ShapingBehaviours entry={entry} />
      <h2>Request</h2>
      <Content content={request} name="request" />
      <h2>Reply</h2>
      <Content content={reply} name="reply" />
    </>
  );
}

/** Why a request was refused, which the reply does not say. */
function Reason({ entry: { reason, status, reply, faults } }: { readonly entry: RequestEntry }) {
  const said = errorOf(reply);
  return (
    <>
      {reason !== null && (
        <div class={`reason ${toneOf(status)}-edge`}>
          <p>
            Why: <strong>{reason}</strong>
          </p>
          {said !== undefined && said !== reason && (
            <p class="soft">The reply says only “{said}”, because a client must not learn more.</p>
          )}
        </div>
      )}
      {faults.length > 0 && (
        <p class="reason warn-edge">A fault that a test added shaped this reply: {faults.join(', ')}.</p>
      )}
    </>
  );
}

function errorOf({ body }: RequestContent): string | undefined {
  const { error } = (parseJson(body) ?? {}) as { readonly error?: unknown };
  return typeof error === 'string' ? error : undefined;
}

/** What a client sent as HTTP, or the protocol of a mail program. */
function calledBy({ protocol, operation, principal, key }: RequestEntry) {
  if (protocol !== 'http') return [['Protocol', protocol.toUpperCase()]];
  return [
    ['Operation', operation ?? 'none: no operation has this method and path'],
    ['Key', key ?? 'none was sent'],
    ['Tier of the key', principal?.tier ?? 'none: the key is missing or not valid'],
  ];
}

function Facts({ entry }: { readonly entry: RequestEntry }) {
  const { id, principal, at, realTime, durationMs } = entry;
  const nameOf = useNames();
  const facts = [
    ['Request', id],
    ...calledBy(entry),
    ['Its tenant', nameOf(principal?.tenantId)],
    ['Its workspace', nameOf(principal?.workspaceId)],
    ['Its inbox', nameOf(principal?.inboxId)],
    ['Duration', `${durationMs.toFixed(1)} ms`],
  ].filter(([, text]) => text);
  return (
    <>
      <h2>Details</h2>
      <dl class="keys">
        {facts.map(([label, text]) => (
          <div key={label}>
            <dt class="soft">{label}</dt>
            <dd>{text}</dd>
          </div>
        ))}
        <div>
          <dt class="soft">Time</dt>
          <dd>
            <Time at={realTime} />
            {at !== realTime && (
              <>
                , by the clock of the tenant <Time at={at} />
              </>
            )}
          </dd>
        </div>
      </dl>
    </>
  );
}

/** Returns a function that shows an id of a tenant, workspace or inbox with its name. */
function useNames(): (id: string | null | undefined) => string | undefined {
  const { client } = useInspector();
  const { value } = useLoaded(() => client.listTenants(), 'tenants');
  const names = new Map(
    value?.tenants.flatMap(({ id, name, workspaces }) => [
      [id, name] as const,
      ...workspaces.map((workspace) => [workspace.id, workspace.name] as const),
      ...workspaces.flatMap(({ inboxes }) => inboxes.map(({ id, address }) => [id, address] as const)),
    ]),
  );
  return (id) => (id == null ? undefined : [names.get(id), id].filter(Boolean).join(', '));
}

interface ContentProps {
  readonly content: RequestContent & { readonly query?: RequestEntry['request']['query'] };
  readonly name: string;
}

/** The query, headers and body of a request or a reply. */
function Content({ content: { query = [], headers, body, bodyBytes }, name }: ContentProps) {
  const lines = Object.entries(headers).map(([header, value]) => `${header}: ${value}`);
  const parameters = query.map(([parameter, value]) => `?${parameter}=${value}`);
  return (
    <>
      <Code label={`Headers of the ${name}`} text={[...parameters, ...lines].join('\n')} />
      <h3>{bodyBytes === null ? 'Body of unknown size' : `Body, ${bodyBytes} bytes`}</h3>
      {body === null ? (
        <p class="hint">{bodyBytes === 0 ? 'There is none.' : 'It is not text, or was too large.'}</p>
      ) : (
        <Code label={`Body of the ${name}`} text={indent(body)} />
      )}
    </>
  );
}

/** Indents JSON; other texts stay as they are. */
function indent(text: string): string {
  const value = parseJson(text);
  return value === undefined ? text : JSON.stringify(value, null, 2);
}

function parseJson(text: string | null): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}

/** Shows a text, and a button that copies it. */
function CopyText({ title, text }: { readonly title: string; readonly text: string }) {
  const [note, setNote] = useState('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setNote('Copied.');
    } catch {
      // Browsers allow this only to pages of this machine or by HTTPS.
      setNote('The browser does not allow it. Select the text and copy it.');
    }
  };
  return (
    <details>
      <summary>{title}</summary>
      <p class="buttons">
        <button type="button" onClick={copy}>
          Copy
        </button>
        <span role="status">{note}</span>
      </p>
      <Code label={title} text={text} />
    </details>
  );
}
