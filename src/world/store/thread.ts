import { addEntry, type Entry, removeEntry } from './entries.ts';
import { GROUPED_LISTS, type GroupedList } from './indexes/message-lists.ts';
import type { MessageRow } from './rows.ts';

type MessageEntry = Entry<MessageRow>;

const LISTS = Object.keys(GROUPED_LISTS) as GroupedList[];

/** The thread of an inbox: its messages in order of insertion, deleted ones too, and what is counted of them. */
export class Thread {
  readonly #entries: MessageEntry[];
  /** For each list, the latest message that the thread has in it. */
  readonly latest: Partial<Record<GroupedList, MessageEntry>> = {};
  #unreadCount = 0;
  #visibleCount = 0;

  /** Creates the thread of one message, which `change` is yet to follow. */
  constructor(entry: MessageEntry) {
    // Most threads have one message, and a list that starts empty reserves memory for many.
    this.#entries = [entry];
  }

  /** The first message. */
  get first(): MessageRow {
    return this.#entries[0]?.row as MessageRow;
  }

  /** The last message. */
  get last(): MessageRow {
    return this.#entries.at(-1)?.row as MessageRow;
  }

  /** How many messages it has, deleted ones too. */
  get messageCount(): number {
    return this.#entries.length;
  }

  /** How many of its messages are neither read nor deleted. */
  get unreadCount(): number {
    return this.#unreadCount;
  }

  /** The first and the last message, deleted ones too; none if all are deleted, because lists then omit the thread. */
  get ends(): readonly [MessageEntry | undefined, MessageEntry | undefined] {
    return this.#visibleCount === 0 ? [undefined, undefined] : [this.#entries[0], this.#entries.at(-1)];
  }

  messages(): MessageRow[] {
    return this.#entries.map(({ row }) => row);
  }

  /** Follows a change of a message; `before` is undefined for a new one, and `after` for one that is removed. */
  change(entry: MessageEntry, before: MessageRow | undefined, after: MessageRow | undefined): void {
    if (!before && this.#entries[0] !== entry) addEntry(this.#entries, entry);
    if (!after) removeEntry(this.#entries, entry);
    this.#visibleCount += countVisible(after) - countVisible(before);
    this.#unreadCount += countUnread(after) - countUnread(before);
    for (const list of LISTS) this.#changeLatest(list, entry, after);
  }

  #changeLatest(list: GroupedList, entry: MessageEntry, after: MessageRow | undefined): void {
    const latest = this.latest[list];
    const isInList = GROUPED_LISTS[list];
    if (after && isInList(after)) {
      if (!latest || latest.position < entry.position) this.latest[list] = entry;
    } else if (latest === entry) {
      const next = this.#entries.findLast((other) => other !== entry && isInList(other.row));
      if (next) this.latest[list] = next;
      else delete this.latest[list];
    }
  }
}

function countVisible(message: MessageRow | undefined): number {
  return message?.deletedAt === null ? 1 : 0;
}

function countUnread(message: MessageRow | undefined): number {
  return message?.deletedAt === null && !message.isRead ? 1 : 0;
}
