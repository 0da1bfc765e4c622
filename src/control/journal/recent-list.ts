/** The most recent items of a list. Positions count all items since the list was created, also those that are gone. */
export class RecentList<Item> {
  readonly #limit: number;
  readonly #items: Item[] = [];
  #end = 0;

  /** Creates an empty list that keeps at most `limit` items. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The position behind the newest item. */
  get end(): number {
    return this.#end;
  }

  /** The position of the oldest item that is kept. */
  get start(): number {
    return Math.max(0, this.#end - this.#limit);
  }

  push(item: Item): void {
    this.#items[this.#end % this.#limit] = item;
    this.#end += 1;
  }

  /** Returns the item at a position; `undefined` if it is not kept. */
  at(position: number): Item | undefined {
    return position >= this.start && position < this.#end ? this.#items[position % this.#limit] : undefined;
  }

  /** Returns the items that are kept, oldest first. */
  all(): Item[] {
    const split = this.#end > this.#limit ? this.#end % this.#limit : 0;
    return [...this.#items.slice(split), ...this.#items.slice(0, split)];
  }
}
