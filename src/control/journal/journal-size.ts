/** The most requests of each tenant that a journal can keep. */
const MAX_SIZE = 100_000;

/** A description of a valid size, as the end of an error message. */
export const JOURNAL_SIZE_RULE = `a whole number from 0 to ${MAX_SIZE}`;

/** Returns the size of a journal unchanged, or `undefined` if it is invalid. */
export function parseJournalSize(size: unknown): number | undefined {
  return Number.isInteger(size) && Number(size) >= 0 && Number(size) <= MAX_SIZE ? Number(size) : undefined;
}
