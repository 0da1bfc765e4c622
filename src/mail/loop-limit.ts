/** The highest limit. */
const MAX_LIMIT = 1_000_000;

/** A description of a valid limit, as the end of an error message. */
export const LOOP_LIMIT_RULE = `a whole number from 1 to ${MAX_LIMIT}`;

/** Returns the number of mails that two addresses may exchange unchanged, or `undefined` if it is invalid. */
export function parseLoopLimit(limit: unknown): number | undefined {
  return Number.isInteger(limit) && Number(limit) >= 1 && Number(limit) <= MAX_LIMIT ? Number(limit) : undefined;
}
