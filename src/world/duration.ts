import ms, { type StringValue } from 'ms';
import { z } from 'zod';
import { lazy } from '../basics/lazy.ts';
import { ApiError } from '../contract/errors.ts';

/**
 * A span of time: a number of milliseconds, or a text with a number and a unit, such as `'250ms'`, `'30s'`, `'5m'`,
 * `'36h'` or `'3d'`. It is at least 0 and at most 100 years.
 */
export type Duration = number | string;

/** The rule for a duration, for error messages. */
const DURATION_RULE = 'must be milliseconds or a text such as 5m, 36h or 3d, up to 100 years';

/** The schema of a duration in the body of a control call. */
export const durationField = lazy(() =>
  z
    .union([z.string(), z.number()], DURATION_RULE)
    .refine((duration) => readDuration(duration) !== undefined, DURATION_RULE),
);

/** The schema of a duration above 0. */
export const spanField = lazy(() =>
  durationField().refine((duration) => readDuration(duration) !== 0, 'must be longer than 0'),
);

/** The longest time for which a call may wait, so that a mistake does not hold its connection for ever. */
const MAX_WAIT_MS = 60 * 60 * 1000;

/** The schema of the maximum waiting time of a call, in real time. */
export const timeoutField = lazy(() =>
  durationField().refine((duration) => (readDuration(duration) ?? 0) <= MAX_WAIT_MS, 'must be at most 1h'),
);

/**
 * Converts a duration to milliseconds.
 *
 * @throws {ApiError} VALIDATION_ERROR on an invalid, negative or too long duration.
 */
export function parseDuration(duration: Duration): number {
  const durationMs = readDuration(duration);
  if (durationMs !== undefined) return durationMs;
  throw new ApiError('VALIDATION_ERROR', `The duration ${DURATION_RULE}.`);
}

/** Formats milliseconds as a short text such as `5m`. */
export function formatDuration(durationMs: number): string {
  return ms(durationMs);
}

/** The longest duration, so that the time of a clock stays within the range of timestamps. */
const MAX_DURATION_MS = 100 * 365.25 * 24 * 60 * 60 * 1000;

function readDuration(duration: Duration): number | undefined {
  const isText = typeof duration === 'string';
  const durationMs = isText && duration !== '' && duration.length <= 100 ? ms(duration as StringValue) : duration;
  const isSpan = typeof durationMs === 'number' && durationMs >= 0 && durationMs <= MAX_DURATION_MS;
  return isSpan ? Math.round(durationMs) : undefined;
}
