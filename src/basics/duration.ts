import ms, { type StringValue } from 'ms';

/**
 * A span of time: a number of milliseconds, or a text with a number and a unit, such as `'250ms'`, `'30s'`, `'5m'`,
 * `'36h'` or `'3d'`. It is at least 0 and at most 100 years.
 */
export type Duration = number | string;

/** The rule for a duration, for error messages. */
export const DURATION_RULE = 'must be milliseconds or a text such as 5m, 36h or 3d, up to 100 years';

/** Formats milliseconds as a short text such as `5m`. */
export function formatDuration(durationMs: number): string {
  return ms(durationMs);
}

/** The longest duration, so that the time of a clock stays within the range of timestamps. */
const MAX_DURATION_MS = 100 * 365.25 * 24 * 60 * 60 * 1000;

/** Converts a duration to milliseconds; returns `undefined` if it is invalid, negative or too long. */
export function readDuration(duration: Duration): number | undefined {
  const isText = typeof duration === 'string';
  const durationMs = isText && duration !== '' && duration.length <= 100 ? ms(duration as StringValue) : duration;
  const isValid = typeof durationMs === 'number' && durationMs >= 0 && durationMs <= MAX_DURATION_MS;
  return isValid ? Math.round(durationMs) : undefined;
}

/** Returns whether a value is a valid duration. */
export function isDuration(value: unknown): value is Duration {
  return (typeof value === 'string' || typeof value === 'number') && readDuration(value) !== undefined;
}

/** The longest time for which a call may wait. A longer wait is probably a mistake, and would block a connection. */
const MAX_WAIT_MS = 60 * 60 * 1000;

/** Returns whether a call may wait for this time. Returns true for an invalid duration, which other checks refuse. */
export function isShortWait(duration: Duration): boolean {
  return (readDuration(duration) ?? 0) <= MAX_WAIT_MS;
}
