import { ArrowDownLeft, History, Trash2, UserPlus } from 'lucide';
import { useMemo, useRef, useState } from 'preact/hooks';
import type { FeedEvent } from '../../../control/journal/feed-event.ts';
import { type ControlClient, type ReplyTo, undefinedIfRefused } from '../../../control/table/client.ts';
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
  SearchField,
  Select,
  TextField,
  textIn,
} from '../../parts.tsx';
import { isInScope, useScope } from '../../scope.ts';
import { formatSpan, UserText } from '../../text.tsx';
import { type Action, ALL, type Change, type Loaded, useAction, useLoaded, useLog } from '../../use-loaded.ts';
import { SamplesButton } from '../mail/samples-dialog.tsx';
import { useDeliveries } from '../webhooks/webhooks-view.tsx';
import { Board } from './board.tsx';
import { RunLine } from './run-line.tsx';
import { counterpartOf, createRows, createTimeline, LANES, type Mail, type RunData } from './timeline.ts';

/** How many items are shown at first. Each click on a button shows as many earlier items, too. */
const MAX_ITEMS = 300;

/** What an agent did, as one timeline: mail, deliveries, requests, time and faults, newest last. */
export function RunView({ route: { options } }: { readonly route: Route }) {
  const { tenant, sandbox } = useScope();
  const { data, error } = useRun(sandbox);
  const [limit, setLimit] = useState(MAX_ITEMS);
  const { counterpart, since } = options;
  const rows = useMemo(
    () => (data ? createRows(data, { tenant, counterpart, since }) : []),
    [data, tenant, counterpart, since],
  );
  if (!data) return <Loading error={error} />;
  const items = createTimeline(rows, options);
  const missed = data.events.findLast(({ kind }) => kind === 'gap');
  return (
    <div class="page run">
      <div class="head">
        <span class="buttons">
          <h1>Run</h1>
          <LiveOnly>
            <SamplesButton text="Samples" />
          </LiveOnly>
        </span>
        <RunFilters data={data} options={options} />
      </div>
      <Failure error={error} />
      {missed?.kind === 'gap' && (
        <p class="reason warn-edge" role="status">
          {missed.missed ?? 'Some'} earlier events are no longer kept, so this run is not complete.
        </p>
      )}
      <Board
        samples={data.samples.filter((sample) =>
          rows.some(({ item }) => item.kind === 'mail' && item.sample === sample),
        )}
        options={options}
      />
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
      ) : rows.length > 0 ? (
        <p class="hint">Nothing matches the search and the filters.</p>
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
function RunFilters({ data, options }: { data: Run; options: Route['options'] }) {
  const { counterpart = '', since = '', lane = '', search = '' } = options;
  const scope = useScope();
  const mail = data.mail.filter((one) => isInScope(scope, one));
  const checkpoints = data.events.flatMap((event) =>
    event.kind === 'checkpoint' && event.action === 'added' ? [[event.id, `Since ${event.name}`] as const] : [],
  );
  const isKnown = since === '' || checkpoints.some(([id]) => id === since);
  const chosenMoment = isKnown ? [] : [[since, 'Since a chosen moment'] as const];
  const moments = [['', 'Since the start'] as const, ...checkpoints, ...chosenMoment];
  const change = (changes: Record<string, string | undefined>) =>
    open(linkTo('run', undefined, { ...options, ...changes }), { replace: true });
  return (
    <>
      <SearchField label="Search the run" value={search} search={(search) => change({ search })} />
      <Select
        label="Kind"
        value={lane}
        options={[['', 'Everything'], ...Object.entries(LANES)]}
        choose={(lane) => change({ lane })}
      />
      <Select
        label="Counterpart"
        value={counterpart}
        options={[['', 'All contacts'], ...new Set(mail.map(counterpartOf))]}
        choose={(counterpart) => change({ counterpart })}
      />
      <Select label="Since" value={since} options={moments} choose={(since) => change({ since })} />
      <Button icon={History} text="From now" onClick={() => change({ since: data.events.at(-1)?.id })} />
    </>
  );
}

type Run = RunData;

/** How many events the page keeps. */
const MAX_EVENTS = 20_000;

/** Loads the data of the timeline. Afterwards loads only what an event changes. */
function useRun(sandbox: string | undefined): { data: Run | undefined; error: string | undefined } {
  const events = useLog<FeedEvent>({
    loadAll: (client) => readKeptEvents(client.readFeed({ lastEventId: '0', follow: false })),
    // No event is loaded alone, because the feed has all of it.
    loadOne: async () => undefined,
    changesOf: (event) => (event.kind === 'gap' ? [ALL] : [[event.id, event]]),
    limit: MAX_EVENTS,
  });
  const mail = useLog<Mail>({
    loadAll: async (client) => (await client.listMail()).messages,
    loadOne: (client, id) => client.getMail({ id }).catch(undefinedIfRefused),
    changesOf: changesOfMail,
  });
  const { list: deliveries, error } = useDeliveries();
  const load = async (client: ControlClient) => {
    const [{ correspondents }, { samples }] = await Promise.all([
      client.listCorrespondents(),
      client.listSamples({}, { sandbox }),
    ]);
    return { correspondents, samples };
  };
  const others = useLatest(useLoaded(load, `run ${sandbox}`, () => true));
  // A run may be long, so its rows are made again only if something has changed.
  const data = useMemo(
    () =>
      events.value && mail.value && deliveries && others.value
        ? { events: events.value.toReversed(), mail: mail.value.toReversed(), deliveries, ...others.value }
        : undefined,
    [events.value, mail.value, deliveries, others.value],
  );
  return { data, error: events.error ?? mail.error ?? error ?? others.error };
}

/** Keeps the value of the previous scope until that of the new scope is loaded. */
function useLatest<Value>({ value, error }: Loaded<Value>): Loaded<Value> {
  const latest = useRef(value);
  if (value !== undefined) latest.current = value;
  return { value: latest.current, error };
}

/** After these events, all mail is loaded again. */
const MAIL_RELOAD_KINDS: ReadonlySet<FeedEvent['kind']> = new Set(['reset', 'gap', 'messages', 'sandbox']);

/** Returns which mail an event changes. */
function changesOfMail(event: FeedEvent): readonly Change<Mail>[] {
  if (event.kind === 'mail') return [[event.messageId]];
  if (event.kind !== 'request') return MAIL_RELOAD_KINDS.has(event.kind) ? [ALL] : [];
  const { method, status, messages } = event.request;
  // The request may have removed any mail.
  if (status < 400 && /DELETE|EXPUNGE|MOVE|CLOSE/.test(method)) return [ALL];
  return messages.map((id) => [id] as const);
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
  return `${repliesLeft} left; next, ${formatSpan(afterMs)} after a mail: “${next.plainBody ?? ''}”`;
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
        <SamplesButton text="Deliver a sample" />
      </p>
      <p class="small">
        <a href="/__mock/openapi.json">OpenAPI document of the API</a> ·{' '}
        <a href="/__mock/control.json">OpenAPI document of the control calls</a> ·{' '}
        <a href="https://www.npmjs.com/package/agent-mailbox-mock">README</a>
      </p>
    </section>
  );
}
