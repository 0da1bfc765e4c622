import { linkTo } from '../../page-route.ts';
import { Chip, countOf, type Tone } from '../../parts.tsx';
import { Time } from '../../time.tsx';
import { toneOf } from '../requests/request-list.tsx';
import { SampleCard } from './sample-card.tsx';
import type { RunItem, ShownEvent } from './timeline.ts';

/** One thing that happened: a mail as a bubble on the side of its sender, anything else as a line between. */
export function RunLine({ item }: { readonly item: RunItem }) {
  if (item.kind === 'requests') return <Requests {...item} />;
  if (item.kind === 'event') return <Event event={item.event} />;
  const { id, direction, from, to, subject, plainBody, receivedAt } = item.mail;
  const [icon, label] =
    direction === 'outbound'
      ? ['↗', 'Mail out']
      : item.isAnswer
        ? ['↩', 'Answer of a correspondent']
        : ['↙', 'Mail in'];
  const other = direction === 'inbound' ? from : to.join(', ');
  return (
    <li class={`run-mail ${direction}`}>
      <p class="soft">
        <span aria-hidden="true">{icon}</span> {label} · <bdi>{other}</bdi> <Time at={receivedAt} />
      </p>
      <a href={linkTo('mail', id)} dir="auto">
        {subject || '(no subject)'}
      </a>
      <p class="run-text" dir="auto">
        {plainBody.slice(0, 200)}
      </p>
      {item.sample && <SampleCard sample={item.sample} />}
    </li>
  );
}

/** Requests that followed each other, folded; the refused ones stay visible. */
function Requests({ requests }: Extract<RunItem, { kind: 'requests' }>) {
  const refused = requests.filter(({ status }) => status >= 400);
  const [first] = requests;
  return (
    <li class="run-event">
      <details open={refused.length > 0 && requests.length < 6}>
        <summary>
          <Chip tone={refused.length > 0 ? 'warn' : 'good'}>
            {refused.length > 0 ? `${refused.length} refused` : 'done'}
          </Chip>{' '}
          {requests.length === 1 && first
            ? (first.operation ?? `${first.method} ${first.path}`)
            : countOf(requests.length, 'request', 'requests')}
        </summary>
        <ul class="run-requests">
          {requests.map(({ id, operation, protocol, method, path, status, reason, realTime }) => (
            <li key={id}>
              <Chip tone={toneOf(status)}>{status}</Chip>{' '}
              <a href={linkTo('requests', id)} title={`${method} ${path}`}>
                {operation ?? `${protocol === 'http' ? '' : `${protocol.toUpperCase()} `}${method} ${path}`}
              </a>{' '}
              <Time at={realTime} />
              {reason !== null && <p class="soft">{reason}</p>}
            </li>
          ))}
        </ul>
      </details>
    </li>
  );
}

function Event({ event }: { readonly event: ShownEvent }) {
  const { tone = 'plain', state, text, link, reason } = describe(event);
  return (
    <li class="run-event">
      <Chip tone={tone}>{state}</Chip> {link ? <a href={link}>{text}</a> : text} <Time at={event.realTime} />
      {reason && <p class="soft">{reason}</p>}
    </li>
  );
}

interface Line {
  readonly tone?: Tone;
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
      return { state: 'reset', text: 'All data is as at the start' };
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
  if (error === null) return { ...line, tone: 'good', state: `delivered ${status}` };
  return { ...line, tone: 'bad', state: `failed ${status ?? ''}`.trim(), reason: `${error}${next}` };
}

function describeFault({ action, fault }: Extract<ShownEvent, { kind: 'fault' }>): Line {
  return {
    tone: 'warn',
    state: 'fault',
    text: `${FAULT[action]}${fault ? `: ${fault.on}` : ''}`,
    link: linkTo('time'),
  };
}

const CLOCK = { freeze: 'frozen at', resume: 'running again at', advance: 'advanced to' } as const;
const FAULT = { added: 'added', removed: 'removed', cleared: 'all removed', used: 'struck' } as const;
