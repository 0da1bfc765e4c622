import type { ReplyTo } from '../../../control/table/client.ts';
import type { Tone } from '../../parts.tsx';

/** What is shown about the state of a delivery. */
export interface StateMark {
  readonly text: string;
  /** Its colour. */
  readonly tone: Tone;
}

const MARKS: Readonly<Record<Delivery['state'], StateMark>> = {
  pending: { text: 'Pending', tone: 'plain' },
  held: { text: 'Held', tone: 'warn' },
  delivered: { text: 'Delivered', tone: 'good' },
  exhausted: { text: 'Failed', tone: 'bad' },
  dropped: { text: 'Dropped', tone: 'bad' },
  refused: { text: 'Refused', tone: 'bad' },
  failed: { text: 'Error of the emulator', tone: 'bad' },
};

/** A pending delivery that has failed before. */
const FAILING: StateMark = { text: 'Failing', tone: 'bad' };

/** What the marks say, in the order of the life of a delivery. */
export const MARK_TEXTS: readonly string[] = [...new Set([MARKS.pending, FAILING, ...Object.values(MARKS)])].map(
  ({ text }) => text,
);

/** Returns how the state of a delivery is shown. A pending one that has failed before is marked as such. */
export function markOf({ state, attempts }: Delivery): StateMark {
  return state === 'pending' && attempts.length > 0 ? FAILING : MARKS[state];
}

/** Says in one sentence what became of a delivery. */
export function summarise({ state, reason, attempts, nextAttemptAt }: Delivery): string {
  const last = attempts.at(-1);
  if (state === 'delivered') return `The receiver answered ${attempts.find(({ error }) => error === null)?.status}.`;
  const parts = [last?.error, reason === last?.error ? null : reason];
  const known = parts.filter((part) => part !== null && part !== undefined).join(' ');
  if (known !== '') return known;
  return nextAttemptAt === null
    ? 'It is being sent, or waits until the one before it has been sent.'
    : 'It has not been sent yet.';
}

const MAX_ANSWER_LENGTH = 80;

/** Says how an attempt was answered, or why not, with the start of what the receiver answered. */
function describeFailure({ status, error, responseBody }: Attempt): string {
  if (status === null) return `not answered: ${error}`;
  const answer = responseBody.trim().replace(/\s+/g, ' ');
  const start = answer.length > MAX_ANSWER_LENGTH ? `${answer.slice(0, MAX_ANSWER_LENGTH)}…` : answer;
  return start === '' ? `answered ${status}.` : `answered ${status}: ${start}`;
}

const numbersInWords = new Intl.ListFormat('en-GB');

/** Says how the attempts before the newest one failed, as far as they failed in another way than that one. */
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
    const [subject, verb] = numbers.length === 1 ? ['attempt', 'was'] : ['attempts', 'were'];
    return `Earlier: ${subject} ${numbersInWords.format(numbers)} ${verb} ${failure}`;
  });
}

/** What often causes a failure, and what to do about it. */
interface Cause {
  readonly applies: (attempt: Attempt) => boolean;
  readonly advice: string;
  /** Whether the signature may be the cause. */
  readonly isAboutSignature?: true;
}

const CAUSES: readonly Cause[] = [
  {
    applies: ({ status }) => status === 401 || status === 403,
    advice: 'Receivers answer like this if the signature does not verify, or if they need a login.',
    isAboutSignature: true,
  },
  {
    applies: ({ status }) => status === 400 || status === 422,
    advice: 'The receiver did not accept the body, or the signature did not verify. Its answer below may say why.',
    isAboutSignature: true,
  },
  {
    applies: ({ status }) => status === 404 || status === 405,
    advice: 'The receiver has no handler for POST at this URL. Compare the URL of the webhook with its routes.',
  },
  {
    applies: ({ status }) => status !== null && status >= 300 && status < 400,
    advice: 'Give the webhook the URL to which the redirect leads.',
  },
  { applies: ({ status }) => status === 429, advice: 'The receiver limits the rate of its requests.' },
  {
    applies: ({ status }) => status !== null && status >= 500,
    advice: 'The receiver has failed. Its own log has the cause.',
  },
  {
    applies: ({ error }) => /ECONNREFUSED/.test(error ?? ''),
    advice: 'No program listens at this URL. Start the receiver, or correct the port.',
  },
  { applies: ({ error }) => /ENOTFOUND|EAI_AGAIN/.test(error ?? ''), advice: 'The host name of the URL is unknown.' },
  {
    applies: ({ error }) => /did not respond within/.test(error ?? ''),
    advice: 'Answer first, and do long work afterwards.',
  },
];

/** Returns what may have caused the failure of an attempt; `undefined` after a success, and for anything unusual. */
export function causeOf(attempt: Attempt): Cause | undefined {
  return attempt.error === null ? undefined : CAUSES.find(({ applies }) => applies(attempt));
}

const encoder = new TextEncoder();

/** Returns the size of a text in UTF-8, in bytes. */
export function countBytes(text: string): number {
  return encoder.encode(text).length;
}

/** A delivery with its attempts. */
export type Delivery = ReplyTo<'getDelivery'>;

/** One attempt of a delivery. */
export type Attempt = Delivery['attempts'][number];

/** A webhook with its secret. */
export type Webhook = ReplyTo<'listWebhookSettings'>['webhooks'][number];
