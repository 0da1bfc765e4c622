import { ArrowDownLeft, History, UserPlus, X } from 'lucide';
import { useMemo, useRef } from 'preact/hooks';
import { plural } from '../../../basics/text.ts';
import type { ControlClient, ReplyTo } from '../../../control/table/client.ts';
import { LiveOnly, useInspector } from '../../inspector.ts';
import { linkTo, open, type Route } from '../../page-route.ts';
import {
  Button,
  ButtonLink,
  CopyButton,
  Facts,
  Failure,
  Filters,
  Form,
  Frame,
  Icon,
  Loading,
  SearchField,
  Select,
  TextField,
  textIn,
} from '../../parts.tsx';
import { type Sample, useSamples } from '../../samples.tsx';
import { createOwnerFinder, isInScope, useScope } from '../../scope.ts';
import { formatFullTime, formatSpan, Time, UserText, useNow } from '../../text.tsx';
import { RemovalButton } from '../../undo.tsx';
import { type Action, type EventFilter, type Loaded, useAction, useFormer, useLoaded } from '../../use-loaded.ts';
import { AddInbox } from '../mail/mailbox-tree.tsx';
import { SamplesButton } from '../mail/samples-dialog.tsx';
import { Board } from './board.tsx';
import { PlaceNote } from './run-line.tsx';
import { LANES, type RunLog } from './run-log.ts';
import { Share } from './share.tsx';
import { Strip } from './strip.tsx';
import {
  counterpartsOf,
  createTimeline,
  filterRows,
  isBadRow,
  sampleByLastMail,
  samplesIn,
  selectRows,
} from './timeline.ts';
import { Timeline } from './timeline-list.tsx';
import { useRunLog } from './use-run-log.ts';

/** What an agent did, as one timeline: mail, deliveries, requests, time and faults, newest last. */
export function RunView({ route: { options } }: { readonly route: Route }) {
  const { tenant, sandbox } = useScope();
  const { value, error } = useRunLog();
  const {
    value: allSamples = NO_SAMPLES,
    error: samplesError,
    isLoading: lacksSamples,
  } = useFormer(useSamples(sandbox));
  const { value: losses, isLoading: lacksLosses } = useFormer(useLosses(sandbox));
  const samples = useMemo(() => sampleByLastMail(allSamples), [allSamples]);
  const log = value?.log ?? NO_LOG;
  // What stands above the list is loaded before the list is shown, because it would push the list down.
  const isReady = useFlag(value !== undefined && !lacksSamples && !lacksLosses);
  const filter = JSON.stringify(options);
  // A run may be long, so its rows are chosen again only if something has changed.
  const { counterparts, rows, items, failureCount, shownSamples } = useMemo(() => {
    const ofTenant = selectRows(log.rows, { tenant, sandbox });
    const rows = selectRows(ofTenant, { counterpart: options.counterpart, since: options.since });
    const chosen = filterRows(rows, options, samples);
    // The counts are those of the chosen time, whatever else is chosen.
    const inTime = filterRows(rows, { from: options.from, to: options.to }, samples);
    return {
      counterparts: counterpartsOf(ofTenant),
      rows,
      items: createTimeline(chosen, options, samples),
      failureCount: inTime.filter((row) => isBadRow(row, samples)).length,
      shownSamples: samplesIn(inTime, samples),
    };
  }, [value, tenant, sandbox, filter, samples]);
  const change = (changes: Record<string, string | undefined>) =>
    open(linkTo('run', undefined, { ...options, ...changes }), { replace: true });
  return (
    <div class="run">
      <Frame title="Run">
        <RunFilters log={log} counterparts={counterparts} options={options} change={change} />
        <LiveOnly>
          <SamplesButton text="Samples" />
          <Share />
        </LiveOnly>
      </Frame>
      {isReady && (
        <div class="summary">
          <Failure error={error ?? samplesError} />
          <Losses losses={losses} droppedCount={log.droppedCount} />
          {rows.length > 0 && (
            <Strip
              rows={rows}
              samples={samples}
              from={options.from}
              to={options.to}
              choose={(range) => change(range ?? { from: undefined, to: undefined })}
            />
          )}
          <div class="verdicts">
            <Board samples={shownSamples} options={options} />
            <Failures count={failureCount} options={options} />
          </div>
        </div>
      )}
      {isReady ? (
        <Timeline key={`${tenant} ${filter}`} items={items}>
          {items.length > 0 ? null : rows.length > 0 ? (
            <p class="hint">Nothing matches the search and the filters. Remove one of them.</p>
          ) : options.since || options.counterpart ? (
            <p class="hint">Nothing has happened here yet. Remove the filter to see what was before.</p>
          ) : (
            <LiveOnly>
              <StartPage />
            </LiveOnly>
          )}
          <TrialEnd />
          <LiveOnly>
            <Correspondents />
            <ConnectedClients />
          </LiveOnly>
        </Timeline>
      ) : (
        <div class="page">
          <Loading error={error} lines={8} />
        </div>
      )}
    </div>
  );
}

/** At the end of the run of a trial, says why the trial did not pass. */
function TrialEnd() {
  const { trial } = useInspector();
  if (!trial?.reason) return null;
  return (
    <div class="place-end">
      <PlaceNote text={`The trial ended here. ${trial.reason}`} />
    </div>
  );
}

/** Returns whether something was ever true. */
function useFlag(isTrue: boolean): boolean {
  const flag = useRef(isTrue);
  flag.current ||= isTrue;
  return flag.current;
}

/** Stands for the log that is not loaded yet. Nothing is added to it. */
const NO_LOG: Pick<RunLog, 'rows' | 'checkpoints' | 'droppedCount'> = { rows: [], checkpoints: [], droppedCount: 0 };

const NO_SAMPLES: readonly Sample[] = [];

interface FiltersProps {
  readonly log: Pick<RunLog, 'rows' | 'checkpoints'>;
  /** The bare addresses among which a person can choose. */
  readonly counterparts: ReadonlySet<string>;
  readonly options: Route['options'];
  readonly change: (changes: Record<string, string | undefined>) => void;
}

/** The filters of the timeline: a search, a kind, a counterpart, and the moment at which it starts. */
function RunFilters({ log, counterparts, options, change }: FiltersProps) {
  const { sandbox } = useScope();
  const { counterpart = '', since = '', lane = '', search = '' } = options;
  const checkpoints = log.checkpoints
    .filter(({ data }) => sandbox === undefined || data.tenantId === sandbox)
    .map(({ id, data }) => [id, `Since ${data.name}`] as const);
  const isKnown = since === '' || checkpoints.some(([id]) => id === since);
  const chosenMoment = isKnown ? [] : [[since, 'Since a chosen moment'] as const];
  const moments = [['', 'Since the start'] as const, ...checkpoints, ...chosenMoment];
  return (
    <>
      <SearchField label="Search the run" value={search} search={(search) => change({ search })} />
      <Filters count={[lane, counterpart, since].filter(Boolean).length}>
        <Select
          label="Kind"
          value={lane}
          options={[['', 'Everything'], ...Object.entries(LANES)]}
          choose={(lane) => change({ lane })}
        />
        <Select
          label="Contact"
          value={counterpart}
          options={[['', 'All contacts'], ...counterparts]}
          choose={(counterpart) => change({ counterpart })}
        />
        <Select label="Since" value={since} options={moments} choose={(since) => change({ since })} />
        <Button
          icon={History}
          text="From now"
          title="Hide what has happened so far"
          onClick={() => change({ since: log.rows.at(-1)?.id })}
        />
      </Filters>
    </>
  );
}

type FailuresProps = { readonly count: number; readonly options: Route['options'] };

/** A link that shows only what failed, equal failures as one line, or everything again. */
function Failures({ count, options }: FailuresProps) {
  const isChosen = options.failed !== undefined;
  if (count === 0 && !isChosen) return null;
  return (
    <a
      class="failures"
      href={linkTo('run', undefined, { ...options, failed: isChosen ? undefined : 'true' })}
      aria-current={isChosen ? 'true' : undefined}
      title={isChosen ? 'Show everything again' : 'Show only what failed'}
    >
      <Icon icon={X} /> {count.toLocaleString('en')} {count === 1 ? 'failure' : 'failures'}
    </a>
  );
}

/** The kinds of entries that the run shows and that a journal may drop, with their names. */
const LOST_NAMES = {
  request: ['request', 'requests'],
  'mail-command': ['mail command', 'mail commands'],
  attempt: ['attempt of a delivery', 'attempts of deliveries'],
  'mail-received': ['received mail', 'received mails'],
  'mail-sent': ['sent mail', 'sent mails'],
} as const;

type Lost = ReplyTo<'readJournal'>['dropped'];

/** Loads what the journal of a sandbox, or of all tenants, no longer has since the latest reset. */
function useLosses(sandbox: string | undefined): Loaded<Lost> {
  const load = async (client: ControlClient) => (await client.readJournal({ kinds: 'clock' }, { sandbox })).dropped;
  return useLoaded(load, `losses of ${sandbox}`, () => true);
}

type LossesProps = { readonly losses: Lost | undefined; readonly droppedCount: number };

/** Says what the journal no longer has since the latest reset, and how many rows the page has dropped. */
function Losses({ losses = {}, droppedCount }: LossesProps) {
  const lost = Object.entries(LOST_NAMES).flatMap(([kind, [one, many]]) => {
    const loss = losses[kind as keyof typeof LOST_NAMES];
    return loss ? [{ ...loss, text: `${loss.count.toLocaleString('en')} ${loss.count === 1 ? one : many}` }] : [];
  });
  const count = lost.reduce((sum, loss) => sum + loss.count, 0);
  const until = lost.map((loss) => loss.until).sort();
  const isOne = count === 1;
  return (
    <>
      {count > 0 && (
        <p class="reason warn-edge" role="status">
          {count.toLocaleString('en')} earlier {isOne ? 'event is' : 'events are'} no longer kept (
          {lost.map(({ text }) => text).join(', ')}; the last {isOne ? '' : 'of them '}at{' '}
          {formatFullTime(until.at(-1) ?? '').slice(11)}), so this run is not complete.
        </p>
      )}
      {droppedCount > 0 && (
        <p class="reason warn-edge" role="status">
          This page shows no more than the latest events; it has dropped {droppedCount.toLocaleString('en')}. Load it
          again to see what the emulator has kept.
        </p>
      )}
    </>
  );
}

/** How each kind of client is named. */
const PROTOCOLS = { websocket: 'Event stream', imap: 'IMAP', smtp: 'SMTP' } as const;

/** How often the connected clients are loaded again, in milliseconds: no event says that one has ended. */
const CLIENTS_MS = 5_000;

/** Returns whether a client may have connected or logged in, or may have ended its connection. */
const changesClients: EventFilter = ({ kind }) => /^(?:stream|mail)-|^reset$/.test(kind);

/** The clients that are connected now, by whom. */
function ConnectedClients() {
  const scope = useScope();
  const { sandbox } = scope;
  const turn = Math.floor(useNow().realMs / CLIENTS_MS);
  const load = async (client: ControlClient) => (await client.listConnections({}, { sandbox })).connections;
  const { value, error } = useFormer(useLoaded(load, `clients of ${sandbox} ${turn}`, changesClients));
  const clients = value?.filter((one) => isInScope(scope, one)) ?? [];
  const findOwner = createOwnerFinder(scope);
  return (
    <details class="card">
      <summary>{value ? `${plural(clients.length, 'client', 'clients')} connected` : 'Connected clients'}</summary>
      {value?.length === 0 && (
        <p class="hint">
          Nobody. Open the WebSocket of the API with a key, or log in to an inbox by IMAP or SMTP with its password.
        </p>
      )}
      <ul class="rows">
        {clients.map(({ protocol, since, ...owned }, index) => (
          <li key={`${since} ${index}`}>
            <strong>{PROTOCOLS[protocol]}</strong>
            <UserText
              text={owned.tenantId === null ? 'without a login' : (findOwner(owned) ?? 'of an inbox that is gone')}
            />
            <span class="soft">
              since <Time at={since} realTime={since} />
            </span>
          </li>
        ))}
      </ul>
      <Failure error={error} />
    </details>
  );
}

type Correspondent = ReplyTo<'listCorrespondents'>['correspondents'][number];

/** The correspondents, each with its next reply. A correspondent can be added and removed. */
function Correspondents() {
  const { client } = useInspector();
  const action = useAction();
  const { sandbox } = useScope();
  const load = async (client: ControlClient) => (await client.listCorrespondents({}, { sandbox })).correspondents;
  const remove = async ({ id }: Correspondent) => {
    await client.removeCorrespondent({ id }, { sandbox });
    return undefined;
  };
  const { value, error } = useLoaded(load, `correspondents of ${sandbox}`, () => true);
  const correspondents = value ?? [];
  return (
    <details class="card">
      <summary>{value ? plural(value.length, 'correspondent', 'correspondents') : 'Correspondents'}</summary>
      <ul class="rows">
        {correspondents.map((one) => (
          <li key={one.id}>
            <UserText inside="strong" text={one.address} /> <span class="soft">{one.kind}</span>{' '}
            <UserText text={describeReplies(one)} />
            <span class="buttons">
              <RemovalButton
                label="Remove"
                name={`Remove ${one.address}`}
                question={{
                  title: `Remove ${one.address}?`,
                  text: 'The replies that it has left, and the answers that it has not sent yet, are lost for good.',
                }}
                change={() => remove(one)}
              />
            </span>
          </li>
        ))}
      </ul>
      <CorrespondentForm action={action} />
      <Failure error={action.error ?? error} />
    </details>
  );
}

function CorrespondentForm({ action }: { readonly action: Action }) {
  const { sandbox } = useScope();
  const add = async (client: ControlClient, data: FormData, form: HTMLFormElement) => {
    const person = { address: textIn(data, 'address'), replies: [textIn(data, 'reply')] };
    await client.addCorrespondent(person, { sandbox });
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
  const repliesLeft = plural(Math.max(0, replies.length - received), 'reply', 'replies');
  const next = replies[received];
  if (!next) return `no reply left of ${replies.length}`;
  return `${repliesLeft} left; next, ${formatSpan(afterMs)} after a mail: “${next.plainBody ?? ''}”`;
}

/** What the button that creates a first tenant does, for a terminal. */
const CREATE_CALL =
  `curl -X POST ${location.origin}/__mock/inboxes -H 'Content-Type: application/json' ` +
  `-d '{"newTenant":"Acme","username":"helpdesk"}'`;

/** Shows what a person can do first: send a request with the key of an inbox, or deliver a mail or a sample. */
function StartPage() {
  const { tenant, tenants } = useScope();
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
      {tenants.length === 0 ? (
        <>
          <p>There is no tenant yet, so nobody can get mail or call the API but the operator.</p>
          <AddInbox />
        </>
      ) : (
        <p>Let your agent call the API, or deliver a mail. Both appear here at once.</p>
      )}
      <Facts
        facts={[
          ['URL of the API', withCopyButton(location.origin)],
          ['A key of an inbox', withCopyButton(key)],
          ['The same by a call', tenants.length === 0 && withCopyButton(CREATE_CALL)],
          ['A first request', withCopyButton(key && `curl ${location.origin}/v1/messages -H 'X-API-Key: ${key}'`)],
        ]}
      />
      {tenants.length > 0 && (
        <p class="buttons">
          <ButtonLink icon={ArrowDownLeft} text="Deliver a first mail" isPrimary href={compose} />
          <SamplesButton text="Deliver a sample" />
        </p>
      )}
      <p class="small">
        <a href="/__mock/openapi.json">OpenAPI document of the API</a> ·{' '}
        <a href="/__mock/control.json">OpenAPI document of the control calls</a> ·{' '}
        <a href="/__mock/inspector/README.md">README</a>
      </p>
    </section>
  );
}
