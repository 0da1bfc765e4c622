import type { Clock } from '../clock/clock.ts';
import type { Choices } from '../contract/behaviours.ts';
import type { DeliveryState } from './delivery.ts';
import type { MadeAttempt } from './make-attempt.ts';
import { nextAttemptAt } from './retry.ts';

/** What comes of an attempt for its delivery. */
export interface Outcome {
  readonly state: DeliveryState;
  readonly reason: string | null;
  /** When the next attempt is due; not there where this one is the last. */
  readonly nextAt?: Date;
  /** Whether the webhook is to be active no more. */
  readonly isGone?: true;
}

const DELIVERED: Outcome = { state: 'delivered', reason: null };

const LAST_FAILED: Outcome = { state: 'exhausted', reason: 'Its last attempt failed.' };

const GONE: Outcome = {
  state: 'exhausted',
  reason: 'The receiver answered 410, so its webhook is not active any more.',
  isGone: true,
};

/** Decides what comes of an attempt; `failures` is how many in a row have failed, if this one has. */
export function outcomeOf(
  { status, error, isRefused, responseHeaders }: MadeAttempt,
  failures: number,
  clock: Clock,
  choices: Choices,
): Outcome {
  if (error === null) return DELIVERED;
  if (isRefused) return { state: 'refused', reason: error };
  if (status === 410 && choices['deliveries.gone'] === 'deactivates') return GONE;
  const nextAt = nextAttemptAt(failures, responseHeaders['retry-after'], clock.now(), choices);
  return nextAt ? { state: 'pending', reason: null, nextAt } : LAST_FAILED;
}
