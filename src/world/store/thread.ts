import type { FOLDERS } from '../../contract/query.ts';
import { addEntry, type Entry, removeEntry } from './entries.ts';
import type { MessageRow } from './rows.ts';

/** A folder of the tenant-wide list. */
export type Folder = (typeof FOLDERS)[number];

/** A list in which each thread may be shown as its latest message. */
export type GroupedList = Folder | 'visible';

type Test = (message: MessageRow) => boolean;

/** The lists that are kept for each inbox and can be grouped by thread: whether a message is in each. */
export const GROUPED_LISTS: Readonly<Record<GroupedList, Test>> = {
  visible: ({ deletedAt }) => deletedAt === null,
  inbox: ({ direction, isArchived, deletedAt }) => direction === 'inbound' && !isArchived && deletedAt === null,
  sent: ({ direction, isArchived, deletedAt }) => direction === 'outbound' && !isArchived && deletedAt === null,
  starred: ({ isStarred, deletedAt }) => isStarred && deletedAt === null,
  archived: ({ isArchived, deletedAt }) => isArchived && deletedAt === null,
  trash: ({ deletedAt }) => deletedAt !== null,
};

/** The lists that are kept for each inbox: whether a message is in each. */
export const MESSAGE_LISTS = {
  ...GROUPED_LISTS,
  inbound: ({ direction, deletedAt }) => direction === 'inbound' && deletedAt === null,
  outbound: ({ direction, deletedAt }) => direction === 'outbound' && deletedAt === null,
  unreadInbox: (message) => GROUPED_LISTS.inbox(message) && !message.isRead,
} satisfies Readonly<Record<string, Test>>;

/** A list of messages that is kept for each inbox. */
export type MessageList = keyof typeof MESSAGE_LISTS;

/** The times that are kept for each inbox, for metrics; null for a message that has no such time. */
export const MESSAGE_TIMES = {
  sent: ({ direction, receivedAt }: MessageRow) => (direction === 'outbound' ? receivedAt : null),
  received: ({ direction, receivedAt }: MessageRow) => (direction === 'inbound' ? receivedAt : null),
  bounced: ({ bouncedAt }: MessageRow) => bouncedAt,
};

/** A time of messages that is kept for each inbox. */
export type MessageTime = keyof typeof MESSAGE_TIMES;

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
