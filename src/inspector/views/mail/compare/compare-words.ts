/** A word of a text, and whether the other text has it at this place. */
export interface ComparedWord {
  readonly word: string;
  readonly isShared: boolean;
}

/** How many words may differ. Texts that differ more are not compared, because that takes long and shows nothing. */
const MAX_DIFFERENCES = 400;

/**
 * Compares two texts word by word, and returns the words of both, each marked if the other text does not have it at
 * this place; `undefined` if they differ too much. Line breaks and letter case do not count.
 */
export function compareWords(one: string, other: string): readonly [ComparedWord[], ComparedWord[]] | undefined {
  const [words, otherWords] = [wordsIn(one), wordsIn(other)];
  const pairs = findSharedWords(words.map(fold), otherWords.map(fold));
  if (!pairs) return undefined;
  const [shared, otherShared] = [new Set(pairs.map(([index]) => index)), new Set(pairs.map(([, index]) => index))];
  return [
    words.map((word, index) => ({ word, isShared: shared.has(index) })),
    otherWords.map((word, index) => ({ word, isShared: otherShared.has(index) })),
  ];
}

const wordsIn = (text: string) => text.match(/\S+/g) ?? [];

const fold = (word: string) => word.normalize('NFKC').toLowerCase();

/**
 * Returns the indexes of the words that two lists have in the same order: a longest common subsequence, by the
 * algorithm of Myers (1986). Each step allows one more difference.
 */
function findSharedWords(one: readonly string[], other: readonly string[]): [number, number][] | undefined {
  // `reached[k]` is how far of `one` a path gets whose index in `one` is by k greater than that in `other`.
  let reached = new Map([[1, 0]]);
  const steps: ReadonlyMap<number, number>[] = [];
  for (let differences = 0; differences <= MAX_DIFFERENCES; differences += 1) {
    steps.push(reached);
    reached = new Map(reached);
    for (let k = -differences; k <= differences; k += 2) {
      const [below = -1, above = -1] = [reached.get(k - 1), reached.get(k + 1)];
      let index = k === -differences || (k !== differences && below < above) ? above : below + 1;
      while (index < one.length && index - k < other.length && one[index] === other[index - k]) index += 1;
      reached.set(k, index);
      if (index >= one.length && index - k >= other.length) return followBack(steps, one.length, other.length);
    }
  }
  return undefined;
}

/** Follows the path of `findSharedWords` from its end, and returns the pairs of indexes that it shares. */
function followBack(steps: readonly ReadonlyMap<number, number>[], oneEnd: number, otherEnd: number) {
  const pairs: [number, number][] = [];
  let [index, otherIndex] = [oneEnd, otherEnd];
  for (let differences = steps.length - 1; differences >= 0; differences -= 1) {
    const reached = steps[differences] as ReadonlyMap<number, number>;
    const k = index - otherIndex;
    const [below = -1, above = -1] = [reached.get(k - 1), reached.get(k + 1)];
    const before = k === -differences || (k !== differences && below < above) ? k + 1 : k - 1;
    const start = reached.get(before) ?? 0;
    while (index > start && otherIndex > start - before && index > 0 && otherIndex > 0) {
      index -= 1;
      otherIndex -= 1;
      pairs.push([index, otherIndex]);
    }
    if (differences > 0) [index, otherIndex] = [start, start - before];
  }
  return pairs;
}
