import { freezeDeep } from '../../basics/freeze-deep.ts';
import type { Entry, EntryOf, FeedKind } from '../../service/journal/entry-kinds.ts';
import type { Journals } from '../../service/journal/journals.ts';
import { findOwner, type Part, type PartOf } from '../../world/store/parts.ts';
import type { ReachableWorlds } from '../../world/store/reachable-worlds.ts';
import type { Worlds } from '../../world/store/worlds.ts';
import type { FeedEvent, FeedOptions } from './feed-event.ts';
import { showFields } from './read-journal.ts';
import { type JournalReader, readerOf } from './show-request.ts';
import { showInFeed } from './shown-kinds.ts';

/** The readers of the feed of a mailbox or a sandbox that wait for the next event. */
class Readers implements Part {
  readonly staysOnReset = true;
  readonly waiting = new Set<() => void>();
  endCount = 0;

  /** Ends the feed of every current reader, after the reader has read the events so far. */
  end(): void {
    this.endCount += 1;
    this.wake();
  }

  wake(): void {
    for (const resume of this.waiting) resume();
    this.waiting.clear();
  }
}

/**
 * The live feeds of a mailbox and of its sandboxes: the journal in the order in which things happen. A slow reader needs
 * no memory. When it reads again, it gets a `gap` in place of entries that the journal no longer has. The feed of a
 * sandbox has only what concerns this sandbox.
 */
export class Feeds {
  readonly #worlds: Worlds;
  readonly #journals: Journals;
  readonly #readersOf: PartOf<Readers>;
  /** The events that were read, because all readers of a feed share them. */
  readonly #shown = { mailbox: new WeakMap<Entry, FeedEvent>(), sandbox: new WeakMap<Entry, FeedEvent>() };
  /**
   * The start of every event id. It is different in each run of the process, so that an id of an earlier run is
   * unknown.
   */
  readonly #run: string;

  constructor(worlds: Worlds, journals: Journals) {
    this.#worlds = worlds;
    this.#journals = journals;
    this.#readersOf = worlds.addPart('feed', () => new Readers());
    this.#run = journals.processNowMs().toString(36);
    journals.subscribe(journals.feedKinds, (entry) => {
      const isForAll = journals.isForAllTenants(entry);
      const owners = isForAll ? worlds.owners() : [worlds, findOwner(worlds, entry.tenantId)];
      for (const readers of this.#readersOf.in(owners)) if (readers.waiting.size > 0) readers.wake();
    });
  }

  /** Ends the feed of every reader. */
  end(): void {
    for (const readers of this.#readersOf.in(this.#worlds.owners())) readers.end();
  }

  /** Reads a feed. Without `lastEventId`, new events are those after this call, even if `next()` is called later. */
  read(worlds: ReachableWorlds, { lastEventId, follow = true }: FeedOptions = {}): AsyncIterable<FeedEvent> {
    const start = this.#positionAfter(worlds, lastEventId, follow);
    return { [Symbol.asyncIterator]: () => this.#createReader(worlds, start, follow) };
  }

  #createReader(worlds: ReachableWorlds, start: Position, follow: boolean): AsyncIterator<FeedEvent, undefined> {
    const readers = this.#readersOf(worlds);
    const { endCount } = readers;
    let position = start;
    let isClosed = false;
    return {
      next: async () => {
        while (!isClosed) {
          const found = this.#readAfter(worlds, position);
          if (found) {
            position = found.position;
            return { done: false, value: found.value };
          }
          if (!follow || endCount !== readers.endCount) break;
          await new Promise<void>((resolve) => readers.waiting.add(resolve));
        }
        return { done: true, value: undefined };
      },
      return: async () => {
        isClosed = true;
        readers.wake();
        return { done: true, value: undefined };
      },
    };
  }

  #positionAfter(worlds: ReachableWorlds, lastEventId: string | undefined, follow: boolean): Position {
    const end = this.#journals.lastFeedNumber(worlds);
    if (lastEventId === undefined) return follow ? end : 'start';
    if (lastEventId === '0') return 'start';
    const [run, number = ''] = lastEventId.split('-');
    const isKnown = run === this.#run && /^\d{1,15}$/.test(number) && Number(number) <= end;
    return isKnown ? Number(number) : 'unknown';
  }

  /** Returns the event after a position, and the position of this event. */
  #readAfter(worlds: ReachableWorlds, position: Position) {
    const next = this.#journals.nextInFeed(worlds, typeof position === 'number' ? position : 0);
    const end = this.#journals.lastFeedNumber(worlds);
    const number = next ? numberIn(worlds, next) : end + 1;
    const missed = position === 'unknown' ? null : typeof position === 'number' ? number - position - 1 : 0;
    if (missed !== 0) {
      const common = {
        id: `${this.#run}-${number - 1}`,
        realTime: new Date(this.#journals.processNowMs()).toISOString(),
      };
      return { value: { ...common, kind: 'gap' as const, missed }, position: number - 1 };
    }
    if (!next) return undefined;
    return { value: this.#show(next, number, readerOf(worlds)), position: number };
  }

  #show(entry: Entry, number: number, reader: JournalReader): FeedEvent {
    const known = this.#shown[reader].get(entry);
    const fields = showFields(this.#journals, entry, reader);
    // A request that led to the entry may have ended since then.
    if (known && (known.kind === 'gap' || known.cause || !fields.cause)) return known;
    const data = showInFeed(entry as EntryOf<FeedKind>, { reader, mask: this.#worlds.mask });
    const event = freezeDeep({ id: `${this.#run}-${number}`, ...fields, data }) as FeedEvent;
    this.#shown[reader].set(entry, event);
    return event;
  }
}

/** The number of the last event that a reader has; or that it begins with the oldest one; or that its id is unknown. */
type Position = number | 'start' | 'unknown';

function numberIn({ sandboxId }: ReachableWorlds, { mailboxFeedNumber, ownerFeedNumber }: Entry): number {
  return sandboxId === undefined ? mailboxFeedNumber : ownerFeedNumber;
}
