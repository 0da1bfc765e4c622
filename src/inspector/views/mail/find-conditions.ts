/** A condition of a search for mail. */
interface Condition {
  /** As it is written, such as `from:"Dana Reyes"`. */
  readonly text: string;
  /** The search without it. */
  readonly rest: string;
}

/**
 * Matches a part of a search, as the emulator does: a field that needs a text, a field without one, a text in quotation
 * marks, which may contain what looks like a condition, or a word.
 */
const PART =
  /(from:|to:|subject:|inbox:|sandbox:)("[^"]*"?|\S+)|(has:attachment|is:unread|is:sample)(?!\S)|("[^"]*"|\S+)/gi;

/** Returns the conditions of a search for mail, each once. They have the form that the emulator knows. */
export function findConditions(search: string): Condition[] {
  const found = new Map<string, Condition>();
  for (const { 0: written, 4: word, index } of search.matchAll(PART)) {
    if (word !== undefined || found.has(written)) continue;
    const rest = search.slice(0, index) + search.slice(index + written.length);
    found.set(written, { text: written, rest: rest.replace(/\s+/g, ' ').trim() });
  }
  return [...found.values()];
}

/** A part of a search: a field such as `from:` or `is:sample`, or `text` for a word, and a text in lower case. */
export interface SearchTerm {
  readonly field: string;
  readonly text: string;
}

/** Splits a search for mail into its parts, all of which must match. */
export function parseTerms(search: string): SearchTerm[] {
  const parts = [...search.toLowerCase().matchAll(PART)];
  const terms = parts.map(([, field, fieldText, flag, word = '']) => ({
    field: field ?? flag ?? 'text',
    text: (fieldText ?? word).replaceAll('"', '').trim(),
  }));
  return terms.filter(({ field, text }) => text !== '' || !(field === 'text' || field.endsWith(':')));
}
