import { ArrowDownLeft, FlaskConical, History, Trash2, UserPlus } from 'lucide';
import { useEffect, useState } from 'preact/hooks';
import type { FeedEvent } from '../../../control/journal/feed-event.ts';
import type { ControlClient, ReplyTo } from '../../../control/table/client.ts';
import { LiveOnly } from '../../inspector.ts';
import { linkTo, open, type Route } from '../../page-route.ts';
import {
  Button,
  ButtonLink,
  CopyButton,
  Facts,
  Failure,
  Form,
  formatCount,
  Icon,
  Loading,
  Select,
  TextField,
  textIn,
} from '../../parts.tsx';
import { isInScope, useScope } from '../../scope.ts';
import { formatSpan, UserText } from '../../text.tsx';
import { type Action, useAction, useLoaded } from '../../use-loaded.ts';
import { RunLine } from './run-line.tsx';
import { counterpartOf, createTimeline } from './timeline.ts';

/** How many items are shown at first. Each click on a button shows as many earlier items, too. */
const MAX_ITEMS = 300;

/** What an agent did, as one timeline: mail, deliveries, requests, time and faults, newest last. */
export function RunView({ route: { options } }: { readonly route: Route }) {
  const { tenant, sandbox } = useScope();
  const { data, error } = useRun(sandbox);
  const [limit, setLimit] = useState(MAX_ITEMS);
  if (!data) return <Loading error={error} />;
  const { counterpart, since } = options;
  const items = createTimeline(data, { tenant, counterpart, since });
  return (
    <div class="page run">
      <div class="head">
        <h1>Run</h1>
        <RunFilters data={data} options={options} />
      </div>
      <Failure error={error} />
      {items.length > limit && (
        <button type="button" onClick={() => setLimit(limit + MAX_ITEMS)}>
          Show {formatCount(items.length - limit, 'earlier item', 'earlier items')}
        </button>
      )}
      {items.length > 0 ? (
        <ol class="timeline" aria-label="What happened">
          {items.slice(-limit).map((item) => (
            <RunLine key={item.id} item={item} />
          ))}
        </ol>
      ) : since || counterpart ? (
        <p class="hint">Nothing has happened here yet. What happens appears at once.</p>
      ) : (
        <LiveOnly>
          <StartPage />
        </LiveOnly>
      )}
      <LiveOnly>
        <Correspondents correspondents={data.correspondents} />
      </LiveOnly>
    </div>
  );
}

/** The filters of the timeline: a counterpart, and the moment at which it starts. */
function RunFilters({ data, options: { counterpart = '', since = '' } }: { data: Run; options: Route['options'] }) {
  const scope = useScope();
  const mail = data.mail.filter((one) => isInScope(scope, one));
  const checkpoints = data.events.flatMap((event) =>
    event.kind === 'checkpoint' && event.action === 'added' ? [[event.id, `Since ${event.name}`] as const] : [],
  );
  const isKnown = since === '' || checkpoints.some(([id]) => id === since);
  const chosenMoment = isKnown ? [] : [[since, 'Since a chosen moment'] as const];
  const moments = [['', 'Since the start'] as const, ...checkpoints, ...chosenMoment];
  const change = (changes: Record<string, string | undefined>) =>
    open(linkTo('run', undefined, { counterpart, since, ...changes }), { replace: true });
  return (
    <>
      <Select
        label="Counterpart"
        value={counterpart}
        options={[['', 'Every counterpart'], ...new Set(mail.map(counterpartOf))]}
        choose={(counterpart) => change({ counterpart })}
      />
      <Select label="Since" value={since} options={moments} choose={(since) => change({ since })} />
      <Button icon={History} text="From now" onClick={() => change({ since: data.events.at(-1)?.id })} />
    </>
  );
}

type Run = NonNullable<ReturnType<typeof useRun>['data']>;

/** Loads the data of the timeline, and loads them again after each event. */
function useRun(sandbox: string | undefined) {
  const load = async (client: ControlClient) => {
    const [events, { messages: mail }, { deliveries }, { correspondents }, { samples }] = await Promise.all([
      readKeptEvents(client.readFeed({ lastEventId: '0', follow: false })),
      client.listMail(),
      client.listDeliveries(),
      client.listCorrespondents(),
      client.listSamples({}, { sandbox }),
    ]);
    return { events, mail, deliveries, correspondents, samples };
  };
  const { value, error } = useLoaded(load, `run ${sandbox}`, () => true);
  // The data of the previous scope stay until the data of the new scope are loaded.
  const [data, setData] = useState(value);
  useEffect(() => value && setData(value), [value]);
  return { data, error };
}

async function readKeptEvents(feed: Promise<AsyncIterable<FeedEvent>>): Promise<FeedEvent[]> {
  const events: FeedEvent[] = [];
  for await (const event of await feed) events.push(event);
  return events;
}

type Correspondent = ReplyTo<'listCorrespondents'>['correspondents'][number];

/** The correspondents, each with its next reply. A correspondent can be added and removed. */
function Correspondents({ correspondents }: { readonly correspondents: readonly Correspondent[] }) {
  const action = useAction();
  return (
    <details class="card">
      <summary>{formatCount(correspondents.length, 'correspondent', 'correspondents')}</summary>
      <ul class="rows">
        {correspondents.map((one) => (
          <li key={one.id}>
            <UserText inside="strong" text={one.address} /> <span class="soft">{one.kind}</span>{' '}
            <UserText text={describeReplies(one)} />
            <span class="buttons">
              <button
                type="button"
                class="quiet danger"
                onClick={() => action.run((client) => client.removeCorrespondent({ id: one.id }))}
              >
                <Icon icon={Trash2} /> Remove <span class="hidden">{one.address}</span>
              </button>
            </span>
          </li>
        ))}
      </ul>
      <CorrespondentForm action={action} />
      <Failure error={action.error} />
    </details>
  );
}

function CorrespondentForm({ action }: { readonly action: Action }) {
  const add = async (client: ControlClient, data: FormData, form: HTMLFormElement) => {
    await client.addCorrespondent({ address: textIn(data, 'address'), replies: [textIn(data, 'reply')] });
    form.reset();
  };
  return (
    <Form
      className="inline"
      submit={(data, { currentTarget }) => action.run((client) => add(client, data, currentTarget))}
    >
      <TextField label="Address" name="address" required />
      <TextField label="Answer to the next mail" name="reply" required />
      <Button icon={UserPlus} text="Add a correspondent" type="submit" />
    </Form>
  );
}

/** Returns how many replies are left, and what the next one says. */
function describeReplies({ replies, received, afterMs }: Correspondent): string {
  if (replies === null) return 'answered by a function';
  const repliesLeft = formatCount(Math.max(0, replies.length - received), 'reply', 'replies');
  const next = replies[received];
  if (!next) return `no reply left of ${replies.length}`;
  return `${repliesLeft} left; next, ${formatSpan(afterMs)} after a mail: “${next.text ?? ''}”`;
}

/** Shows what a person can do first: send a request with the key of an inbox, or deliver a mail or a sample. */
function StartPage() {
  const { tenant } = useScope();
  const { value } = useLoaded((client) => client.listKeys({ tenant }), `start-key ${tenant}`);
  const key = value?.keys.find(({ tier }) => tier === 'inbox')?.text;
  const compose = linkTo('mail', undefined, { compose: 'true' });
  const withCopyButton = (text: string | undefined) =>
    text && (
      <>
        <code>{text}</code> <CopyButton text={text} />
      </>
    );
  return (
    <section class="card start" aria-label="Start here">
      <h2>Nothing has happened yet</h2>
      <p>Let your agent call the API, or deliver a mail. Both appear here at once.</p>
      <Facts
        facts={[
          ['URL of the API', withCopyButton(location.origin)],
          ['A key of an inbox', withCopyButton(key)],
          ['A first request', withCopyButton(key && `curl ${location.origin}/v1/messages -H 'X-API-Key: ${key}'`)],
        ]}
      />
      <p class="buttons">
        <ButtonLink icon={ArrowDownLeft} text="Deliver a first mail" isPrimary href={compose} />
      </p>
      <SampleForm />
      <p class="small">
        <a href="/__mock/openapi.json">OpenAPI document of the API</a> ·{' '}
        <a href="/__mock/control.json">OpenAPI document of the control calls</a> ·{' '}
        <a href="https://www.npmjs.com/package/agent-mailbox-mock">README</a>
      </p>
    </section>
  );
}

/** A form that delivers a sample: a mail that agents often handle wrongly. */
function SampleForm() {
  const { tenants, tenant, sandbox } = useScope();
  const action = useAction();
  const [inbox] = tenants
    .filter(({ id }) => tenant === undefined || id === tenant)
    .flatMap(({ workspaces }) => workspaces.flatMap(({ inboxes }) => inboxes));
  if (!inbox) return null;
  const deliver = (data: FormData) =>
    action.run((client) => client.receiveMessage({ sample: textIn(data, 'sample'), to: inbox.address }, { sandbox }));
  return (
    <Form className="inline" submit={deliver}>
      <TextField label={`Sample, to ${inbox.address}`} name="sample" required defaultValue="out-of-office" />
      <Button icon={FlaskConical} text="Deliver a sample" type="submit" disabled={action.isRunning} />
      <Failure error={action.error} />
    </Form>
  );
}
