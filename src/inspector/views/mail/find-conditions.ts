/** A condition of a search for mail. */
interface Condition {
  /** As it is written, such as `from:"Dana Reyes"`. */
  readonly text: string;
  /** The search without it. */
  readonly rest: string;
}

/** Matches a condition, or a text in quotation marks, which may contain what looks like a condition. */
const CONDITION =
  /((?:from|to|subject|inbox|sandbox):(?:"[^"]*"?|\S+)|(?:has:attachment|is:unread|is:sample)(?!\S))|"[^"]*"|\S+/gi;

/** Returns the conditions of a search for mail, each once. They have the form that the emulator knows. */
export function findConditions(search: string): Condition[] {
  const found = new Map<string, Condition>();
  for (const { 0: written, 1: condition, index } of search.matchAll(CONDITION)) {
    if (condition === undefined || found.has(condition)) continue;
    const rest = search.slice(0, index) + search.slice(index + written.length);
    found.set(condition, { text: condition, rest: rest.replace(/\s+/g, ' ').trim() });
  }
  return [...found.values()];
}
