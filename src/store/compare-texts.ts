/** Compares two texts by their characters, for `sort`. Times of one form, such as ISO 8601 UTC, are in order then. */
export function compareTexts(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
