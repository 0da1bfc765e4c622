import { addEntry, countStart, type Entry, mergeEntries, removeEntry, type SliceableList } from '../entries.ts';
import type { MessageRow } from '../rows.ts';
import {
  GROUPED_LISTS,
  type GroupedList,
  MESSAGE_LISTS,
  MESSAGE_TIMES,
  type MessageList,
  type MessageTime,
  Thread,
} from '../thread.ts';
import type { RowIndex } from './property-index.ts';

/** A number of inboxes, by id, each at most once. */
type InboxIds = readonly string[];

/**
 * The lists, threads and counts of the messages of a tenant. Reading a page or a count does not take longer for more
 * messages. All lists are in order of insertion, across inboxes too.
 */
export class MessageIndex implements RowIndex<MessageRow> {
  readonly #inboxes = new Map<string, InboxLists>();
  readonly #load: () => void;

  /** Creates an empty index; `load` is called before each read, and makes the index follow the messages. */
  constructor(load: () => void) {
    this.#load = load;
  }

  /** Returns the messages of a list. */
  list(inboxIds: InboxIds, name: MessageList): SliceableList<MessageRow> {
    return toRows(this.#listsOf(inboxIds).map(({ messages }) => messages[name]));
  }

  /** Returns the latest message that each thread has in a list. */
  latestOfThreads(inboxIds: InboxIds, name: GroupedList): SliceableList<MessageRow> {
    return toRows(this.#listsOf(inboxIds).map(({ latest }) => latest[name]));
  }

  /** Returns the ids of the threads of an inbox, in the order of their first or last messages; none is all deleted. */
  threads(inboxId: string, order: 'first' | 'last'): SliceableList<Thread> {
    const [lists] = this.#listsOf([inboxId]);
    const entries = lists?.threadEnds[order === 'first' ? 0 : 1] ?? [];
    return mapSlices(entries, ({ row }) => lists?.threads.get(row.threadId) as Thread);
  }

  /** Returns a thread of an inbox; `undefined` if no message is in it. */
  thread(inboxId: string, threadId: string): Thread | undefined {
    return this.#listsOf([inboxId])[0]?.threads.get(threadId);
  }

  /** Returns the id of an inbox that has a message in this thread; `undefined` if there is none. */
  inboxOfThread(threadId: string): string | undefined {
    this.#load();
    return [...this.#inboxes].find(([, { threads }]) => threads.has(threadId))?.[0];
  }

  /** Counts the messages whose time is from `from` to `to`, both included. */
  countTimes(
    inboxIds: InboxIds,
    name: MessageTime,
    { from, to }: { readonly from: string; readonly to: string },
  ): number {
    return this.#listsOf(inboxIds).reduce((sum, { times }) => sum + times[name].count(from, to), 0);
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
    this.#load();
    return inboxIds.flatMap((id) => this.#inboxes.get(id) ?? []);
  }
}

function toRows(lists: readonly (readonly Entry<MessageRow>[])[]): SliceableList<MessageRow> {
  return mapSlices(mergeEntries(lists), ({ row }) => row);
}

function mapSlices<Item, Result>(list: SliceableList<Item>, map: (item: Item) => Result): SliceableList<Result> {
  return { length: list.length, slice: (from, to) => list.slice(from, to).map(map) };
}

/** Counts times in ISO 8601 UTC, within any span; the time that this takes does not grow with the number of times. */
class Timeline {
  readonly #times: string[] = [];

  add(time: string): void {
    this.#times.splice(this.#countUntil(time), 0, time);
  }

  /** Removes a time, which must have been added. */
  remove(time: string): void {
    this.#times.splice(this.#countUntil(time) - 1, 1);
  }

  /** Counts the times from `from` to `to`, both included; `from` is not later. */
  count(from: string, to: string): number {
    return this.#countUntil(to) - countStart(this.#times, (time) => time < from);
  }

  /** Counts the times that are not later than this one. */
  #countUntil(time: string): number {
    return countStart(this.#times, (other) => other <= time);
  }
}

type MessageEntry = Entry<MessageRow>;

const GROUPED_NAMES = Object.keys(GROUPED_LISTS) as GroupedList[];
const LIST_NAMES = Object.keys(MESSAGE_LISTS) as MessageList[];
const TIME_NAMES = Object.keys(MESSAGE_TIMES) as MessageTime[];

/**
 * What is kept for each inbox, so that a page or a count need not read every message. Lists are in order of insertion.
 */
export class InboxLists {
  /** The messages of each list. */
  readonly messages = createEach(LIST_NAMES, (): MessageEntry[] => []);
  /** For each list, the latest message that each thread has in it. */
  readonly latest = createEach(GROUPED_NAMES, (): MessageEntry[] => []);
  /** Each thread that lists do not omit, by its first and by its last message. */
  readonly threadEnds: readonly [MessageEntry[], MessageEntry[]] = [[], []];
  readonly times = createEach(TIME_NAMES, () => new Timeline());
  readonly threads = new Map<string, Thread>();

  /** Follows a change of a message; `before` is undefined for a new one, and `after` for one that is removed. */
  change(entry: MessageEntry, before: MessageRow | undefined, after: MessageRow | undefined): void {
    for (const name of LIST_NAMES) {
      const isIn = MESSAGE_LISTS[name];
      replaceEntry(this.messages[name], before && isIn(before) && entry, after && isIn(after) && entry);
    }
    for (const name of TIME_NAMES) this.#changeTime(name, before, after);
    this.#changeThread(entry, before, after);
  }

  #changeTime(name: MessageTime, before: MessageRow | undefined, after: MessageRow | undefined): void {
    const [previous, next] = [before, after].map((message) => message && MESSAGE_TIMES[name](message));
    if (previous === next) return;
    if (previous) this.times[name].remove(previous);
    if (next) this.times[name].add(next);
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

/** Removes an entry from a list and adds another one; either may be missing. */
function replaceEntry(
  entries: MessageEntry[],
  previous: MessageEntry | false | undefined,
  next: MessageEntry | false | undefined,
): void {
  if (previous === next) return;
  if (previous) removeEntry(entries, previous);
  if (next) addEntry(entries, next);
}

function createEach<Name extends string, Value>(names: readonly Name[], create: () => Value) {
  return Object.fromEntries(names.map((name) => [name, create()])) as Readonly<Record<Name, Value>>;
}
