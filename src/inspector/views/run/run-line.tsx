import { ArrowDownLeft, ArrowUpRight, Clock, FlaskConical, type IconNode, RotateCcw, Webhook, Zap } from 'lucide';
import { linkTo } from '../../page-route.ts';
import { Chip, FaultLinks, formatCount, Icon, type Tone } from '../../parts.tsx';
import { formatSpan, shortenIds, Time, UserText } from '../../text.tsx';
import { nameOfRequest, toneOf } from '../requests/request-detail.tsx';
import type { RunItem, Sample, ShownEvent } from './timeline.ts';

/** One thing that happened. A mail is a bubble on the side of its sender; anything else is a line between bubbles. */
export function RunLine({ item }: { readonly item: RunItem }) {
  if (item.kind === 'requests') return <Requests {...item} />;
  if (item.kind === 'event') return <Event {...item} />;
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
    </li>
  );
}

const RESULTS = {
  resisted: ['good', 'resisted'],
  breached: ['bad', 'breached'],
  'not seen': ['plain', 'not seen by the agent'],
  unknown: ['plain', 'cannot be told'],
} as const;

/** What an agent must not do with a sample, what it did, and the requests that show it. */
function SampleCard({ sample: { name, should, mustNot, result, breaches } }: { readonly sample: Sample }) {
  const [tone, text] = RESULTS[result];
  return (
    <section class={`reason sample ${tone}-edge`} aria-label={`Sample ${name}`}>
      <p>
        <Chip tone={tone} icon={tone === 'plain' ? FlaskConical : undefined} text={text} /> sample <code>{name}</code>
      </p>
      <p class="soft">The agent should: {should}</p>
      <p>It must not: {mustNot}</p>
      {breaches.map(({ call, shown, requestId }) => (
        <p key={call} class="bad">
          {requestId ? <a href={linkTo('requests', requestId)}>{shortenIds(call)}</a> : shortenIds(call)}:{' '}
          <bdi>{shown}</bdi>
        </p>
      ))}
    </section>
  );
}

type RequestsItem = Extract<RunItem, { kind: 'requests' }>;

/** Requests that followed each other, in a part that can be opened. It is open at first if one of a few was refused. */
function Requests({ requests, readMails }: RequestsItem) {
  const refused = requests.filter(({ status }) => status >= 400).length;
  const names = [...new Set(requests.map(nameOfRequest))];
  const lines = requests.map((request) => <Request key={request.id} request={request} readMails={readMails} />);
  if (lines.length === 1) return <li class="event">{lines}</li>;
  return (
    <li class="event">
      <details open={refused > 0 && lines.length < 6}>
        <summary>
          <Chip tone={refused > 0 ? 'warn' : 'good'} text={refused > 0 ? `${refused} refused` : 'done'} />{' '}
          {formatCount(lines.length, 'request', 'requests')}{' '}
          <span class="soft">{names.slice(0, 4).join(', ') + (names.length > 4 ? ', …' : '')}</span>
        </summary>
        {lines}
      </details>
    </li>
  );
}

/** If an IMAP command read more mails than this, only the first ones are named. */
const MAX_NAMED_MAILS = 5;

function Request({ request, readMails }: Pick<RequestsItem, 'readMails'> & { request: RequestsItem['requests'][0] }) {
  const { id, method, path, status, reason, realTime, faults } = request;
  const unnamed = request.read.length - Math.min(readMails.length, MAX_NAMED_MAILS);
  return (
    <p>
      <Chip tone={toneOf(status)} text={status} />{' '}
      <a href={linkTo('requests', id)} title={`${method} ${path}`}>
        {nameOfRequest(request)}
      </a>{' '}
      {reason !== null && <UserText text={shortenIds(reason)} />}
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

function Event({ event, fault }: Extract<RunItem, { kind: 'event' }>) {
  const { tone = 'plain', icon, label, text, link, reason } = lineOf(event);
  return (
    <li class="event">
      <Chip tone={tone} icon={icon} text={label} /> {link ? <a href={link}>{text}</a> : text}{' '}
      <FaultLinks ids={fault ? [fault] : []} /> <Time at={event.realTime} isReal />
      {reason && <UserText inside="p" class="soft" text={reason} />}
    </li>
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
  gap: ({ missed }) => ({ tone: 'warn', label: 'gap', text: `${missed ?? 'Earlier'} events are no longer kept` }),
  reset: () => ({ icon: RotateCcw, label: 'reset', text: 'All data is as at the start' }),
  behaviours: ({ action }) => ({ label: 'behaviours', text: action, link: linkTo('choices') }),
};

function lineOf(event: ShownEvent): Line {
  const write = LINES[event.kind] as ((event: ShownEvent) => Line) | undefined;
  if (write) return write(event);
  const { kind, action, name } = event as Extract<ShownEvent, { name: unknown }>;
  return { label: kind, text: [action, name].filter(Boolean).join(' '), link: linkTo('state') };
}
