import { ArrowDownLeft, ArrowUpRight, Clock, FlaskConical, type IconNode, RotateCcw, Webhook, Zap } from 'lucide';
import type { ComponentChildren } from 'preact';
import { linkTo } from '../../page-route.ts';
import { Chip, FaultLinks, formatCount, Icon, type Tone } from '../../parts.tsx';
import { formatSpan, shortenIds, Time, UserText } from '../../text.tsx';
import { nameOfRequest, toneOf } from '../requests/request-detail.tsx';
import { RESULTS } from './board.tsx';
import type { EventItem, RunItem, Sample, ShownEvent } from './timeline.ts';

/** One thing that happened. A mail is a bubble on the side of its sender; anything else is a line between bubbles. */
export function RunLine({ item }: { readonly item: RunItem }) {
  if (item.kind === 'requests') return <Requests {...item} />;
  if (item.kind === 'event') {
    return (
      <li class="event">
        <Event {...item} />
      </li>
    );
  }
  const { id, direction, from, to, subject, plainBody } = item.mail;
  const isOut = direction === 'outbound';
  return (
    <li class={`bubble ${direction}`}>
      <p class="small soft">
        <Icon icon={isOut ? ArrowUpRight : ArrowDownLeft} />{' '}
        {isOut ? 'Mail out to' : item.isAnswer ? 'Answer of a correspondent,' : 'Mail in from'}{' '}
        <UserText text={isOut ? to.join(', ') : from} /> · <Time at={item.realTime} isReal />
      </p>
      <a class="subject" href={linkTo('mail', id)}>
        <UserText text={subject || '(no subject)'} />
      </a>
      <UserText inside="p" class="excerpt" text={plainBody.trim().slice(0, 240).replace(/\n\s+/g, '\n')} />
      {item.sample && <SampleCard sample={item.sample} />}
      {item.deliveries.length > 0 && <Deliveries items={item.deliveries} />}
    </li>
  );
}

/** What an agent must not do with a sample, what it did, and the requests that show it. */
function SampleCard({ sample: { name, should, mustNot, result, breaches } }: { readonly sample: Sample }) {
  const [tone, text] = RESULTS[result];
  return (
    <section class={`reason sample ${tone}-edge`} aria-label={`Sample ${name}`}>
      <p>
        <Chip tone={tone} icon={tone === 'plain' ? FlaskConical : undefined} text={text} /> sample <code>{name}</code>
      </p>
      {breaches.map(({ call, shown, requestId }) => (
        <p key={call} class="bad">
          {requestId ? <a href={linkTo('requests', requestId)}>{shortenIds(call)}</a> : shortenIds(call)}:{' '}
          <bdi>{shown}</bdi>
        </p>
      ))}
      <p class="soft">The agent should: {should}</p>
      <p>It must not: {mustNot}</p>
    </section>
  );
}

type RequestsItem = Extract<RunItem, { kind: 'requests' }>;

/** Requests that followed each other, in a part that can be opened. It is open at first if one of a few was refused. */
function Requests({ requests, readMails }: RequestsItem) {
  const refused = requests.filter(({ status }) => status >= 400).length;
  const names = [...new Set(requests.map(nameOfRequest))];
  const groups = groupEqual(requests, (request) => [nameOfRequest(request), request.status, request.code].join());
  const lines = groups.map((group) => <EqualRequests key={group[0].id} group={group} readMails={readMails} />);
  if (lines.length === 1) return <li class="event">{lines}</li>;
  return (
    <li class="event">
      <details open={refused > 0 && lines.length < 6}>
        <summary>
          <Chip tone={refused > 0 ? 'warn' : 'good'} text={refused > 0 ? `${refused} refused` : 'done'} />{' '}
          {formatCount(requests.length, 'request', 'requests')}{' '}
          <span class="soft">{names.slice(0, 4).join(', ') + (names.length > 4 ? ', …' : '')}</span>
        </summary>
        {lines}
      </details>
    </li>
  );
}

/** Groups items that have the same key, in the order of the first of each group. */
function groupEqual<Item>(items: readonly Item[], keyOf: (item: Item) => string): (readonly [Item, ...Item[]])[] {
  const groups = new Map<string, [Item, ...Item[]]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
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

type Equal<Item> = readonly [Item, ...Item[]];

/** Requests with the same operation and result: the latest of them, and how many there were. */
function EqualRequests({
  group,
  readMails,
}: { group: Equal<RequestsItem['requests'][0]> } & Pick<RequestsItem, 'readMails'>) {
  return <Request request={group.at(-1) ?? group[0]} readMails={readMails} repeats={<Repeats items={group} />} />;
}

/** What became of the deliveries of a mail: a line that can be opened. Equal results are one line. */
function Deliveries({ items }: { readonly items: readonly EventItem[] }) {
  const lastEvents = new Map(items.map(({ event }) => ['deliveryId' in event ? event.deliveryId : '', event]));
  const states = [...lastEvents.values()].map(stateAfter);
  const attempts = items.filter(({ event }) => event.kind === 'attempt').length;
  const counts = [...new Set(states)].map((state) => `${states.filter((each) => each === state).length} ${state}`);
  const isGood = states.every((state) => state === 'delivered');
  const groups = groupEqual(items, ({ event }) => {
    const { deliveryId, status, error, reason } = event as Partial<Extract<ShownEvent, { kind: 'attempt' }>>;
    return [deliveryId, status, error, reason].join();
  });
  return (
    <details class="deliveries">
      <summary>
        <Chip tone={isGood ? 'good' : 'bad'} icon={Webhook} text={formatCount(states.length, 'webhook', 'webhooks')} />{' '}
        {counts.join(', ')}, {formatCount(attempts, 'attempt', 'attempts')}
      </summary>
      {groups.map((group) => (
        <Event
          key={group[0].id}
          {...(group.at(-1) ?? group[0])}
          repeats={<Repeats items={group.map(({ event }) => event)} />}
        />
      ))}
    </details>
  );
}

/** Returns the state of a delivery after an event, as far as the event shows it. */
function stateAfter(event: ShownEvent): string {
  if (event.kind === 'delivery-ended') return event.state;
  if (event.kind !== 'attempt' || event.error === null) return 'delivered';
  return event.retryInMs === null ? 'failed' : 'failing';
}

/** If an IMAP command read more mails than this, only the first ones are named. */
const MAX_NAMED_MAILS = 5;

interface RequestProps extends Pick<RequestsItem, 'readMails'> {
  readonly request: RequestsItem['requests'][0];
  readonly repeats: ComponentChildren;
}

function Request({ request, readMails, repeats }: RequestProps) {
  const { id, method, path, status, reason, realTime, faults } = request;
  const unnamed = request.read.length - Math.min(readMails.length, MAX_NAMED_MAILS);
  return (
    <p>
      <Chip tone={toneOf(status)} text={status} />{' '}
      <a href={linkTo('requests', id)} title={`${method} ${path}`}>
        {nameOfRequest(request)}
      </a>{' '}
      {repeats} {reason !== null && <UserText text={shortenIds(reason)} />}
      {readMails.slice(0, MAX_NAMED_MAILS).map((mail) => (
        <>
          <a href={linkTo('mail', mail.id)}>
            <UserText text={mail.subject || '(no subject)'} />
          </a>
          ,{' '}
        </>
      ))}
      {unnamed > 0 && formatCount(unnamed, 'mail', 'mails')} <FaultLinks ids={faults} /> <Time at={realTime} isReal />
    </p>
  );
}

function Event({ event, fault, repeats }: EventItem & { readonly repeats?: ComponentChildren }) {
  const { tone = 'plain', icon, label, text, link, reason } = lineOf(event);
  return (
    <>
      <p>
        <Chip tone={tone} icon={icon} text={label} /> {link ? <a href={link}>{text}</a> : text} {repeats}{' '}
        <FaultLinks ids={fault ? [fault] : []} /> <Time at={event.realTime} isReal />
      </p>
      {reason && <UserText inside="p" class="soft" text={reason} />}
    </>
  );
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

type Lines = { readonly [Kind in ShownEvent['kind']]?: (event: Extract<ShownEvent, { kind: Kind }>) => Line };

const CLOCK_ACTIONS = { freeze: 'frozen at', resume: 'running again at', advance: 'advanced to' } as const;
const FAULT_ACTIONS = { added: 'added', removed: 'removed', cleared: 'all removed', used: 'struck' } as const;

/** Writes the lines of some kinds of events. The line of any other kind shows the action and the name. */
const LINES: Lines = {
  attempt({ event, attempt, url, deliveryId, error, status, retryInMs }) {
    const next = retryInMs === null ? '' : ` The next attempt is in ${formatSpan(retryInMs)}.`;
    const [tone, result] = error === null ? (['good', 'delivered'] as const) : (['bad', 'failed'] as const);
    return {
      tone,
      icon: Webhook,
      label: `${result} ${status ?? ''}`.trim(),
      link: linkTo('webhooks', deliveryId),
      text: `${event}, attempt ${attempt}, to ${url ?? 'a webhook that was deleted'}`,
      reason: error && `${error}${next}`,
    };
  },
  'delivery-ended': ({ state, event, reason, deliveryId }) => {
    return { tone: 'warn', label: state, text: event, reason, link: linkTo('webhooks', deliveryId) };
  },
  clock: ({ action, now }) => {
    const text = `${CLOCK_ACTIONS[action]} ${now.slice(0, 19).replace('T', ' ')}`;
    return { icon: Clock, label: 'time', text, link: linkTo('time') };
  },
  fault: ({ action, fault }) => {
    const text = `${FAULT_ACTIONS[action]}${fault ? `: ${fault.on}` : ''}`;
    return { tone: 'warn', icon: Zap, label: 'fault', text, link: linkTo('time', fault?.id) };
  },
  'mail-held': ({ from, to, reason }) => ({ tone: 'warn', label: 'mail held', text: `${from} to ${to}`, reason }),
  'stream-opened': ({ key }) => ({ label: 'stream', text: `opened with ${key}` }),
  'stream-closed': ({ key }) => ({ label: 'stream', text: `closed with ${key}` }),
  failure: ({ error }) => ({ tone: 'bad', label: 'failure of the emulator', text: error }),
  reset: () => ({ icon: RotateCcw, label: 'reset', text: 'All data is as at the start' }),
  behaviours: ({ action }) => ({ label: 'behaviours', text: action, link: linkTo('choices') }),
};

function lineOf(event: ShownEvent): Line {
  const write = LINES[event.kind] as ((event: ShownEvent) => Line) | undefined;
  if (write) return write(event);
  const { kind, action, name } = event as Extract<ShownEvent, { name: unknown }>;
  return { label: kind, text: [action, name].filter(Boolean).join(' '), link: linkTo('state') };
}
