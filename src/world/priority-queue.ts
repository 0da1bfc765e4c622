/** An item of a queue, with its rank and its index in the tree. */
interface Entry<Item> {
  readonly item: Item;
  readonly rank: number;
  /** The first entry that was added has 1, the second 2, and so on. It decides between entries with the same rank. */
  readonly order: number;
  index: number;
}

/**
 * A list of items, sorted by their ranks, the smallest first. Items with the same rank stay in the order in which they
 * were added. The list is a binary heap, so that adding and removing take about as long for many items as for few.
 */
export class PriorityQueue<Item> {
  readonly #tree: Entry<Item>[] = [];
  readonly #entries = new Map<Item, Entry<Item>>();
  #added = 0;

  /** The first item. */
  get first(): Item | undefined {
    return this.#tree[0]?.item;
  }

  /** Returns the first item other than this one. */
  firstExcept(item: Item | undefined): Item | undefined {
    const root = this.#tree[0];
    return root && root.item === item ? this.#childOf(root)?.item : root?.item;
  }

  get size(): number {
    return this.#tree.length;
  }

  /** Adds an item, unless the queue has it already. */
  add(item: Item, rank = 0): void {
    if (this.#entries.has(item)) return;
    this.#added += 1;
    const entry = { item, rank, order: this.#added, index: this.#tree.length };
    this.#entries.set(item, entry);
    this.#tree.push(entry);
    this.#siftUp(entry);
  }

  /** Removes and returns the first item. */
  take(): Item | undefined {
    const entry = this.#tree[0];
    if (entry) this.remove(entry.item);
    return entry?.item;
  }

  /** Removes an item. Returns whether the queue had it. */
  remove(item: Item): boolean {
    const entry = this.#entries.get(item);
    const last = entry && this.#tree.pop();
    if (!entry || !last) return false;
    this.#entries.delete(item);
    if (last === entry) return true;
    this.#put(last, entry.index);
    this.#siftUp(last);
    this.#siftDown(last);
    return true;
  }

  #put(entry: Entry<Item>, index: number): void {
    this.#tree[index] = entry;
    entry.index = index;
  }

  #swap(one: Entry<Item>, other: Entry<Item>): void {
    const { index } = one;
    this.#put(one, other.index);
    this.#put(other, index);
  }

  #siftUp(entry: Entry<Item>): void {
    for (let parent = this.#parentOf(entry); parent && isBefore(entry, parent); parent = this.#parentOf(entry)) {
      this.#swap(entry, parent);
    }
  }

  #siftDown(entry: Entry<Item>): void {
    for (let child = this.#childOf(entry); child && isBefore(child, entry); child = this.#childOf(entry)) {
      this.#swap(entry, child);
    }
  }

  #parentOf({ index }: Entry<Item>): Entry<Item> | undefined {
    return index === 0 ? undefined : this.#tree[(index - 1) >>> 1];
  }

  /** Returns the child with the lower rank; `undefined` if there are no children. */
  #childOf({ index }: Entry<Item>): Entry<Item> | undefined {
    const [one, other] = [this.#tree[2 * index + 1], this.#tree[2 * index + 2]];
    return one && other && isBefore(other, one) ? other : one;
  }
}

function isBefore<Item>(one: Entry<Item>, other: Entry<Item>): boolean {
  return one.rank === other.rank ? one.order < other.order : one.rank < other.rank;
}
