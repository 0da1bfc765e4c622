import { type Argument, CommandError, needText, parseSequence } from './argument.ts';
import { type Folder, type FolderWatcher, type Item, type ItemChange, indexOfUid } from './folder.ts';
import { type ImapInbox, SYSTEM_FLAGS } from './imap-inbox.ts';

/** The messages of a folder as one session knows them. Changes wait until a reply of the session may report them. */
export class FolderView implements FolderWatcher {
  /** The items in the order of their sequence numbers, which start with 1. */
  readonly items: Item[];
  /** The UID that the next message would have got when the session was last told of changes. */
  uidNext: number;
  /** The items that no session has shown before this one. They have the flag `\Recent`. */
  readonly recent = new Set<Item>();
  readonly #removed = new Set<Item>();
  readonly #changed = new Set<Item>();
  /** Whether the session has closed the folder, or has ended. */
  isClosed = false;
  /** How many of the keywords of the inbox the client knows. */
  #knownKeywords: number;

  constructor(
    readonly inbox: ImapInbox,
    readonly folder: Folder,
    readonly isReadOnly: boolean,
    readonly onChange: () => void,
  ) {
    this.items = [...folder.items];
    this.uidNext = folder.uidNext;
    this.#claimRecent(this.items);
    this.#knownKeywords = inbox.keywords.size;
    folder.watchers.add(this);
  }

  close(): void {
    this.isClosed = true;
    this.folder.watchers.delete(this);
  }

  changed(item: Item, change: ItemChange): void {
    if (change === 'removed') this.#removed.add(item);
    if (change === 'flags') this.#changed.add(item);
    this.onChange();
  }

  /** Drops a change of flags that the client knows already, so that no later reply reports it. */
  forgetChange(item: Item): void {
    this.#changed.delete(item);
  }

  /**
   * Returns the untagged replies that report all changes, one at a time. Without `mayExpunge`, EXPUNGE waits for a later
   * call. What changes after the call began is reported by a later one.
   */
  *takeUpdates(mayExpunge: boolean): Generator<string> {
    if (mayExpunge) yield* this.#expunge();
    yield* this.takeNewFlags();
    const changed = [...this.#changed];
    this.#changed.clear();
    const known = this.items.at(-1)?.uid ?? 0;
    const added = this.folder.items.slice(indexOfUid(this.folder.items, known + 1));
    this.uidNext = this.folder.uidNext;
    if (added.length > 0) {
      for (const item of added) this.items.push(item);
      this.#claimRecent(added);
      const [exists, recent] = [`${this.items.length} EXISTS`, `${this.recent.size} RECENT`];
      yield exists;
      yield recent;
    }
    for (const item of changed) {
      const number = this.numberOf(item);
      if (!item.isGone && number > 0) yield `${number} FETCH (UID ${item.uid} FLAGS ${this.writeFlags(item)})`;
    }
  }

  /** Returns the replies that name the flags of the folder, if the client does not know a keyword yet. */
  takeNewFlags(): string[] {
    return this.#knownKeywords === this.inbox.keywords.size ? [] : this.describeFlags();
  }

  /** Returns the replies that name the flags of the folder. */
  describeFlags(): string[] {
    this.#knownKeywords = this.inbox.keywords.size;
    const flags = [...SYSTEM_FLAGS, ...this.inbox.keywords.values()].join(' ');
    return [`FLAGS (${flags})`, `OK [PERMANENTFLAGS (${this.isReadOnly ? '' : `${flags} \\*`})] These flags are kept.`];
  }

  /** Returns the sequence number of an item; 0 if the client does not know it. */
  numberOf(item: Item): number {
    const index = indexOfUid(this.items, item.uid);
    return this.items[index] === item ? index + 1 : 0;
  }

  writeFlags(item: Item): string {
    return `(${[...this.inbox.flagsOf(item), ...(this.recent.has(item) ? ['\\Recent'] : [])].join(' ')})`;
  }

  /** Returns the items that a sequence set names. @throws {CommandError} for a number that no message has. */
  select(argument: Argument | undefined, isUid: boolean): Item[] {
    const last = isUid ? (this.items.at(-1)?.uid ?? 0) : this.items.length;
    const ranges = parseSequence(needText(argument, 'The sequence set'), last);
    if (!isUid && ranges.some(([from, to]) => from < 1 || to > last)) {
      throw new CommandError(`The folder has ${last} messages, and the sequence set names another one.`);
    }
    return ranges.flatMap(([from, to]) =>
      isUid
        ? this.items.slice(indexOfUid(this.items, from), indexOfUid(this.items, to + 1))
        : this.items.slice(from - 1, to),
    );
  }

  *#expunge(): Generator<string> {
    if (this.#removed.size === 0) return;
    const numbers = [...this.#removed].map((item) => this.numberOf(item)).filter((number) => number > 0);
    for (const item of this.#removed) this.recent.delete(item);
    const kept = this.items.filter((item) => !this.#removed.has(item));
    this.items.length = 0;
    for (const item of kept) this.items.push(item);
    this.#removed.clear();
    // Each number is that after the removals before it, so they are told from the last one on.
    for (const number of numbers.sort((a, b) => b - a)) yield `${number} EXPUNGE`;
  }

  #claimRecent(items: readonly Item[]): void {
    for (const item of items) if (item.uid >= this.folder.recentFrom) this.recent.add(item);
    if (!this.isReadOnly) this.folder.recentFrom = this.folder.uidNext;
  }
}
