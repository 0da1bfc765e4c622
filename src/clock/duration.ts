import ms, { type StringValue } from 'ms';
import { z } from 'zod';
import { ApiError } from '../contract/errors.ts';

/**
 * A span of time: milliseconds as a number, or a text of a number and its unit, such as `'250ms'`, `'30s'`, `'5m'`,
 * `'36h'` or `'3d'`. It is neither negative nor longer than 100 years.
 */
export type Duration = number | string;

/** The rule for a duration, for messages. */
const DURATION_RULE = 'must be milliseconds or a text such as 5m, 36h or 3d, up to 100 years';

/** A span of time as a field of what a test sends. */
export const durationField = z
  .union([z.string(), z.number()], DURATION_RULE)
  .refine((duration) => readDuration(duration) !== undefined, DURATION_RULE);

/**
 * Reads a span of time, in milliseconds.
 *
 * @throws {ApiError} VALIDATION_ERROR when it is none, or a negative one.
 */
export function parseDuration(duration: Duration): number {
  const durationMs = readDuration(duration);
  if (durationMs !== undefined) return durationMs;
  throw new ApiError('VALIDATION_ERROR', `The duration ${DURATION_RULE}.`);
}

/** Writes a span of time as a person does, such as `5m`. */
export function formatDuration(durationMs: number): string {
  return ms(durationMs);
}

/** The longest duration: a clock has to stay within the years that a timestamp can have. */
const MAX_DURATION_MS = 100 * 365.25 * 24 * 60 * 60 * 1000;

function readDuration(duration: Duration): number | undefined {
  const isText = typeof duration === 'string';
  const durationMs = isText && duration !== '' && duration.length <= 100 ? ms(duration as StringValue) : duration;
  const isSpan = typeof durationMs === 'number' && durationMs >= 0 && durationMs <= MAX_DURATION_MS;
  return isSpan ? Math.round(durationMs) : undefined;
}
