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
 * they were typed, then those whose title has them as whole words, then those with words that begin so, then all
 * others. Equally good items keep their order. An empty search finds all.
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
    const place = placeOf(lowerTitle, word);
    if (place !== 'nowhere') rank += RANKS[place];
    else if (lowerDetails.includes(word)) rank += 1;
    else if (!isFound) return 0;
  }
  return words.length > 1 && lowerTitle.includes(phrase) ? rank + 5 : rank;
}

/** How good a word in a title is, by its place: a whole word is better than any part of one. */
const RANKS = { 'first word': 8, word: 7, start: 4, 'start of a word': 3, inside: 2 } as const;

function placeOf(text: string, word: string): keyof typeof RANKS | 'nowhere' {
  let best: keyof typeof RANKS | 'nowhere' = 'nowhere';
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const isStart = !isLetter(text[at - 1]);
    const isWhole = isStart && !isLetter(text[at + word.length]);
    if (isWhole) return at === 0 ? 'first word' : 'word';
    if (at === 0) best = 'start';
    else if (best !== 'start') best = isStart ? 'start of a word' : best === 'nowhere' ? 'inside' : best;
  }
  return best;
}

const isLetter = (letter: string | undefined) => letter !== undefined && /[\p{L}\p{N}]/u.test(letter);
