/** Chooses by a seed (mulberry32), so that what is made from it is the same each time. */
export class Choice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** Returns a whole number from 0, below this one. */
  number(below: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  }

  /** Returns one of some items. */
  of<Item>(items: readonly Item[]): Item {
    return items[this.number(items.length)] as Item;
  }
}
