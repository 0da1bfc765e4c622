import { countStart } from '../store/entries.ts';
import type { Entry, EntryKind } from './entry.ts';

/** The names of the numbers by which entries are found. In every list, entries are in the order of each of them. */
export type NumberName = 'order' | 'number' | 'feedNumber' | 'ownFeedNumber';

/**
 * Entries of one kind, oldest first. Removing an entry leaves a hole, which is closed later, so that adding and removing
 * take the same time for any number of entries.
 */
class KindList {
  #slots: { readonly entry: Entry; isRemoved: boolean }[] = [];
  #start = 0;
  #removed = 0;

  get size(): number {
    return this.#slots.length - this.#start - this.#removed;
  }

  add(entry: Entry): void {
    this.#slots.push({ entry, isRemoved: false });
  }

  /** Returns the entries, oldest first. */
  all(): Entry[] {
    const entries: Entry[] = [];
    for (let index = this.#start; index < this.#slots.length; index += 1) {
      const slot = this.#slots[index];
      if (slot && !slot.isRemoved) entries.push(slot.entry);
    }
    return entries;
  }

  /** Returns the first entry whose number is larger. */
  after(name: NumberName, number: number): Entry | undefined {
    let index = Math.max(
      this.#start,
      countStart(this.#slots, ({ entry }) => entry[name] <= number),
    );
    while (this.#slots[index]?.isRemoved) index += 1;
    return this.#slots[index]?.entry;
  }

  /** Removes an entry, and returns whether it was there. */
  remove({ order }: Entry): boolean {
    const slot = this.#slots[countStart(this.#slots, ({ entry }) => entry.order < order)];
    if (slot?.entry.order !== order || slot.isRemoved) return false;
    slot.isRemoved = true;
    this.#removed += 1;
    while (this.#slots[this.#start]?.isRemoved) {
      this.#start += 1;
      this.#removed -= 1;
    }
    if (this.#slots.length > 64 && this.size < this.#slots.length / 2) {
      this.#slots = this.#slots.slice(this.#start).filter(({ isRemoved }) => !isRemoved);
      this.#start = 0;
      this.#removed = 0;
    }
    return true;
  }

  /** Replaces an entry by another with the same numbers. */
  replace(entry: Entry): void {
    const index = countStart(this.#slots, (slot) => slot.entry.order < entry.order);
    if (this.#slots[index]?.entry.order === entry.order) this.#slots[index] = { entry, isRemoved: false };
  }

  get first(): Entry | undefined {
    return this.#slots[this.#start]?.entry;
  }
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
