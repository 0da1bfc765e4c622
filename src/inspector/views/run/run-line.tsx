import { ArrowDownLeft, ArrowUpRight, Clock, type IconNode, RotateCcw, Webhook, Zap } from 'lucide';
import { linkTo } from '../../page-route.ts';
import { Chip, countOf, Icon, type Tone } from '../../parts.tsx';
import { shortenIds, UserText } from '../../text.tsx';
import { Time } from '../../time.tsx';
import { nameOf, toneOf } from '../requests/request-list.tsx';
import { SampleCard } from './sample-card.tsx';
import type { RunItem, ShownEvent } from './timeline.ts';

/** One thing that happened: a mail as a bubble on the side of its sender, anything else as a line between. */
export function RunLine({ item }: { readonly item: RunItem }) {
  if (item.kind === 'requests') return <Requests {...item} />;
  if (item.kind === 'event') return <Event event={item.event} />;
  const { id, direction, from, to, subject, plainBody } = item.mail;
  const isOut = direction === 'outbound';
  return (
    <li class={`bubble ${direction}`}>
      <p class="small soft">
        <Icon of={isOut ? ArrowUpRight : ArrowDownLeft} />{' '}
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

/** Requests that followed each other, folded; the refused ones stay visible. */
function Requests({ requests }: Extract<RunItem, { kind: 'requests' }>) {
  const refused = requests.filter(({ status }) => status >= 400);
  const [first] = requests;
  if (requests.length === 1 && first) {
    return (
      <li class="event">
        <Request request={first} />
      </li>
    );
  }
  return (
    <li class="event">
      <details open={refused.length > 0 && requests.length < 6}>
        <summary>
          <Chip
            tone={refused.length > 0 ? 'warn' : 'good'}
            text={refused.length > 0 ? `${refused.length} refused` : 'done'}
          />{' '}
          {countOf(requests.length, 'request', 'requests')} <span class="soft">{namesOf(requests)}</span>
        </summary>
        {requests.map((request) => (
          <Request key={request.id} request={request} />
        ))}
      </details>
    </li>
  );
}

type Request = Extract<RunItem, { kind: 'requests' }>['requests'][number];

/** Returns the names of requests, each once. */
function namesOf(requests: readonly Request[]): string {
  const names = [...new Set(requests.map(nameOf))];
  return [...names.slice(0, 4), ...(names.length > 4 ? ['…'] : [])].join(', ');
}

function Request({ request }: { readonly request: Request }) {
  const { id, method, path, status, reason, realTime } = request;
  return (
    <p>
      <Chip tone={toneOf(status)} text={status} />{' '}
      <a href={linkTo('requests', id)} title={`${method} ${path}`}>
        {nameOf(request)}
      </a>{' '}
      {reason !== null && <UserText text={shortenIds(reason)} />} <Time at={realTime} isReal />
    </p>
  );
}

function Event({ event }: { readonly event: ShownEvent }) {
  const { tone = 'plain', icon, state, text, link, reason } = describe(event);
  return (
    <li class="event">
      <Chip tone={tone} icon={icon} text={state} /> {link ? <a href={link}>{text}</a> : text}{' '}
      <Time at={event.realTime} isReal />
      {reason && <UserText inside="p" class="soft" text={reason} />}
    </li>
  );
}

interface Line {
  readonly tone?: Tone;
  /** Default: that of the tone. */
  readonly icon?: IconNode;
  readonly state: string;
  readonly text: string;
  readonly link?: string;
  readonly reason?: string | null;
}

/** Returns what a line says about an event, and what it leads to. */
function describe(event: ShownEvent): Line {
  switch (event.kind) {
    case 'attempt':
      return describeAttempt(event);
    case 'delivery-ended':
      return {
        ...{ tone: 'warn', state: event.state, text: event.event, reason: event.reason },
        link: linkTo('webhooks', event.deliveryId),
      };
    case 'clock':
      return {
        icon: Clock,
        state: 'time',
        text: `${CLOCK[event.action]} ${event.now.slice(0, 19).replace('T', ' ')}`,
        link: '#/time',
      };
    case 'fault':
      return describeFault(event);
    case 'mail-held':
      return { tone: 'warn', state: 'mail held', text: `${event.from} to ${event.to}`, reason: event.reason };
    case 'stream-opened':
    case 'stream-closed':
      return { state: 'stream', text: `${event.kind.slice(7)} with ${event.key}` };
    case 'failure':
      return { tone: 'bad', state: 'failure of the emulator', text: event.error };
    case 'gap':
      return { tone: 'warn', state: 'gap', text: `${event.missed ?? 'Earlier'} events are no longer kept` };
    case 'reset':
      return { icon: RotateCcw, state: 'reset', text: 'All data is as at the start' };
    default:
      return { state: event.kind, text: [event.action, event.name].filter(Boolean).join(' '), link: linkTo('state') };
  }
}

function describeAttempt(event: Extract<ShownEvent, { kind: 'attempt' }>): Line {
  const { status, error, attempt, deliveryId, url, retryInMs } = event;
  const next = retryInMs === null ? '' : ` The next attempt is in ${Math.round(retryInMs / 1000)} s.`;
  const line = {
    text: `${event.event}, attempt ${attempt}, to ${url ?? 'a webhook that was deleted'}`,
    link: linkTo('webhooks', deliveryId),
  };
  if (error === null) return { ...line, tone: 'good', icon: Webhook, state: `delivered ${status}` };
  return { ...line, tone: 'bad', icon: Webhook, state: `failed ${status ?? ''}`.trim(), reason: `${error}${next}` };
}

function describeFault({ action, fault }: Extract<ShownEvent, { kind: 'fault' }>): Line {
  return {
    tone: 'warn',
    icon: Zap,
    state: 'fault',
    text: `${FAULT[action]}${fault ? `: ${fault.on}` : ''}`,
    link: linkTo('time', fault?.id),
  };
}

const CLOCK = { freeze: 'frozen at', resume: 'running again at', advance: 'advanced to' } as const;
const FAULT = { added: 'added', removed: 'removed', cleared: 'all removed', used: 'struck' } as const;
