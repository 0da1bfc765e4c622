const MAX_SUGGESTIONS = 5;

/** The minimum length of a text that is searched for inside names. A shorter one is contained in too many names. */
const MIN_PART_LENGTH = 3;

/** Maximum share of wrong letters in a similar name. */
const MAX_WRONG_SHARE = 0.34;

/**
 * Finds the names that are similar to an unknown name or contain it, the most similar first.
 */
export function findNearest(text: string, names: readonly string[]): string[] {
  // Comparing long texts is slow.
  if (text.length > 100) return [];
  const wanted = text.toLowerCase();
  const isPart = (name: string) => wanted.length >= MIN_PART_LENGTH && name.includes(wanted);
  return names
    .map((name) => ({ name, lower: name.toLowerCase() }))
    .map(({ name, lower }) => ({ name, distance: distanceBetween(wanted, lower), isPart: isPart(lower) }))
    .filter(
      ({ name, distance, isPart }) => isPart || distance <= MAX_WRONG_SHARE * Math.max(wanted.length, name.length),
    )
    .sort((one, other) => one.distance - other.distance)
    .slice(0, MAX_SUGGESTIONS)
    .map(({ name }) => name);
}

/** Returns the number of letters to add, remove, replace or swap that turns one text into the other. */
function distanceBetween(one: string, other: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row += 1) {
    const next = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      next.push(
        Math.min(
          at(last, column - 1) + (isSame ? 0 : 1),
          at(next, column - 1) + 1,
          at(last, column) + 1,
          isSwapped ? at(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    [beforeLast, last] = [last, next];
  }
  return at(last, other.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}

/** Names of fields of a mail in other services, if they are not similar to the names here. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  body: 'plainBody',
  text: 'plainBody',
  content: 'plainBody',
  message: 'plainBody',
};

/** Returns the known names that may be meant by an unknown one as `; did you mean a, b?`; empty if there are none. */
export function didYouMean(name: string, known: readonly string[]): string {
  const other = Object.hasOwn(OTHER_NAMES, name) ? OTHER_NAMES[name] : undefined;
  const near = other !== undefined && known.includes(other) ? [other] : findNearest(name, known);
  return near.length > 0 ? `; did you mean ${near.join(', ')}?` : '';
}
