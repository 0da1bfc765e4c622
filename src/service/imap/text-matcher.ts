/**
 * Looks for a text in a longer one that comes piece by piece. The work for a piece is in proportion to its length,
 * whatever is looked for (the algorithm of Knuth, Morris and Pratt); `includes` can take the product of both lengths.
 */
export class TextMatcher {
  isFound = false;
  readonly #wanted: string;
  /** Its first characters, which are looked for by `indexOf`, because that is many times as fast. */
  readonly #start: string;
  /** For each number of matching characters: how many of them match if the next one does not. */
  readonly #shorter: Uint32Array;
  /** How many characters of the wanted text the latest characters match. */
  #matching = 0;

  constructor(wanted: string) {
    this.#wanted = wanted;
    this.#start = wanted.slice(0, START_LENGTH);
    this.#shorter = new Uint32Array(wanted.length + 1);
    for (let index = 1, length = 0; index < wanted.length; index += 1) {
      while (length > 0 && wanted.charCodeAt(index) !== wanted.charCodeAt(length)) length = this.#shorter[length] ?? 0;
      if (wanted.charCodeAt(index) === wanted.charCodeAt(length)) length += 1;
      this.#shorter[index + 1] = length;
    }
  }

  reset(): void {
    this.isFound = false;
  }

  /** Reads the next piece of a text, or the first piece of another one. */
  read(piece: string, isFirst: boolean): void {
    if (this.isFound) return;
    const wanted = this.#wanted;
    const lastStart = piece.length - this.#start.length;
    let matching = isFirst ? 0 : this.#matching;
    for (let index = 0; index < piece.length && matching < wanted.length; index += 1) {
      if (matching === 0 && index <= lastStart) {
        const found = piece.indexOf(this.#start, index);
        index = found < 0 ? lastStart + 1 : found;
      }
      const code = piece.charCodeAt(index);
      while (matching > 0 && code !== wanted.charCodeAt(matching)) matching = this.#shorter[matching] ?? 0;
      if (code === wanted.charCodeAt(matching)) matching += 1;
    }
    this.isFound = matching === wanted.length;
    this.#matching = matching;
  }
}

/** The work of `indexOf` can be this number multiplied by the length of the text. */
const START_LENGTH = 6;
