import { useState } from 'preact/hooks';
import { actionOf, isRefused, resultOf } from '../../../control/journal/from-entries/call-of.ts';
import type {
  HttpEntry,
  RequestContent,
  RequestEntry,
  RequestSummary,
} from '../../../control/journal/request-entry.ts';
import type { ControlClient } from '../../../control/table/client.ts';
import { LiveOnly, useInspector } from '../../inspector.ts';
import { linkTo, open, type Route, requestLink, useTitle } from '../../page-route.ts';
import {
  Button,
  Chip,
  Code,
  CopyButton,
  Facts,
  Failure,
  FaultLinks,
  Form,
  Loading,
  TextField,
  textIn,
} from '../../parts.tsx';
import { createNameFinder, useScope } from '../../scope.ts';
import { FullTime, indentJson, shortenIds, UserText } from '../../text.tsx';
import { useAction, useFormer, useLoaded } from '../../use-loaded.ts';
import { errorOf, type KnownKey, readParts, writeCurl, writeFetch, writePython, writeTest } from './request-as-code.ts';
import { ShapingBehaviours } from './shaping-behaviours.tsx';

/** Returns the tone in which the result of a request or a command is shown. */
export function toneOf(request: RequestSummary) {
  const isBad = request.protocol === 'http' && (request.status === 0 || request.status >= 500);
  if (isBad) return 'bad';
  return isRefused(request) ? 'warn' : 'good';
}

/** Returns the name of a request: its operation or, if it has none, its method or command, and the path. */
export function nameOfRequest(request: RequestSummary): string {
  const { operation, protocol, path } = request;
  return (
    operation ?? `${protocol === 'http' ? '' : `${protocol.toUpperCase()} `}${actionOf(request)} ${shortenIds(path)}`
  );
}

/** One request: the result and its reason, what shaped the reply, and what was sent. */
export function RequestDetail({ id, route }: { readonly id: string; readonly route: Route }) {
  const load = async (client: ControlClient) => {
    const [entry, { keys }] = await Promise.all([client.getRequest({ id }), client.listKeys()]);
    const key = keys.find((each) => each.id === entry.keyId && each.tier === entry.principal?.tier);
    const isFirst = key !== undefined && keys.find(({ tier }) => tier === key.tier) === key;
    return { entry, knownKey: key && { text: key.text, isFirst } };
  };
  // An entry never changes, but after a reset another entry gets its id.
  const { value, error, isLoading } = useFormer(useLoaded(load, id, ({ kind }) => kind === 'reset'));
  useTitle(value ? nameOfRequest(value.entry) : id);
  if (!value) return <Loading error={error} />;
  const { entry, knownKey } = value;
  const { path, code, request, reply } = entry;
  return (
    <article key={entry.id} aria-busy={isLoading}>
      <div class="head">
        <h1>{nameOfRequest(entry)}</h1>
        <Chip tone={toneOf(entry)} text={[resultOf(entry), code].filter(Boolean).join(' ')} />
      </div>
      <p class="soft">
        <code title={path}>
          {actionOf(entry)} {shortenIds(path)}
        </code>
      </p>
      <Reason entry={entry} />
      <LiveOnly>
        {entry.protocol === 'http' && <SendAgainForm entry={entry} knownKey={knownKey} route={route} />}
      </LiveOnly>
      <h2>Details</h2>
      <Details entry={entry} />
      <LiveOnly>
        <h2>What shaped the reply</h2>
        <ShapingBehaviours entry={entry} />
      </LiveOnly>
      <h2>Request</h2>
      <Content content={request} name="request" />
      <h2>Reply</h2>
      <Content content={reply} name="reply" />
    </article>
  );
}

const WRITERS = { curl: writeCurl, fetch: writeFetch, Python: writePython, Test: writeTest };

type SendAgainProps = { entry: HttpEntry; knownKey: KnownKey | undefined; route: Route };

/** Buttons that send the request again with its key, as it was or edited, or that copy it as code. */
function SendAgainForm({ entry, knownKey, route }: SendAgainProps) {
  const { client } = useInspector();
  const action = useAction();
  const { target, headers, key, body } = readParts(entry, knownKey);
  const [isEdited, setEdited] = useState(false);
  const send = async (data: FormData) => {
    const [path, text] = isEdited ? [textIn(data, 'path'), textIn(data, 'body')] : [target, body ?? ''];
    const keyHeader = key && { [key.header]: `${key.prefix}${key.text ?? ''}` };
    const init = { method: entry.method, headers: { ...Object.fromEntries(headers), ...keyHeader } };
    await fetch(new URL(path, location.origin), { ...init, ...(text !== '' && { body: text }) });
    const { requests } = (await client.listRequests({ after: entry.id })) as { requests: { id: string }[] };
    open(requestLink(route, requests.at(-1)?.id));
  };
  return (
    <Form label="Send again" submit={(data) => action.run(() => send(data))}>
      {isEdited && (
        <>
          <TextField label="Path" name="path" required pattern="/.*" defaultValue={target} />
          <TextField label="Body" isLong name="body" defaultValue={indentJson(body ?? '')} />
        </>
      )}
      <div class="buttons">
        <Button text="Send again" type="submit" class="primary" disabled={action.isRunning || (key && !key.text)} />
        {!isEdited && <Button text="Edit" onClick={() => setEdited(true)} />}
        {Object.entries(WRITERS).map(([name, write]) => (
          <CopyButton key={name} label={name} text={write(entry, location.origin, knownKey)} />
        ))}
      </div>
      {key && !key.text && <p class="hint">It cannot be sent again as it was: its key is not valid any more.</p>}
      <Failure error={action.error} />
    </Form>
  );
}

/** Shows why a request was refused, even if the reply must not say it, and the faults that shaped the reply. */
function Reason({ entry }: { readonly entry: RequestEntry }) {
  const { reason, reply, faults } = entry;
  const errorText = errorOf(reply);
  if (reason === null && faults.length === 0) return null;
  return (
    <div class={`reason ${toneOf(entry)}-edge`}>
      {reason !== null && (
        <p>
          Why: <UserText inside="strong" text={shortenIds(reason)} />
        </p>
      )}
      {faults.length > 0 && (
        <p>
          A fault that a test added shaped this reply: <FaultLinks ids={faults} text="show it" />
        </p>
      )}
      {errorText !== undefined && errorText !== reason && faults.length === 0 && (
        <p class="soft">The reply says only “{errorText}”, because a client must not learn more.</p>
      )}
    </div>
  );
}

/** Returns the operation and the key of an HTTP request, or the protocol of a request from a mail program. */
function describeCaller({ protocol, via, operation, key, keyId, principal }: RequestEntry) {
  if (protocol !== 'http') return [['Protocol', protocol.toUpperCase()]] as const;
  return [
    ['Operation', operation ?? 'none: no operation has this method and path'],
    ...(via ? [['Came by', 'a tool of MCP'] as const] : []),
    ['Key', key === null ? 'none was sent' : <a href={linkTo('keys', keyId ?? 'operator')}>{key}</a>],
    ['Tier of the key', principal?.tier ?? 'none: the key is missing or not valid'],
  ] as const;
}

function Details({ entry }: { readonly entry: RequestEntry }) {
  const { id, principal, at, realTime, durationMs } = entry;
  const { isTrace } = useInspector();
  const nameOf = createNameFinder(useScope());
  const nameOrId = (id: string | null | undefined) => nameOf(id) ?? id;
  return (
    <Facts
      facts={[
        ['Request', id],
        ...describeCaller(entry),
        ['Its tenant', nameOrId(principal?.tenantId)],
        ['Its workspace', nameOrId(principal?.workspaceId)],
        ['Its inbox', nameOrId(principal?.inboxId)],
        ['Duration', `${durationMs.toFixed(1)} ms`],
        ['Time', <FullTime key="time" at={at} realTime={realTime} />],
        ['Time of the tenant', !isTrace && at !== realTime && <FullTime key="tenant" at={at} />],
      ]}
    />
  );
}

type ShownContent = RequestContent & { readonly query?: RequestEntry['request']['query'] };

/** The query, headers and body of a request or a reply. */
function Content({ content: { query = [], headers, body, bodyBytes }, name }: { content: ShownContent; name: string }) {
  const headerLines = Object.entries(headers).map(([header, value]) => `${header}: ${value}`);
  const parameters = query.map(([parameter, value]) => `?${parameter}=${value}`);
  return (
    <>
      <Code label={`Headers of the ${name}`} text={[...parameters, ...headerLines].join('\n')} />
      <h3>{bodyBytes === null ? 'Body of unknown size' : `Body, ${bodyBytes} bytes`}</h3>
      {body === null ? (
        <p class="hint">{bodyBytes === 0 ? 'There is none.' : 'It is not text, or was too large.'}</p>
      ) : (
        <Code label={`Body of the ${name}`} text={indentJson(body)} />
      )}
    </>
  );
}
