import { messageOf } from '../basics/named-error.ts';
import { cut } from '../basics/text.ts';
import { CorrespondentError } from '../service/mail/correspondents/correspondent.ts';
import type { ExchangeObserver } from '../service/pipeline/exchange.ts';
import type { Activity, ActivityEntry, AttemptActivity, DeliveryActivity } from '../world/activity.ts';
import { formatDuration } from '../world/clock.ts';
import { type Line, type Log, toPrintable } from './log-format.ts';

/** The data of an attempt that its description needs. */
type AttemptData = Pick<AttemptActivity, 'state' | 'reason' | 'status' | 'error' | 'durationMs' | 'retryInMs'>;

/**
 * Writes a log line for each future entry of a mailbox's activity. If a delivery failed, its line ends with a link to
 * the delivery in the inspector. `inspector` returns the URL of the inspector.
 */
export function logActivity(activity: Activity, log: Log, inspector: () => string): void {
  activity.subscribe((entry) => {
    const line = describeActivity(entry);
    if (!line) return;
    const hasLink = 'deliveryId' in entry && (line.status ?? 200) >= 300;
    log(hasLink ? { ...line, text: `${line.text} ${inspector()}#/webhooks/${entry.deliveryId}` } : line);
  });
}

/** Describes an entry in one line; `undefined` for a delivery that is sent at once, because its attempt has a line. */
export function describeActivity(entry: ActivityEntry): Line | undefined {
  const line = WRITERS[entry.kind](entry as never);
  return line && limitText(line);
}

const WRITERS: {
  readonly [Kind in ActivityEntry['kind']]: (entry: Extract<ActivityEntry, { kind: Kind }>) => Line | undefined;
} = {
  'delivery-created': (entry) =>
    entry.state === 'held' ? deliveryLine(entry, { sign: '!', text: `held: ${entry.reason}`, status: 403 }) : undefined,
  attempt: (entry) => {
    const status = entry.status ?? (entry.state === 'refused' ? 403 : 504);
    return deliveryLine(entry, { sign: entry.status ?? '!', text: formatResult(entry), status });
  },
  'delivery-ended': (entry) => {
    const status = entry.state === 'failed' ? 500 : 403;
    return deliveryLine(entry, { sign: '!', text: `${entry.state}: ${entry.reason}`, status });
  },
  mail: ({ inbox, from, subject }) => ({ name: 'mail', sign: '←', text: `to ${inbox} from ${from}: ${subject}` }),
  'mail-held': ({ reason }) => ({ name: 'mail', sign: '!', text: `held: ${reason}`, status: 429 }),
  'stream-opened': ({ tier, key }) => ({ name: 'stream', text: `opened with the ${tier} key ${key}` }),
  'stream-closed': ({ tier, key }) => ({ name: 'stream', text: `closed that was opened with the ${tier} key ${key}` }),
  failure: ({ error }) => {
    const [name, text] =
      error instanceof CorrespondentError
        ? ['correspondent', error.message]
        : ['emulator', `The emulator failed because of a bug in it: ${messageOf(error)}.`];
    return { name, sign: '!', text, status: 500 };
  },
};

/** Returns a line with the event, the webhook and the address of a delivery, followed by what happened to it. */
function deliveryLine({ event, webhookId, url }: DeliveryActivity, { text, ...line }: Omit<Line, 'name'>): Line {
  const address = url === null ? '' : ` ${cut(url, MAX_URL_LENGTH)}`;
  return { ...line, name: event, text: `webhook ${webhookId.slice(0, 4)}…${address} ${text}` };
}

/** Describes the result of an attempt: `503 in 12 ms, again in 5s`. */
export function formatAttempt(attempt: AttemptData): string {
  return [attempt.status, formatResult(attempt)].filter((part) => part !== null).join(' ');
}

/** Describes the result of an attempt, without its status. */
function formatResult({ state, reason, status, error, durationMs, retryInMs }: AttemptData): string {
  if (state === 'refused') return `refused: ${reason}`;
  const problem = status === null ? `no answer (${messageOf(error)}) ` : '';
  return `${problem}in ${durationMs} ms${formatNextStep({ state, reason, retryInMs })}`;
}

function formatNextStep({ state, reason, retryInMs }: Pick<AttemptData, 'state' | 'reason' | 'retryInMs'>): string {
  if (retryInMs !== null) return `, again in ${formatDuration(retryInMs)}`;
  return reason === null ? '' : `, ${state}: ${reason}`;
}

/** The maximum length of the URL of a webhook, so that the result of the delivery is in the line, too. */
const MAX_URL_LENGTH = 120;

/** The maximum length of the text of a line, in characters. */
const MAX_LENGTH = 280;

/** Shortens the text of a line that others may have written, and makes it printable. */
export function limitText(line: Line): Line {
  return { ...line, text: toPrintable(line.text.slice(0, MAX_LENGTH)) };
}

/** Returns an observer that logs why the URL of a new or changed webhook may not be called. */
export function logRefusedWebhooks(log: Log, findReason: (url: string) => string | undefined): ExchangeObserver {
  return ({ row, received, reply }) => {
    const isWebhook = row?.id === 'createWebhook' || row?.id === 'updateWebhook';
    if (!isWebhook || reply.status >= 300 || !(received instanceof Uint8Array)) return;
    const { url }: { url?: unknown } = JSON.parse(new TextDecoder().decode(received));
    const reason = typeof url === 'string' ? findReason(url) : undefined;
    if (reason !== undefined)
      log({ name: row.id, sign: '!', text: `a webhook will get nothing: ${reason}`, status: 403 });
  };
}
