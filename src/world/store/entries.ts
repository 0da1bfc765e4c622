/** A row with its place in the order of insertion. An update replaces `row`, so that lists can keep the same entry. */
export interface Entry<Row> {
  /** A number that is larger than the position of every entry that was inserted before. */
  readonly position: number;
  row: Row;
}

/** A list from which parts can be read, each as an array. */
export interface SliceableList<Item> {
  readonly length: number;
  slice(from: number, to: number): Item[];
}

/**
 * Returns how many items at the start of a list pass a test. The list must be sorted so that no item after the first
 * failing item passes.
 */
export function countStart<Item>(items: readonly Item[], passes: (item: Item) => boolean): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (passes(items[middle] as Item)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function countBefore(entries: readonly Entry<unknown>[], position: number): number {
  return countStart(entries, (entry) => entry.position < position);
}

/** Adds an entry to a list that is in order of insertion. */
export function addEntry<Row>(entries: Entry<Row>[], entry: Entry<Row>): void {
  entries.splice(countBefore(entries, entry.position), 0, entry);
}

/** Removes an entry from a list that is in order of insertion. The list must contain the entry. */
export function removeEntry<Row>(entries: Entry<Row>[], entry: Entry<Row>): void {
  entries.splice(countBefore(entries, entry.position), 1);
}

/** Merges lists into one, in order of insertion. Reading a part of the result does not take longer for longer lists. */
export function mergeEntries<Row>(lists: readonly (readonly Entry<Row>[])[]): SliceableList<Entry<Row>> {
  return {
    length: lists.reduce((sum, { length }) => sum + length, 0),
    slice(from, to) {
      const position = findPosition(lists, from);
      const candidates = lists.flatMap((list) => {
        const start = countBefore(list, position);
        return list.slice(start, start + Math.max(to - from, 0));
      });
      return candidates.sort((one, other) => one.position - other.position).slice(0, to - from);
    },
  };
}

/** Finds the lowest position before which there are at least `count` entries. Each position has at most one entry. */
function findPosition(lists: readonly (readonly Entry<unknown>[])[], count: number): number {
  let [low, high] = [0, Math.max(0, ...lists.map((list) => (list.at(-1)?.position ?? -1) + 1))];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (lists.reduce((sum, list) => sum + countBefore(list, middle), 0) < count) low = middle + 1;
    else high = middle;
  }
  return low;
}
