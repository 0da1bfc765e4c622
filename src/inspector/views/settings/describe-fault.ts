import { plural } from '../../../basics/text.ts';
import { formatSpan, shortenIds } from '../../text.tsx';

/** A fault that is set, or the values of a form for one. A field that is missing has its default. */
export interface DescribedFault {
  /** What it applies to, such as `request`. */
  readonly on: string;
  /** What goes wrong, such as `reply` or `duplicate`. */
  readonly kind?: string | undefined;
  readonly times?: number | null | undefined;
  readonly after?: number | undefined;
  readonly operation?: string | null | undefined;
  readonly key?: string | null | undefined;
  readonly tier?: string | null | undefined;
  readonly effect?: string | undefined;
  readonly status?: number | undefined;
  readonly body?: unknown;
  readonly headers?: object | undefined;
  readonly latency?: { readonly ms?: number | undefined; readonly jitterMs?: number | undefined } | undefined;
  readonly rateLimit?:
    | { readonly limit?: number | undefined; readonly perMs?: number; readonly per?: string | undefined }
    | undefined;
  readonly webhookId?: string | null | undefined;
  readonly code?: number | undefined;
  readonly recipient?: string | null | undefined;
  readonly inbox?: string | null | undefined;
  readonly commands?: number | null | undefined;
  /** The delay of a fault that is set, in milliseconds. */
  readonly delayMs?: number | undefined;
  /** The delay as a person has written it, such as `1m`. */
  readonly delay?: string | undefined;
}

/** A fault that happens so often lasts until it is removed. */
const UNTIL_REMOVED = 1_000_000;

/** Says in a sentence what a fault will do, such as “The next 3 requests of replyToMessage get 503 after 2 s.” */
export function describeFault(fault: DescribedFault): string {
  const { on, times = 1, after = 0 } = fault;
  const { one, many, will } = (EVENTS[on] ?? EVENTS.request)?.(fault) ?? { one: on, many: on, will: '' };
  if (on === 'request' && fault.kind === 'rate-limit') return describeRateLimit(fault);
  const isForever = times === null || times >= UNTIL_REMOVED;
  const next = isForever
    ? `Each ${one}`
    : times === 1
      ? `The next ${one}`
      : `The next ${times.toLocaleString('en')} ${many}`;
  const isOne = isForever || times === 1;
  const start =
    after > 0
      ? `After ${plural(after, one, many)} that ${after === 1 ? 'goes' : 'go'} well: ${lowerFirst(next)}`
      : next;
  const end = isForever ? ', until the fault is removed' : '';
  return `${start} ${typeof will === 'string' ? will : will[isOne ? 0 : 1]}${end}.`;
}

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);

/** What a fault applies to, in the singular and the plural, and what happens to it, if needed in both forms. */
interface Affected {
  readonly one: string;
  readonly many: string;
  readonly will: string | readonly [one: string, many: string];
}

type Describe = (fault: DescribedFault) => Affected;

/** For each thing that a fault can apply to, how its events are named, and what happens to them. */
const EVENTS: Readonly<Record<string, Describe>> = {
  request: (fault) => {
    const which = `${fault.operation ? ` of ${fault.operation}` : ''}${describeKey(fault)}`;
    const [verb, rest] = describeReply(fault);
    return { one: `request${which}`, many: `requests${which}`, will: [`${verb}s ${rest}`, `${verb} ${rest}`] };
  },
  delivery: ({ kind = '', webhookId, ...delay }) => {
    const which = webhookId ? ` to the webhook ${shortenIds(webhookId)}` : '';
    const texts: Readonly<Record<string, string>> = {
      duplicate: 'will be sent twice, with the same webhook-id',
      reorder: 'will be sent after the next one to the same webhook, or after a minute without a next one',
      hold: 'will wait until somebody releases it',
      drop: 'will never be sent',
      delay: `will be sent ${describeDelay(delay, '1 min')} late`,
      'stale-timestamp': 'will have a timestamp that is an hour old; the signature is valid',
      'wrong-secret': 'will be signed with another secret',
      'two-signatures': 'will have two signatures, of which only the second is valid',
      'truncated-body': 'will have only half of its body; the signature is for the whole body',
      unreachable: 'will fail at the first attempt, as if no program listened at the URL',
      'oversize-body': 'will have 1 MiB more in its body; the signature is valid',
    };
    return { one: `delivery${which}`, many: `deliveries${which}`, will: texts[kind] ?? `will be changed: ${kind}` };
  },
  stream: (fault) => {
    const which = ` on an event stream${describeKey(fault)}`;
    const will =
      fault.kind === 'stall'
        ? 'will not be sent; the stream stays open, but nothing more is sent on it'
        : `will not be sent; its stream is closed with the code ${fault.code ?? 4503}`;
    return { one: `event${which}`, many: `events${which}`, will };
  },
  smtp: ({ recipient, status = 451 }) => {
    const which = recipient ? ` ${recipient}` : '';
    const time = status < 500 ? 'for now' : 'for good';
    const will = `will be refused over SMTP with ${status}, ${time}`;
    return { one: `recipient${which}`, many: `recipients${which}`, will };
  },
  imap: ({ kind = '', inbox, commands, ...delay }) => {
    const which = inbox ? ` to ${inbox}` : '';
    const texts: Readonly<Record<string, readonly [one: string, many: string, will: string]>> = {
      'id-required': ['IMAP session', 'IMAP sessions', 'will open no folder until the client has sent ID'],
      disconnect: [
        'IMAP session',
        'IMAP sessions',
        commands
          ? `will be cut after ${plural(commands, 'command', 'commands')}`
          : `will be cut ${describeDelay(delay, '2 s')} after the login`,
      ],
      slow: ['IMAP session', 'IMAP sessions', `will get each reply ${describeDelay(delay, '2 s')} late`],
      'login-refused': ['IMAP login', 'IMAP logins', 'will fail, although the password is right'],
      'too-many-connections': ['IMAP login', 'IMAP logins', 'will fail: the inbox has too many connections'],
      'id-refused': ['command ID of IMAP', 'commands ID of IMAP', 'will be answered with BAD'],
      'repeated-exists': ['new mail', 'new mails', 'will be announced three times over IMAP, by EXISTS'],
      'new-uidvalidity': ['IMAP command', 'IMAP commands', 'will find another UIDVALIDITY of the open folder'],
      'cut-literal': [
        'mail read over IMAP',
        'mails read over IMAP',
        'will be cut in the middle, and its connection too',
      ],
    };
    const [one, many, will] = texts[kind] ?? ['IMAP session', 'IMAP sessions', `will be changed: ${kind}`];
    return { one: one + which, many: many + which, will };
  },
};

function describeRateLimit({ operation, rateLimit = {}, ...others }: DescribedFault): string {
  const { limit = 0, perMs, per = 'a period' } = rateLimit;
  const which = `${operation ? ` of ${operation}` : ''}${describeKey(others)}`;
  const span = perMs === undefined ? per : formatMs(perMs);
  return `If a tenant sends more than ${plural(limit, 'request', 'requests')}${which} in ${span}, the others get 429, until the fault is removed.`;
}

function describeKey({ key, tier }: Pick<DescribedFault, 'key' | 'tier'>): string {
  return `${key ? ` with the key ${key}` : ''}${tier ? ` with a key of the tier ${tier}` : ''}`;
}

/** Returns what the client of a request gets, as a verb and the rest. */
function describeReply({ kind, status, body, headers, latency, effect }: DescribedFault): [string, string] {
  const { ms = 0, jitterMs = 0 } = latency ?? {};
  const delay = jitterMs > 0 ? `${formatMs(ms)} to ${formatMs(ms + jitterMs)}` : formatMs(ms);
  const runs = effect === 'applied';
  if (kind === 'latency') return ['get', `the reply ${delay} later`];
  if (kind === 'cut') {
    const after = ms > 0 ? ` after ${delay}` : '';
    return ['get', `no reply: the connection is cut${after}, and the operation ${runs ? 'runs' : 'does not run'}`];
  }
  const names = Object.keys(headers ?? {});
  const changes = [
    ...(body === undefined ? [] : [`the body ${shorten(JSON.stringify(body))}`]),
    ...(names.length === 0 ? [] : [`the ${names.length === 1 ? 'header' : 'headers'} ${names.join(', ')}`]),
  ].join(' and ');
  const what =
    status === undefined
      ? `the usual reply${changes && ` with ${changes}`}`
      : `${status}${changes && ` with ${changes}`}`;
  const late = ms > 0 || jitterMs > 0 ? ` after ${delay}` : '';
  return ['get', `${what}${late}${status !== undefined && runs ? ', although the operation runs' : ''}`];
}

/** How much of a body is shown, in characters. */
const BODY_LENGTH = 60;

const shorten = (text: string) => (text.length > BODY_LENGTH ? `${text.slice(0, BODY_LENGTH)}…` : text);

function describeDelay({ delayMs, delay }: Pick<DescribedFault, 'delayMs' | 'delay'>, otherwise: string): string {
  return delay || (delayMs === undefined ? otherwise : formatMs(delayMs));
}

/** Formats a time such as `250 ms`, `1.5 s` or `2 min`. */
function formatMs(ms: number): string {
  if (ms < 1_000) return `${ms} ms`;
  return ms % 1_000 === 0 ? formatSpan(ms) : `${ms / 1_000} s`;
}
