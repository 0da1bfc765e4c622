import { wordsOf } from './text.tsx';

/** What a search can find. */
export interface Findable {
  /** The text by which a person knows it. */
  readonly title: string;
  /** Other texts in which the words may be. */
  readonly details: string;
  /** Whether the emulator found it by this search, perhaps by a text that the page does not have. */
  readonly isFound?: boolean;
}

/**
 * Returns the items that have every word of a search, in any order, the best first: those whose title has the words as
 * they were typed or begins with one of them, then those whose title has words that begin so, then all others. Equally
 * good items keep their order. An empty search finds all.
 */
export function findItems<Item extends Findable>(items: readonly Item[], search: string): Item[] {
  const words = wordsOf(search);
  return items
    .map((item) => ({ item, rank: rankOf(item, words) }))
    .filter(({ rank }) => rank > 0)
    .sort((one, other) => other.rank - one.rank)
    .map(({ item }) => item);
}

/** Returns how good an item is; 0 if it lacks a word. */
function rankOf({ title, details, isFound = false }: Findable, words: readonly string[]): number {
  const lowerTitle = title.toLowerCase();
  const lowerDetails = details.toLowerCase();
  const phrase = words.join(' ');
  let rank = lowerTitle === phrase ? 5 : 1;
  for (const word of words) {
    if (lowerTitle.startsWith(word)) rank += 4;
    else if (hasWordThatBegins(lowerTitle, word)) rank += 3;
    else if (lowerTitle.includes(word)) rank += 2;
    else if (lowerDetails.includes(word)) rank += 1;
    else if (!isFound) return 0;
  }
  return words.length > 1 && lowerTitle.includes(phrase) ? rank + 3 : rank;
}

function hasWordThatBegins(text: string, start: string): boolean {
  for (let at = text.indexOf(start); at >= 0; at = text.indexOf(start, at + 1)) {
    if (at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1] ?? '')) return true;
  }
  return false;
}
