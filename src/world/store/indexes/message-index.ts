import { type Entry, mergeEntries, type SliceableList } from '../entries.ts';
import type { MessageRow } from '../rows.ts';
import type { GroupedList, MessageList, MessageTime, Thread } from '../thread.ts';
import { InboxLists } from './inbox-lists.ts';
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
