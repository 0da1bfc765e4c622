import { formatDuration } from '../../clock/duration.ts';
import { messageOf } from '../../delivery/delivery.ts';
import type { Activity, ActivityEntry, AttemptActivity, DeliveryActivity } from '../../events/activity.ts';
import type { Log } from './log-format.ts';

/** What is said of an attempt, whoever says it. */
export type AttemptFacts = Pick<AttemptActivity, 'state' | 'reason' | 'status' | 'error' | 'durationMs' | 'retryInMs'>;

/** Writes a line for each entry of the activity of a mailbox from now on. */
export function logActivity(activity: Activity, log: Log): void {
  activity.subscribe((entry) => {
    const { text, status } = WRITERS[entry.kind](entry as never);
    log(toPrintable(text), status);
  });
}

interface Line {
  readonly text: string;
  /** The status whose colour the line has. */
  readonly status?: number;
}

const WRITERS: { readonly [Kind in ActivityEntry['kind']]: (entry: Extract<ActivityEntry, { kind: Kind }>) => Line } = {
  attempt: (entry) => ({
    text: `${start(entry)} ${formatAttempt(entry)}`,
    status: entry.status ?? (entry.state === 'refused' ? 403 : 504),
  }),
  'delivery-ended': (entry) => ({
    text: `${start(entry)} ${entry.state}: ${entry.reason}`,
    status: entry.state === 'failed' ? 500 : 403,
  }),
  mail: ({ inbox, from, subject }) => ({ text: `← mail to ${inbox} from ${from}: ${subject}` }),
  'stream-opened': ({ tier, key }) => ({ text: `stream opened with the ${tier} key ${key}` }),
  'stream-closed': ({ tier, key }) => ({ text: `stream closed that was opened with the ${tier} key ${key}` }),
  failure: ({ error }) => ({ text: `! The emulator failed, which is a bug in it: ${messageOf(error)}.`, status: 500 }),
};

function start({ event, webhookId }: DeliveryActivity): string {
  return `→ ${event} webhook ${webhookId.slice(0, 4)}…`;
}

/** Says what came of an attempt: `503 in 12 ms, again in 5s`. */
export function formatAttempt({ state, reason, status, error, durationMs, retryInMs }: AttemptFacts): string {
  if (state === 'refused') return `refused: ${reason}`;
  const answer = status === null ? `no answer (${messageOf(error)})` : String(status);
  return `${answer} in ${durationMs} ms${nextText({ state, reason, retryInMs })}`;
}

function nextText({ state, reason, retryInMs }: Pick<AttemptFacts, 'state' | 'reason' | 'retryInMs'>): string {
  if (retryInMs !== null) return `, again in ${formatDuration(retryInMs)}`;
  return reason === null ? '' : `, ${state}: ${reason}`;
}

/** The longest that a line gets. */
const MAX_LENGTH = 300;

/** Takes out what would break or fake a line, or move the cursor of a terminal. */
function toPrintable(text: string): string {
  return text.slice(0, MAX_LENGTH).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '?');
}
