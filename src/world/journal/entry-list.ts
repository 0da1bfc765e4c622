import type { Entry, EntryKind } from './entry.ts';

/** The names of the numbers by which entries are found. In every list, entries are in the order of each of them. */
export type NumberName = 'order' | 'number' | 'feedNumber' | 'ownFeedNumber';

/** Stands for an entry that was removed from the middle of a list. It keeps only the numbers, for the search. */
type Hole = Pick<Entry, NumberName> & { readonly isHole: true };

/**
 * Entries of one kind, oldest first. Removing an entry leaves a hole, which is closed later, so that adding and removing
 * take the same time for any number of entries.
 */
class KindList {
  #slots: (Entry | Hole | undefined)[] = [];
  /** Before this index, all slots are empty. */
  #start = 0;
  #holes = 0;

  get size(): number {
    return this.#slots.length - this.#start - this.#holes;
  }

  /** The oldest entry. */
  get first(): Entry | undefined {
    return this.#slots[this.#start] as Entry | undefined;
  }

  add(entry: Entry): void {
    this.#slots.push(entry);
  }

  /** Returns the entries, oldest first. */
  all(): Entry[] {
    const entries: Entry[] = [];
    for (let index = this.#start; index < this.#slots.length; index += 1) {
      const slot = this.#slots[index];
      if (slot && !isHole(slot)) entries.push(slot);
    }
    return entries;
  }

  /** Returns the first entry whose number is larger. */
  after(name: NumberName, number: number): Entry | undefined {
    let index = this.#indexAfter(name, number);
    let slot = this.#slots[index];
    while (slot && isHole(slot)) {
      index += 1;
      slot = this.#slots[index];
    }
    return slot as Entry | undefined;
  }

  /** Removes an entry, and returns whether it was there. */
  remove(entry: Entry): boolean {
    const index = this.#indexAfter('order', entry.order - 1);
    if (this.#slots[index] !== entry) return false;
    const { order, number, feedNumber, ownFeedNumber } = entry;
    this.#slots[index] = { order, number, feedNumber, ownFeedNumber, isHole: true };
    this.#holes += 1;
    for (let slot = this.#slots[this.#start]; slot && isHole(slot); slot = this.#slots[this.#start]) {
      this.#slots[this.#start] = undefined;
      this.#start += 1;
      this.#holes -= 1;
    }
    if (this.#slots.length > 64 && this.size < this.#slots.length / 2) {
      this.#slots = this.all();
      this.#start = 0;
      this.#holes = 0;
    }
    return true;
  }

  /** Replaces an entry by another with the same numbers. */
  replace(entry: Entry): void {
    const index = this.#indexAfter('order', entry.order - 1);
    if (this.#slots[index]?.order === entry.order) this.#slots[index] = entry;
  }

  /** Returns the index of the first slot whose number is larger. */
  #indexAfter(name: NumberName, number: number): number {
    let [low, high] = [this.#start, this.#slots.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#slots[middle] as Entry | Hole)[name] <= number) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function isHole(slot: Entry | Hole): slot is Hole {
  return 'isHole' in slot;
}

/** Entries by their kind. */
export class EntryList {
  readonly #kinds = new Map<EntryKind, KindList>();

  add(entry: Entry): void {
    const list = this.#kinds.get(entry.kind) ?? new KindList();
    this.#kinds.set(entry.kind, list);
    list.add(entry);
  }

  /** Returns the kinds that have had entries. */
  kinds(): EntryKind[] {
    return [...this.#kinds.keys()];
  }

  /** How many entries of a kind there are. */
  size(kind: EntryKind): number {
    return this.#kinds.get(kind)?.size ?? 0;
  }

  /** Returns the oldest entry of a kind. */
  first(kind: EntryKind): Entry | undefined {
    return this.#kinds.get(kind)?.first;
  }

  /** Returns the entries of some kinds, oldest first. */
  of(kinds: readonly EntryKind[]): Entry[] {
    const lists = kinds.flatMap((kind) => this.#kinds.get(kind) ?? []);
    const [only] = lists;
    if (only && lists.length === 1) return only.all();
    return lists.flatMap((list) => list.all()).sort((one, other) => one.order - other.order);
  }

  /** Returns the first entry of some kinds whose number is larger. */
  after(kinds: readonly EntryKind[], name: NumberName, number: number): Entry | undefined {
    let first: Entry | undefined;
    for (const kind of kinds) {
      const found = this.#kinds.get(kind)?.after(name, number);
      if (found && (!first || found.order < first.order)) first = found;
    }
    return first;
  }

  /** Removes an entry, and returns whether it was there. */
  remove(entry: Entry): boolean {
    return this.#kinds.get(entry.kind)?.remove(entry) ?? false;
  }

  /** Replaces an entry by another with the same numbers. */
  replace(entry: Entry): void {
    this.#kinds.get(entry.kind)?.replace(entry);
  }
}
