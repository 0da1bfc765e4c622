import { ArrowDownLeft, ArrowUpRight, Clock, type IconNode, RotateCcw, Webhook, X, Zap } from 'lucide';
import { type ComponentChildren, Fragment } from 'preact';
import { plural } from '../../../basics/text.ts';
import type { FeedData } from '../../../control/journal/feed-event.ts';
import { actionOf, resultOf } from '../../../control/journal/from-entries/call-of.ts';
import type { RequestSummary } from '../../../control/journal/request-entry.ts';
import { useInspector } from '../../inspector.ts';
import { linkTo } from '../../page-route.ts';
import { Chip, FaultLinks, Icon, type Tone } from '../../parts.tsx';
import { SampleCard } from '../../samples.tsx';
import { placeOfInbox, useScope } from '../../scope.ts';
import { formatSpan, People, Person, shortenIds, TimeOfDay, UserText } from '../../text.tsx';
import { nameOfRequest, toneOf } from '../requests/request-detail.tsx';
import { type DescribedFault, describeFault } from '../settings/describe-fault.ts';
import type { MailEvent, ShownEvent, ShownKind } from './run-log.ts';
import { momentOf, type RunItem } from './timeline.ts';

type RunLineProps = { readonly item: RunItem; readonly former: RunItem | undefined };

/**
 * One item of the run, with its time of day in a column before it. A mail is a bubble on the side of its sender; anything
 * else is a line between bubbles. `former` is the item above.
 */
export function RunLine({ item, former }: RunLineProps) {
  const { trial } = useInspector();
  const classes = item.kind === 'mail' ? ['bubble'] : ['event'];
  if (item.kind === 'mail' && item.mail.kind === 'mail-sent') classes.push('outbound');
  if (item.kind === 'mail' && trial?.mails.has(item.mail.data.mail.id)) classes.push('place');
  return (
    <li class={classes.join(' ')} tabIndex={-1}>
      <span class="at small">
        <TimeOfDay {...momentOf(item)} after={former && momentOf(former).realTime} />
      </span>
      {item.kind === 'mail' ? (
        <Mail {...item} />
      ) : item.kind === 'requests' ? (
        <Requests {...item} />
      ) : (
        <Events events={item.events} isAlone={item.events.length === 1} />
      )}
    </li>
  );
}

function Mail({ mail, sample, deliveries }: Extract<RunItem, { kind: 'mail' }>) {
  const scope = useScope();
  const { trial } = useInspector();
  const { kind, data } = mail;
  const { id, from, to, subject, plainBody } = data.mail;
  const isOut = kind === 'mail-sent';
  const place = (
    <span title={data.inbox}>
      <bdi>{placeOfInbox(scope, mail.data.inbox, mail.tenantId)}</bdi>
    </span>
  );
  return (
    <>
      {trial?.mails.has(id) && <PlaceNote text={`Why this trial did not pass. ${trial.reason}`} />}
      <p class="small soft">
        <Icon icon={isOut ? ArrowUpRight : ArrowDownLeft} />{' '}
        {!isOut && data.source === 'correspondent' && 'Answer of a correspondent, '}
        <span class="hidden">{isOut ? 'Mail out from' : 'Mail in from'} </span>
        {isOut ? place : <Person person={from} />} → {isOut ? <People people={to} /> : place}
      </p>
      <a class="subject" href={linkTo('mail', id)}>
        <UserText text={subject || '(no subject)'} />
      </a>
      <UserText inside="p" class="excerpt" text={plainBody.replace(/\n\s+/g, '\n')} />
      {sample && <SampleCard sample={sample} />}
      {deliveries.length > 0 && <Deliveries events={deliveries} />}
    </>
  );
}

/** Says why a place of a run is marked. */
export function PlaceNote({ text }: { readonly text: string }) {
  return (
    <p class="place-note small">
      <Icon icon={X} /> <UserText text={text} />
    </p>
  );
}

type RequestsItem = Extract<RunItem, { kind: 'requests' }>;

/** Requests that followed each other, in a part that can be opened. It is open at first if one of a few failed. */
function Requests({ requests, readMails }: RequestsItem) {
  const failed = requests.filter((request) => toneOf(request) !== 'good').length;
  const names = [...new Set(requests.map(nameOfRequest))];
  const groups = groupEqual(requests, (request) =>
    [nameOfRequest(request), resultOf(request), request.code, request.reason].join(),
  );
  const isAlone = requests.length === 1;
  const lines = (
    <Latest groups={groups} show={(group) => <EqualRequests group={group} readMails={readMails} isAlone={isAlone} />} />
  );
  if (groups.length === 1) return lines;
  return (
    <details open={failed > 0 && groups.length < 10}>
      <summary>
        <Chip tone={failed > 0 ? 'warn' : 'good'} text={failed > 0 ? `${failed} refused` : 'done'} />{' '}
        {plural(requests.length, 'request', 'requests')}{' '}
        <span class="soft">{names.slice(0, 4).join(', ') + (names.length > 4 ? ', …' : '')}</span>
      </summary>
      {lines}
    </details>
  );
}

type Equal<Item> = readonly [Item, ...Item[]];

/** How many lines an item shows at most. */
const MAX_LINES = 100;

interface LatestProps<Item> {
  readonly groups: readonly Equal<Item>[];
  readonly show: (group: Equal<Item>) => ComponentChildren;
}

/** The latest lines of an item, and how many earlier ones there are. */
function Latest<Item extends { readonly id: string }>({ groups, show }: LatestProps<Item>) {
  const hidden = groups.length - MAX_LINES;
  return (
    <>
      {hidden > 0 && <p class="soft">{plural(hidden, 'earlier line', 'earlier lines')}: choose a part of the time.</p>}
      {groups.slice(-MAX_LINES).map((group) => (
        <Fragment key={group[0].id}>{show(group)}</Fragment>
      ))}
    </>
  );
}

/** Groups items that have the same key, in the order of the first of each group. */
function groupEqual<Item>(items: readonly Item[], keyOf: (item: Item) => string): Equal<Item>[] {
  const groups = new Map<string, [Item, ...Item[]]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return [...groups.values()];
}

/** Says how often something happened, and within which time, such as `×240 in 4 min`; nothing if it happened once. */
function Repeats({ items }: { readonly items: readonly { readonly realTime: string }[] }) {
  if (items.length === 1) return null;
  const spanMs = Date.parse(items.at(-1)?.realTime ?? '') - Date.parse(items[0]?.realTime ?? '');
  return (
    <strong>
      ×{items.length} in {formatSpan(spanMs)}
    </strong>
  );
}

/** If an IMAP command read more mails than this, only the first ones are named. */
const MAX_NAMED_MAILS = 5;

type EqualRequestsProps = {
  readonly group: Equal<RequestSummary>;
  readonly readMails: readonly MailEvent[];
  /** Whether it is all of its item, whose time stands before it. */
  readonly isAlone: boolean;
};

/** Requests with the same operation and result: the latest of them, and how many there were. */
function EqualRequests({ group, readMails, isAlone }: EqualRequestsProps) {
  const request = group.at(-1) ?? group[0];
  const { id, path, reason, at, realTime, faults } = request;
  const unnamed = request.read.length - Math.min(readMails.length, MAX_NAMED_MAILS);
  return (
    <p>
      <Chip tone={toneOf(request)} text={resultOf(request)} />{' '}
      <a class="quiet-link" href={linkTo('requests', id)} title={`${actionOf(request)} ${path}`}>
        {nameOfRequest(request)}
      </a>{' '}
      <Repeats items={group} /> {reason !== null && <UserText text={shortenIds(reason)} />}
      {readMails.slice(0, MAX_NAMED_MAILS).map((mail) => (
        <Fragment key={mail.data.mail.id}>
          <a class="quiet-link" href={linkTo('mail', mail.data.mail.id)}>
            <UserText text={mail.data.mail.subject || '(no subject)'} />
          </a>
          ,{' '}
        </Fragment>
      ))}
      {unnamed > 0 && plural(unnamed, 'mail', 'mails')} <Faults ids={faults} />{' '}
      {!isAlone && <TimeOfDay at={at} realTime={realTime} />}
    </p>
  );
}

/** What became of the deliveries of a mail: a line that can be opened. Equal results are one line. */
function Deliveries({ events }: { readonly events: readonly ShownEvent[] }) {
  const lastEvents = new Map(events.map((event) => ['deliveryId' in event.data ? event.data.deliveryId : '', event]));
  const states = [...lastEvents.values()].map(stateAfter);
  const attempts = events.filter(({ kind }) => kind === 'attempt').length;
  const counts = [...new Set(states)].map((state) => `${states.filter((each) => each === state).length} ${state}`);
  const isGood = states.every((state) => state === 'delivered');
  return (
    <details class="deliveries">
      <summary>
        <Chip tone={isGood ? 'good' : 'bad'} icon={Webhook} text={plural(states.length, 'webhook', 'webhooks')} />{' '}
        {counts.join(', ')}, {plural(attempts, 'attempt', 'attempts')}
      </summary>
      <Events events={events} />
    </details>
  );
}

/** Returns the state of a delivery after an event, as far as the event shows it. */
function stateAfter(event: ShownEvent): string {
  if (event.kind === 'delivery-ended' || event.kind === 'delivery-created') return event.data.state;
  if (event.kind !== 'attempt' || event.data.error === null) return 'delivered';
  return event.data.state === 'pending' ? 'failing' : event.data.state;
}

interface EventsProps {
  readonly events: readonly ShownEvent[];
  /** Whether there is only one, whose time stands before it. */
  readonly isAlone?: boolean;
}

/** Events that followed each other. Equal ones are one line, such as the attempts of a webhook that fail alike. */
function Events({ events, isAlone = false }: EventsProps) {
  const groups = groupEqual(events, (event) => {
    if (event.kind === 'attempt') {
      const { webhookId, event: kind, status, error } = event.data;
      return [webhookId, kind, status, error].join();
    }
    const { label, text, reason } = lineOf(event);
    return [label, text, reason].join();
  });
  return <Latest groups={groups} show={(group) => <EqualEvents group={group} isAlone={isAlone} />} />;
}

function EqualEvents({ group, isAlone }: { readonly group: Equal<ShownEvent>; readonly isAlone: boolean }) {
  const event = group.at(-1) ?? group[0];
  const { tone = 'plain', icon, label, text, link, reason } = { ...lineOf(event), ...lineOfAttempts(group) };
  const fault = event.kind === 'attempt' ? event.data.faultId : null;
  const { isTrace } = useInspector();
  const isLinked = link !== undefined && !(isTrace && LIVE_VIEWS.test(link));
  return (
    <>
      <p>
        <Chip tone={tone} icon={icon} text={label} />{' '}
        {isLinked ? (
          <a class="quiet-link" href={link}>
            {text}
          </a>
        ) : (
          text
        )}{' '}
        <Repeats items={group} /> <Faults ids={fault ? [fault] : []} />{' '}
        {!isAlone && <TimeOfDay at={event.at} realTime={event.realTime} />}
      </p>
      {reason && <UserText inside="p" class="soft" text={reason} />}
    </>
  );
}

/** Matches a link to a view that a trace does not have. */
const LIVE_VIEWS = /^#\/(?:keys|time|choices|state)\b/;

/** The faults that struck a request or a delivery: links to them, or in a trace only that there was a fault. */
function Faults({ ids }: { readonly ids: readonly string[] }) {
  const { isTrace } = useInspector();
  if (!isTrace) return <FaultLinks ids={ids} />;
  return ids.length > 0 ? <Chip tone="warn" icon={Zap} text={plural(ids.length, 'fault', 'faults')} /> : null;
}

/** What the line of an event shows, and where it links to. */
interface Line {
  readonly tone?: Tone;
  /** Default: the icon of the tone. */
  readonly icon?: IconNode;
  readonly label: string;
  readonly text: string;
  readonly link?: string;
  readonly reason?: string | null;
}

type Lines = { readonly [Kind in ShownKind]: (data: FeedData[Kind]) => Line };

const DELETED_WEBHOOK = 'a webhook that was deleted';
const CLOCK_ACTIONS = { freeze: 'frozen at', resume: 'running again at', advance: 'advanced to' } as const;
const FAULT_ACTIONS = { added: 'added', removed: 'removed', cleared: 'all removed', used: 'applied' } as const;

/** Describes a delivery that is held or that has ended without another attempt. */
function describeDelivery({ state, event, reason, deliveryId }: FeedData['delivery-created']): Line {
  return { tone: 'warn', label: state, text: event, reason, link: linkTo('webhooks', deliveryId) };
}

/** Describes a stream of events that a client opened or that ended. The list of requests has those with its key. */
function describeStream({ key }: FeedData['stream-opened'], what: string): Line {
  const link = linkTo('requests', undefined, { search: key.slice(0, 9) });
  return { label: 'stream', text: `${what} with ${key}`, link };
}

/** Returns a function that describes what a test has changed, with a link to the view that shows it. */
function describeChanges(label: string, view: string) {
  return ({ action, name }: Pick<FeedData['key'], 'action' | 'name'>): Line => {
    return { label, text: [action, name].filter(Boolean).join(' '), link: linkTo(view) };
  };
}

/** Writes the line of each kind of event. */
const LINES: Lines = {
  attempt({ event, attempt, url, deliveryId, error, status, retryInMs }) {
    const next = retryInMs === null ? '' : ` The next attempt is in ${formatSpan(retryInMs)}.`;
    const [tone, result] = error === null ? (['good', 'delivered'] as const) : (['bad', 'failed'] as const);
    return {
      tone,
      icon: Webhook,
      label: `${result} ${status ?? ''}`.trim(),
      link: linkTo('webhooks', deliveryId),
      text: `${event}, attempt ${attempt}, to ${url ?? DELETED_WEBHOOK}`,
      reason: error && `${error}${next}`,
    };
  },
  'delivery-created': describeDelivery,
  'delivery-released': describeDelivery,
  'delivery-ended': describeDelivery,
  clock: ({ action, now }) => {
    const text = `${CLOCK_ACTIONS[action]} ${now.slice(0, 19).replace('T', ' ')}`;
    return { icon: Clock, label: 'time', text, link: linkTo('time') };
  },
  fault: ({ action, fault }) => {
    const what = fault && (action === 'added' ? describeFault(fault as DescribedFault) : fault.on);
    const text = `${FAULT_ACTIONS[action]}${what ? `: ${what}` : ''}`;
    return { tone: 'warn', icon: Zap, label: 'fault', text, link: linkTo('time', fault?.id) };
  },
  'mail-held': ({ from, to, reason }) => ({ tone: 'warn', label: 'mail held', text: `${from} to ${to}`, reason }),
  'stream-opened': (stream) => describeStream(stream, 'opened'),
  'stream-closed': (stream) => describeStream(stream, 'closed'),
  'agent-done': () => ({ tone: 'good', label: 'agent', text: 'said that it is done' }),
  failure: ({ failed, error }) => {
    const label = failed === 'emulator' ? 'failure of the emulator' : 'failure of a correspondent';
    return { tone: 'bad', label, text: error };
  },
  sandbox(change) {
    const link = linkTo('run', undefined, { tenant: change.tenantId ?? undefined });
    return { ...describeChanges('sandbox', 'run')(change), link };
  },
  checkpoint: describeChanges('checkpoint', 'state'),
  key: describeChanges('key', 'keys'),
  journal: describeChanges('list of requests', 'requests'),
  messages: describeChanges('mail', 'mail'),
  behaviours: describeChanges('behaviours', 'choices'),
  reset: () => ({
    icon: RotateCcw,
    label: 'reset',
    text: 'All data was replaced by a reset or a checkpoint',
    link: linkTo('state'),
  }),
};

/** Returns what the line of equal attempts shows in place of the line of the latest; nothing for other events. */
function lineOfAttempts(group: Equal<ShownEvent>): Partial<Line> {
  const [first, second] = group;
  if (first.kind !== 'attempt' || !second) return {};
  const { deliveryId, event, url, webhookId } = first.data;
  const isOneDelivery = group.every(({ data }) => 'deliveryId' in data && data.deliveryId === deliveryId);
  return {
    text: `${event} to ${url ?? DELETED_WEBHOOK}`,
    link: isOneDelivery ? linkTo('webhooks', deliveryId) : linkTo('webhooks', undefined, { webhook: webhookId }),
  };
}

function lineOf({ kind, data }: ShownEvent): Line {
  const write = LINES[kind] as (data: FeedData[ShownKind]) => Line;
  return write(data);
}
