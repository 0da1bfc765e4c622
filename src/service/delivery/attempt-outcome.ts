import type { BehaviourValues } from '../../contract/behaviours.ts';
import { type Clock, parseDuration } from '../../world/clock.ts';
import type { AttemptResult } from './attempt-sender.ts';
import type { DeliveryState } from './delivery.ts';

/** The effect of an attempt on its delivery. */
export interface AttemptOutcome {
  readonly state: DeliveryState;
  readonly reason: string | null;
  /** When the next attempt is due; left out if this attempt is the last. */
  readonly nextAt?: Date;
  /** Whether the receiver answered 410, so that its webhook is deactivated. */
  readonly isGone?: true;
}

const DELIVERED: AttemptOutcome = { state: 'delivered', reason: null };

const LAST_FAILED: AttemptOutcome = { state: 'exhausted', reason: 'Its last attempt failed.' };

const GONE: AttemptOutcome = {
  state: 'exhausted',
  reason: 'The receiver answered 410, so its webhook is not active any more.',
  isGone: true,
};

/** Decides the outcome of an attempt; `failures` counts the failed attempts in a row, including this one. */
export function outcomeOf(
  { status, error, isRefused, responseHeaders }: AttemptResult,
  failures: number,
  clock: Clock,
  behaviours: BehaviourValues,
): AttemptOutcome {
  if (error === null) return DELIVERED;
  if (isRefused) return { state: 'refused', reason: error };
  if (status === 410 && behaviours['deliveries.gone'] === 'deactivates') return GONE;
  const nextAt = nextAttemptAt(failures, responseHeaders['retry-after'], clock.now(), behaviours);
  return nextAt ? { state: 'pending', reason: null, nextAt } : LAST_FAILED;
}

/** The delays after each failed attempt in a row; after the last one, a delivery is exhausted. */
const STEPS_MS: Record<BehaviourValues['deliveries.retry'], readonly number[]> = {
  'standard-webhooks': ['5s', '5m', '30m', '2h', '5h', '10h', '14h', '20h', '24h'].map(parseDuration),
  never: [],
};

/** The longest delay that `Retry-After` can request. */
const MAX_RETRY_AFTER_MS = parseDuration('24h');

/** Returns when the next attempt is due after this many failures; `undefined` if there is none. */
function nextAttemptAt(
  failures: number,
  retryAfter: string | undefined,
  now: Date,
  behaviours: BehaviourValues,
): Date | undefined {
  const stepMs = STEPS_MS[behaviours['deliveries.retry']][failures - 1];
  if (stepMs === undefined) return undefined;
  const requestedMs = behaviours['deliveries.retry-after'] === 'respected' ? readRetryAfterMs(retryAfter, now) : 0;
  return new Date(now.getTime() + Math.max(stepMs, requestedMs));
}

/** Parses `Retry-After`, in seconds or as an HTTP date; returns 0 for anything else. */
function readRetryAfterMs(retryAfter = '', now: Date): number {
  const text = retryAfter.trim();
  const date = /^\w{3,9},? .* GMT$/.test(text) ? Date.parse(text) : Number.NaN;
  const requestedMs = /^\d+$/.test(text) ? Number(text) * 1000 : date - now.getTime();
  return Number.isNaN(requestedMs) ? 0 : Math.min(Math.max(requestedMs, 0), MAX_RETRY_AFTER_MS);
}
