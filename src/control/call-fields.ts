import { z } from 'zod';
import { DURATION_RULE, isDuration, isShortWait, readDuration } from '../basics/duration.ts';
import { lazy } from '../basics/lazy-schema.ts';

// The schemas of fields that several control calls have.

/** The id of a tenant, in a control call. */
export const tenantField = lazy(() => z.guid('must be the UUID of a tenant').toLowerCase());

/** A `Date`, such as `clock.now()` returns. Parsing converts it to a text in ISO 8601. */
export const dateField = lazy(() => z.date().transform((date) => date.toISOString()));

/** The id of a webhook, in a control call. */
export const webhookField = lazy(() => z.guid('must be the UUID of a webhook').toLowerCase());

/** The maximum of the number of events or deliveries in a control call. */
export const MAX_COUNT = 1_000_000;

/** A whole number in the body of a control call. */
export function wholeNumber(least: number, most: number) {
  const rule = `must be a whole number from ${least} to ${most}`;
  return z.int(rule).min(least, rule).max(most, rule);
}

/** The schema of a duration in the body of a control call. */
export const durationField = lazy(() =>
  z.union([z.string(), z.number()], DURATION_RULE).refine(isDuration, DURATION_RULE),
);

/** The schema of a duration above 0. */
export const spanField = lazy(() =>
  durationField().refine((duration) => readDuration(duration) !== 0, 'must be longer than 0'),
);

/** The schema of the longest time that a call may wait, in real time. */
export const timeoutField = lazy(() => durationField().refine(isShortWait, 'must be at most 1h'));
