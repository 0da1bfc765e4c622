import type { ReplyTo } from '../../../control/table/client.ts';
import type { Route } from '../../page-route.ts';
import type { Tone } from '../../parts.tsx';

/** The kinds of events. */
export const EVENTS = ['message.received', 'message.sent', 'message.bounced'] as const;

/** What is shown about the state of a delivery. */
type StateMark = { readonly text: string; readonly tone: Tone };

const MARKS: Readonly<Record<Delivery['state'], StateMark>> = {
  pending: { text: 'Pending', tone: 'plain' },
  held: { text: 'Held', tone: 'warn' },
  delivered: { text: 'Delivered', tone: 'good' },
  exhausted: { text: 'Failed', tone: 'bad' },
  dropped: { text: 'Dropped', tone: 'bad' },
  refused: { text: 'Refused', tone: 'bad' },
  failed: { text: 'Error of the emulator', tone: 'bad' },
};

/** The mark of a pending delivery of which an attempt has failed. */
const FAILING: StateMark = { text: 'Failing', tone: 'bad' };

/** The texts of the marks, in the order in which a delivery may get them. */
export const MARK_TEXTS: readonly string[] = [...new Set([MARKS.pending, FAILING, ...Object.values(MARKS)])].map(
  ({ text }) => text,
);

/** Returns how the state of a delivery is shown. A pending delivery of which an attempt has failed has its own mark. */
export function markOf({ state, attempts }: Delivery): StateMark {
  return state === 'pending' && attempts.length > 0 ? FAILING : MARKS[state];
}

/** Returns the URL to which a delivery was sent, or will be sent. */
export function urlOf({ attempts, webhookId }: Delivery, urls: ReadonlyMap<string, string>): string {
  return attempts.at(-1)?.url ?? urls.get(webhookId) ?? `webhook ${webhookId}`;
}

/** Returns the deliveries that failed or are failing, and that can be sent again. */
export function failedOf(deliveries: readonly Delivery[]): readonly Delivery[] {
  return deliveries.filter((delivery) => markOf(delivery).tone === 'bad');
}

/** What made attempts fail: the answer or the error of a receiver, with how often it did so, and when. */
export interface FailureCause {
  readonly webhookId: string;
  readonly url: string;
  /** The status of the answers; null if there was no answer. */
  readonly status: number | null;
  readonly error: string;
  readonly attempts: number;
  /** When the first and the last of the attempts were made, by the clock of their tenant. */
  readonly first: string;
  readonly last: string;
}

/** Returns the causes of the attempts that failed, the most frequent first. */
export function causesOf(deliveries: readonly Delivery[]): readonly FailureCause[] {
  const causes = new Map<string, FailureCause>();
  for (const { webhookId, attempts } of deliveries) {
    for (const { url, status, error, at } of attempts) {
      if (error === null) continue;
      const key = [webhookId, url, status, error].join();
      const { attempts = 0, first = at, last = at } = causes.get(key) ?? {};
      causes.set(key, {
        webhookId,
        url,
        status,
        error,
        attempts: attempts + 1,
        first: at < first ? at : first,
        last: at > last ? at : last,
      });
    }
  }
  return [...causes.values()].sort((one, other) => other.attempts - one.attempts);
}

/** Returns a URL as a row shows it: without its scheme and, on this machine, without its host. */
export function shortenUrl(url: string): string {
  return url.replace(/^https?:\/\//, '').replace(/^(?:127\.0\.0\.1|localhost)(?=:)/, '');
}

/** Writes each header in a line of its own. */
export function writeHeaders(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}

/** Says in one sentence what became of a delivery. */
export function summarise({ state, reason, attempts, nextAttemptAt }: Delivery): string {
  const last = attempts.at(-1);
  if (state === 'delivered') return `The receiver answered ${attempts.find(({ error }) => error === null)?.status}.`;
  const parts = [last?.error, reason === last?.error ? null : reason];
  const text = parts.filter((part) => part !== null && part !== undefined).join(' ');
  if (text !== '') return text;
  return nextAttemptAt === null
    ? 'It is being sent, or waits until the one before it has been sent.'
    : 'It has not been sent yet.';
}

const MAX_ANSWER_LENGTH = 80;

/** Says how an attempt failed: the answer with the start of its body, or why there was no answer. */
function describeFailure({ status, error, responseBody }: Attempt): string {
  if (status === null) return `not answered: ${error}`;
  const answer = responseBody.trim().replace(/\s+/g, ' ');
  const excerpt = answer.length > MAX_ANSWER_LENGTH ? `${answer.slice(0, MAX_ANSWER_LENGTH)}…` : answer;
  return excerpt === '' ? `answered ${status}.` : `answered ${status}: ${excerpt}`;
}

/** Says how earlier attempts failed. An attempt that failed in the same way as the newest attempt is left out. */
export function explainEarlier({ attempts }: Delivery): string[] {
  const newest = attempts.at(-1);
  const numbersByFailure = new Map<string, string[]>();
  for (const [index, attempt] of attempts.entries()) {
    if (attempt.error === null) continue;
    const failure = describeFailure(attempt);
    numbersByFailure.set(failure, [...(numbersByFailure.get(failure) ?? []), String(index + 1)]);
  }
  if (newest) numbersByFailure.delete(describeFailure(newest));
  return [...numbersByFailure].map(([failure, numbers]) => {
    const list = numbers.join(', ').replace(/, (?=\d+$)/, ' and ');
    const [subject, verb] = numbers.length === 1 ? ['attempt', 'was'] : ['attempts', 'were'];
    return `Earlier: ${subject} ${list} ${verb} ${failure}`;
  });
}

const REFUSED = 'Receivers answer like this if the signature does not verify, or if they need a login.';
const NOT_ACCEPTED =
  'The receiver did not accept the body, or the signature did not verify. Its answer below may say why.';

/**
 * What to do about a failure, and whether the signature may be its cause. The pattern is for the status of the answer
 * or, if there was no answer, for the error.
 */
const CAUSES: readonly (readonly [pattern: RegExp, advice: string, isAboutSignature?: boolean])[] = [
  [/^40[13]$/, REFUSED, true],
  [/^4(?:00|22)$/, NOT_ACCEPTED, true],
  [/^40[45]$/, 'The receiver has no handler for POST at this URL. Compare the URL of the webhook with its routes.'],
  [/^3\d\d$/, 'Give the webhook the URL to which the redirect leads.'],
  [/^429$/, 'The receiver limits the rate of its requests.'],
  [/^5\d\d$/, 'The receiver has failed. Its own log has the cause.'],
  [/ECONNREFUSED/, 'No program listens at this URL. Start the receiver, or correct the port.'],
  [/ENOTFOUND|EAI_AGAIN/, 'The host name of the URL is unknown.'],
  [/did not respond within/, 'Answer first, and do long work afterwards.'],
];

/** Returns what may have caused the failure of an attempt; `undefined` after a success or an unusual failure. */
export function causeOf({ status, error }: Attempt) {
  const found = error === null ? undefined : CAUSES.find(([pattern]) => pattern.test(String(status ?? error)));
  return found && { advice: found[1], isAboutSignature: found[2] ?? false };
}

/** A delivery with its attempts. */
export type Delivery = ReplyTo<'getDelivery'>;

/** One attempt of a delivery. */
export type Attempt = Delivery['attempts'][number];

/** A webhook with its secret. */
export type Webhook = ReplyTo<'listWebhookSettings'>['webhooks'][number];

/** What the view of webhooks shows. */
export type DeliveryListProps = { deliveries: readonly Delivery[]; webhooks: readonly Webhook[]; route: Route };
