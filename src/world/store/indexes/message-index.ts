import { type Folder, IN_FOLDER } from '../../../contract/mail-folders.ts';
import { addEntry, countStart, type Entry, mergeEntries, removeEntry, type SliceableList } from '../entries.ts';
import type { MessageRow } from '../rows.ts';
import type { RowIndex } from './property-index.ts';

/** A list in which each thread may be shown as its latest message. */
export type GroupedListName = Folder | 'visible';

type Test = (message: MessageRow) => boolean;

/** The lists of each inbox, with a function that tests if a message is in the list. */
export const MESSAGE_LISTS = {
  ...IN_FOLDER,
  inbound: ({ direction, deletedAt }) => direction === 'inbound' && deletedAt === null,
  outbound: ({ direction, deletedAt }) => direction === 'outbound' && deletedAt === null,
  unreadInbox: (message) => IN_FOLDER.inbox(message) && !message.isRead,
} satisfies Readonly<Record<string, Test>>;

/** A list of messages that is kept for each inbox. */
export type MessageListName = keyof typeof MESSAGE_LISTS;

/** The times that each inbox keeps for metrics. A function returns the time of a message; null if it has none. */
export const MESSAGE_TIMES = {
  sent: ({ direction, receivedAt }: MessageRow) => (direction === 'outbound' ? receivedAt : null),
  received: ({ direction, receivedAt }: MessageRow) => (direction === 'inbound' ? receivedAt : null),
  bounced: ({ bouncedAt }: MessageRow) => bouncedAt,
};

/** A time of messages that is kept for each inbox. */
export type MessageTime = keyof typeof MESSAGE_TIMES;

type MessageEntry = Entry<MessageRow>;
type OptionalEntry = MessageEntry | false | undefined;

const GROUPED_NAMES = Object.keys(IN_FOLDER) as GroupedListName[];

/** A thread of an inbox: its messages in order of insertion, including deleted messages, and counts of them. */
export class Thread {
  readonly #entries: MessageEntry[];
  /** For each list, the latest message of the thread that is in the list. */
  readonly latest: Partial<Record<GroupedListName, MessageEntry>> = {};
  /** How many messages of the thread are neither read nor deleted. */
  unreadCount = 0;
  #visibleCount = 0;

  /** Creates a thread with its first message. Call `change` for this message, too. */
  constructor(entry: MessageEntry) {
    // The list does not start empty, because V8 then reserves memory for many items, and most threads have one message.
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

  /** How many messages the thread has, including deleted messages. */
  get messageCount(): number {
    return this.#entries.length;
  }

  /**
   * The first and the last message, which may be deleted. Both are undefined if all messages are deleted, because lists
   * then do not show the thread.
   */
  get ends(): readonly [MessageEntry | undefined, MessageEntry | undefined] {
    return this.#visibleCount === 0 ? [undefined, undefined] : [this.#entries[0], this.#entries.at(-1)];
  }

  messages(): MessageRow[] {
    return this.#entries.map(({ row }) => row);
  }

  /** Updates the thread for a message. `before` is undefined for a new message, and `after` for a removed message. */
  change(entry: MessageEntry, before: MessageRow | undefined, after: MessageRow | undefined): void {
    if (!before && this.#entries[0] !== entry) addEntry(this.#entries, entry);
    if (!after) removeEntry(this.#entries, entry);
    this.#visibleCount += Number(isVisible(after)) - Number(isVisible(before));
    this.unreadCount += Number(isUnread(after)) - Number(isUnread(before));
    for (const list of GROUPED_NAMES) this.#changeLatest(list, entry, after);
  }

  #changeLatest(list: GroupedListName, entry: MessageEntry, after: MessageRow | undefined): void {
    const latest = this.latest[list];
    const isInList = IN_FOLDER[list];
    if (after && isInList(after)) {
      if (!latest || latest.position < entry.position) this.latest[list] = entry;
    } else if (latest === entry) {
      const next = this.#entries.findLast((other) => other !== entry && isInList(other.row));
      if (next) this.latest[list] = next;
      else delete this.latest[list];
    }
  }
}

const isVisible = (message: MessageRow | undefined) => message?.deletedAt === null;
const isUnread = (message: MessageRow | undefined) => message?.deletedAt === null && !message.isRead;

/** The ids of inboxes, each at most once. */
type InboxIds = readonly string[];

/**
 * The lists, threads and counts of the messages of a tenant. Reading a page or a count does not take longer for more
 * messages. All lists are in order of insertion, also a list of several inboxes.
 */
export class MessageIndex implements RowIndex<MessageRow> {
  readonly #inboxes = new Map<string, InboxLists>();

  /** Creates an empty index. `load` is called before each read, and must fill the index if it is not filled yet. */
  constructor(readonly load: () => void) {}

  /** Returns the messages of a list. */
  list(inboxIds: InboxIds, name: MessageListName): SliceableList<MessageRow> {
    return toRows(this.#listsOf(inboxIds).map(({ messages }) => messages[name]));
  }

  /** For each thread, returns the latest of its messages that are in a list. */
  latestOfThreads(inboxIds: InboxIds, name: GroupedListName): SliceableList<MessageRow> {
    return toRows(this.#listsOf(inboxIds).map(({ latest }) => latest[name]));
  }

  /** Returns the threads of an inbox that lists show, in the order of their first or last messages. */
  threads(inboxId: string, order: 'first' | 'last'): SliceableList<Thread> {
    const [lists] = this.#listsOf([inboxId]);
    const entries = lists?.threadEnds[order === 'first' ? 0 : 1] ?? [];
    return mapSlices(entries, ({ row }) => lists?.threads.get(row.threadId) as Thread);
  }

  /** Returns a thread of an inbox; `undefined` if the thread has no message. */
  thread(inboxId: string, threadId: string): Thread | undefined {
    return this.#listsOf([inboxId])[0]?.threads.get(threadId);
  }

  /** Returns the id of an inbox that has a message in this thread; `undefined` if there is no such inbox. */
  inboxOfThread(threadId: string): string | undefined {
    this.load();
    return [...this.#inboxes].find(([, { threads }]) => threads.has(threadId))?.[0];
  }

  /** Counts the messages whose time is from `from` to `to`, both included. */
  countTimes(inboxIds: InboxIds, name: MessageTime, { from, to }: { readonly from: string; readonly to: string }) {
    const countIn = (times: readonly string[]) =>
      countStart(times, (time) => time <= to) - countStart(times, (time) => time < from);
    // A window that ends before it begins has no messages.
    if (to < from) return 0;
    return this.#listsOf(inboxIds).reduce((sum, { times }) => sum + countIn(times[name]), 0);
  }

  change(entry: Entry<MessageRow>, before: MessageRow | undefined, after: MessageRow | undefined): void {
    const { inboxId } = entry.row;
    const lists = this.#inboxes.get(inboxId) ?? new InboxLists();
    lists.change(entry, before, after);
    if (lists.threads.size === 0) this.#inboxes.delete(inboxId);
    else this.#inboxes.set(inboxId, lists);
  }

  clear(): void {
    this.#inboxes.clear();
  }

  #listsOf(inboxIds: InboxIds): InboxLists[] {
    this.load();
    return inboxIds.flatMap((id) => this.#inboxes.get(id) ?? []);
  }
}

function toRows(lists: readonly (readonly Entry<MessageRow>[])[]): SliceableList<MessageRow> {
  return mapSlices(mergeEntries(lists), ({ row }) => row);
}

function mapSlices<Item, Result>(list: SliceableList<Item>, map: (item: Item) => Result): SliceableList<Result> {
  return { length: list.length, slice: (from, to) => list.slice(from, to).map(map) };
}

const LIST_NAMES = Object.keys(MESSAGE_LISTS) as MessageListName[];
const TIME_NAMES = Object.keys(MESSAGE_TIMES) as MessageTime[];

/**
 * The lists, threads and times of the messages of an inbox, so that a page or a count need not read every message.
 * Lists are in order of insertion.
 */
export class InboxLists {
  /** The messages of each list. */
  readonly messages = createEach(LIST_NAMES, (): MessageEntry[] => []);
  /** For each list and each thread, the latest message of the thread that is in the list. */
  readonly latest = createEach(GROUPED_NAMES, (): MessageEntry[] => []);
  /** The first messages, and the last messages, of the threads that lists show. */
  readonly threadEnds: readonly [MessageEntry[], MessageEntry[]] = [[], []];
  /** The times of the messages in ISO 8601 UTC, sorted. */
  readonly times = createEach(TIME_NAMES, (): string[] => []);
  readonly threads = new Map<string, Thread>();

  /** Updates the lists for a message. `before` is undefined for a new message, and `after` for a removed message. */
  change(entry: MessageEntry, before: MessageRow | undefined, after: MessageRow | undefined): void {
    for (const name of LIST_NAMES) {
      const isInList = MESSAGE_LISTS[name];
      replaceEntry(this.messages[name], before && isInList(before) && entry, after && isInList(after) && entry);
    }
    for (const name of TIME_NAMES) this.#changeTime(name, before, after);
    this.#changeThread(entry, before, after);
  }

  #changeTime(name: MessageTime, before: MessageRow | undefined, after: MessageRow | undefined): void {
    const [previous, next] = [before, after].map((message) => message && MESSAGE_TIMES[name](message));
    if (previous === next) return;
    const times = this.times[name];
    const placeOf = (time: string) => countStart(times, (each) => each < time);
    if (previous) times.splice(placeOf(previous), 1);
    if (next) times.splice(placeOf(next), 0, next);
  }

  #changeThread(entry: MessageEntry, before: MessageRow | undefined, after: MessageRow | undefined): void {
    const { threadId } = entry.row;
    const thread = this.threads.get(threadId) ?? new Thread(entry);
    const [ends, latest] = [thread.ends, { ...thread.latest }];
    thread.change(entry, before, after);
    for (const end of [0, 1] as const) replaceEntry(this.threadEnds[end], ends[end], thread.ends[end]);
    for (const name of GROUPED_NAMES) replaceEntry(this.latest[name], latest[name], thread.latest[name]);
    if (thread.messageCount === 0) this.threads.delete(threadId);
    else this.threads.set(threadId, thread);
  }
}

/** Removes the entry `previous` from a list, if there is one, and adds the entry `next`, if there is one. */
function replaceEntry(entries: MessageEntry[], previous: OptionalEntry, next: OptionalEntry): void {
  if (previous === next) return;
  if (previous) removeEntry(entries, previous);
  if (next) addEntry(entries, next);
}

function createEach<Name extends string, Value>(names: readonly Name[], create: () => Value) {
  return Object.fromEntries(names.map((name) => [name, create()])) as Readonly<Record<Name, Value>>;
}
