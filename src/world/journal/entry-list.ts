import type { Entry, EntryNumbers } from './entry.ts';

/** The names of the numbers by which entries are found. In every list, entries are in the order of each of them. */
export type NumberName = keyof EntryNumbers;

/** Stands for an entry that was removed from the middle of a list. It keeps only the numbers, for the search. */
type Hole = EntryNumbers & { readonly isHole: true };

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
    const index = this.#indexAfter('mailboxNumber', entry.mailboxNumber - 1);
    if (this.#slots[index] !== entry) return false;
    const { mailboxNumber, ownerNumber, mailboxFeedNumber, ownerFeedNumber } = entry;
    this.#slots[index] = { mailboxNumber, ownerNumber, mailboxFeedNumber, ownerFeedNumber, isHole: true };
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

  /** Replaces an entry by another with the same numbers, and returns whether it was there. */
  replace(entry: Entry): boolean {
    const index = this.#indexAfter('mailboxNumber', entry.mailboxNumber - 1);
    const slot = this.#slots[index];
    if (slot?.mailboxNumber !== entry.mailboxNumber || isHole(slot)) return false;
    this.#slots[index] = entry;
    return true;
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

/** Returns the text by which an entry is found; undefined for an entry that nobody looks for. */
type KeyOf = (entry: Entry) => string | undefined;

/** Entries by their kind, and some also by a key. */
export class EntryList {
  readonly #kinds = new Map<string, KindList>();
  readonly #byKey = new Map<string, Entry[]>();
  readonly #keyOf: KeyOf;

  constructor(keyOf: KeyOf = () => undefined) {
    this.#keyOf = keyOf;
  }

  add(entry: Entry): void {
    const list = this.#kinds.get(entry.kind) ?? new KindList();
    this.#kinds.set(entry.kind, list);
    list.add(entry);
    const key = this.#keyOf(entry);
    if (key === undefined) return;
    const withKey = this.#byKey.get(key);
    if (withKey) withKey.push(entry);
    else this.#byKey.set(key, [entry]);
  }

  /** Returns the latest entry with a key whose number in the mailbox is smaller. */
  lastBefore(key: string, mailboxNumber: number): Entry | undefined {
    const withKey = this.#byKey.get(key) ?? [];
    return withKey[indexFrom(withKey, mailboxNumber) - 1];
  }

  /** Returns the kinds that have had entries. */
  kinds(): string[] {
    return [...this.#kinds.keys()];
  }

  /** How many entries of a kind there are. */
  size(kind: string): number {
    return this.#kinds.get(kind)?.size ?? 0;
  }

  /** Returns the oldest entry of a kind. */
  first(kind: string): Entry | undefined {
    return this.#kinds.get(kind)?.first;
  }

  /** Returns the entries of some kinds, oldest first. */
  of(kinds: readonly string[]): Entry[] {
    const lists = kinds.flatMap((kind) => this.#kinds.get(kind) ?? []);
    const [only] = lists;
    if (only && lists.length === 1) return only.all();
    return lists.flatMap((list) => list.all()).sort((one, other) => one.mailboxNumber - other.mailboxNumber);
  }

  /** Returns the first entry of some kinds whose number is larger. */
  after(kinds: readonly string[], name: NumberName, number: number): Entry | undefined {
    let first: Entry | undefined;
    for (const kind of kinds) {
      const found = this.#kinds.get(kind)?.after(name, number);
      if (found && (!first || found.mailboxNumber < first.mailboxNumber)) first = found;
    }
    return first;
  }

  /** Removes an entry, and returns whether it was there. */
  remove(entry: Entry): boolean {
    if (!this.#kinds.get(entry.kind)?.remove(entry)) return false;
    const key = this.#keyOf(entry);
    const withKey = this.#byKey.get(key ?? '');
    if (key === undefined || !withKey) return true;
    withKey.splice(indexFrom(withKey, entry.mailboxNumber), 1);
    if (withKey.length === 0) this.#byKey.delete(key);
    return true;
  }

  /** Replaces an entry by another with the same numbers and the same key, and returns whether it was there. */
  replace(entry: Entry): boolean {
    if (!this.#kinds.get(entry.kind)?.replace(entry)) return false;
    const key = this.#keyOf(entry);
    const withKey = this.#byKey.get(key ?? '');
    if (key !== undefined && withKey) withKey[indexFrom(withKey, entry.mailboxNumber)] = entry;
    return true;
  }
}

/** Returns the index of the first entry whose number in the mailbox is not smaller. */
function indexFrom(entries: readonly Entry[], mailboxNumber: number): number {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((entries[middle] as Entry).mailboxNumber < mailboxNumber) low = middle + 1;
    else high = middle;
  }
  return low;
}
