const MAX_SUGGESTIONS = 5;

/** The minimum length of a text that is searched for inside names. A shorter text is contained in too many names. */
const MIN_PART_LENGTH = 3;

/** A name is similar if at most this share of its letters is different. */
const MAX_DIFFERENT_SHARE = 0.34;

/**
 * Finds the names that are similar to an unknown name or contain it, the most similar first.
 */
export function findSimilarNames(text: string, names: readonly string[]): string[] {
  // Comparing long texts is slow.
  if (text.length > 100) return [];
  const wanted = text.toLowerCase();
  const containsWanted = (name: string) => wanted.length >= MIN_PART_LENGTH && name.includes(wanted);
  const maxDistance = (name: string) => MAX_DIFFERENT_SHARE * Math.max(wanted.length, name.length);
  return names
    .map((name) => ({ name, lower: name.toLowerCase() }))
    .map(({ name, lower }) => ({ name, lower, distance: editDistance(wanted, lower) }))
    .filter(({ lower, distance }) => containsWanted(lower) || distance <= maxDistance(lower))
    .sort((one, other) => one.distance - other.distance)
    .slice(0, MAX_SUGGESTIONS)
    .map(({ name }) => name);
}

/**
 * Returns the edit distance of two texts: how many letters must be added, removed, replaced or swapped with the next
 * letter to turn one text into the other.
 */
function editDistance(one: string, other: string): number {
  let rowBeforeLast: number[] = [];
  let lastRow = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row += 1) {
    const nextRow = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      nextRow.push(
        Math.min(
          distanceAt(lastRow, column - 1) + (isSame ? 0 : 1),
          distanceAt(nextRow, column - 1) + 1,
          distanceAt(lastRow, column) + 1,
          isSwapped ? distanceAt(rowBeforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    [rowBeforeLast, lastRow] = [lastRow, nextRow];
  }
  return distanceAt(lastRow, other.length);
}

/** Returns the distance in a column of a row; infinite outside of the row. */
function distanceAt(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}

/**
 * What other services call a field of a mail, and the name of the field in this service. Names that are similar to the
 * name in this service need no entry, because `findSimilarNames` finds them.
 */
const NAMES_IN_OTHER_SERVICES: Readonly<Record<string, string>> = {
  body: 'plainBody',
  text: 'plainBody',
  content: 'plainBody',
  message: 'plainBody',
};

/** Finds the known fields that are similar to an unknown field, or have the same meaning in another service. */
export function findSimilarFields(name: string, known: readonly string[]): string[] {
  const nameHere = Object.hasOwn(NAMES_IN_OTHER_SERVICES, name) ? NAMES_IN_OTHER_SERVICES[name] : undefined;
  return nameHere !== undefined && known.includes(nameHere) ? [nameHere] : findSimilarNames(name, known);
}

/** Returns `; did you mean a, b?` with the known names that are similar to a name, or an empty text without any. */
export function didYouMean(name: string, known: readonly string[]): string {
  const near = findSimilarFields(name, known);
  return near.length > 0 ? `; did you mean ${near.join(', ')}?` : '';
}
