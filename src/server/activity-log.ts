import { messageOf } from '../basics/named-error.ts';
import { cut } from '../basics/text.ts';
import { CorrespondentError } from '../service/mail/correspondents/correspondent.ts';
import type { ExchangeObserver } from '../service/pipeline/exchange.ts';
import type { Activity, ActivityEntry, AttemptActivity, DeliveryActivity } from '../world/activity.ts';
import { formatDuration } from '../world/clock.ts';
import type { Log } from './log-format.ts';

/** The data of an attempt that its description needs. */
type AttemptData = Pick<AttemptActivity, 'state' | 'reason' | 'status' | 'error' | 'durationMs' | 'retryInMs'>;

/**
 * Writes a log line for each future entry of a mailbox's activity. That of a delivery that was not delivered ends with
 * its link in the inspector; `inspector` returns the URL of that page.
 */
export function logActivity(activity: Activity, log: Log, inspector: () => string): void {
  activity.subscribe((entry) => {
    const line = describeActivity(entry);
    if (!line) return;
    const { text, status = 200 } = line;
    const hasLink = 'deliveryId' in entry && status >= 300;
    log(hasLink ? `${text} ${inspector()}#/webhooks/${entry.deliveryId}` : text, status);
  });
}

/** Describes an entry in one line; `undefined` for a delivery that is sent at once, because its attempt has a line. */
export function describeActivity(entry: ActivityEntry): Line | undefined {
  const line = WRITERS[entry.kind](entry as never);
  return line && { text: toPrintable(line.text), status: line.status };
}

/** One line of the log. */
export interface Line {
  readonly text: string;
  /** The HTTP status that decides the colour of the line. */
  readonly status?: number | undefined;
}

const WRITERS: {
  readonly [Kind in ActivityEntry['kind']]: (entry: Extract<ActivityEntry, { kind: Kind }>) => Line | undefined;
} = {
  'delivery-created': (entry) =>
    entry.state === 'held' ? { text: `${deliveryPrefix(entry)} held: ${entry.reason}`, status: 403 } : undefined,
  attempt: (entry) => ({
    text: `${deliveryPrefix(entry)} ${formatAttempt(entry)}`,
    status: entry.status ?? (entry.state === 'refused' ? 403 : 504),
  }),
  'delivery-ended': (entry) => ({
    text: `${deliveryPrefix(entry)} ${entry.state}: ${entry.reason}`,
    status: entry.state === 'failed' ? 500 : 403,
  }),
  mail: ({ inbox, from, subject }) => ({ text: `← mail to ${inbox} from ${from}: ${subject}` }),
  'mail-held': ({ reason }) => ({ text: `! mail held: ${reason}`, status: 429 }),
  'stream-opened': ({ tier, key }) => ({ text: `stream opened with the ${tier} key ${key}` }),
  'stream-closed': ({ tier, key }) => ({ text: `stream closed that was opened with the ${tier} key ${key}` }),
  failure: ({ error }) => ({
    text:
      error instanceof CorrespondentError
        ? `! ${error.message}`
        : `! The emulator failed because of a bug in it: ${messageOf(error)}.`,
    status: 500,
  }),
};

function deliveryPrefix({ event, webhookId, url }: DeliveryActivity): string {
  return `→ ${event} webhook ${webhookId.slice(0, 4)}…${url === null ? '' : ` ${cut(url, MAX_URL_LENGTH)}`}`;
}

/** Describes the result of an attempt: `503 in 12 ms, again in 5s`. */
export function formatAttempt({ state, reason, status, error, durationMs, retryInMs }: AttemptData): string {
  if (state === 'refused') return `refused: ${reason}`;
  const answer = status === null ? `no answer (${messageOf(error)})` : String(status);
  return `${answer} in ${durationMs} ms${formatNextStep({ state, reason, retryInMs })}`;
}

function formatNextStep({ state, reason, retryInMs }: Pick<AttemptData, 'state' | 'reason' | 'retryInMs'>): string {
  if (retryInMs !== null) return `, again in ${formatDuration(retryInMs)}`;
  return reason === null ? '' : `, ${state}: ${reason}`;
}

/** The maximum length of the URL of a webhook, so that the result of the delivery is in the line, too. */
const MAX_URL_LENGTH = 120;

/** The maximum length of a line, in characters. */
const MAX_LENGTH = 300;

/** Replaces characters that could break a line, imitate another line or move a terminal's cursor. */
export function toPrintable(text: string): string {
  return text.slice(0, MAX_LENGTH).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '?');
}

/** Returns an observer that logs why the URL of a new or changed webhook may not be called. */
export function logRefusedWebhooks(log: Log, findReason: (url: string) => string | undefined): ExchangeObserver {
  return ({ row, received, reply }) => {
    const isWebhook = row?.id === 'createWebhook' || row?.id === 'updateWebhook';
    if (!isWebhook || reply.status >= 300 || !(received instanceof Uint8Array)) return;
    const { url }: { url?: unknown } = JSON.parse(new TextDecoder().decode(received));
    const reason = typeof url === 'string' ? findReason(url) : undefined;
    if (reason !== undefined) log(`! a webhook will get nothing: ${reason}`, 403);
  };
}
