import type { BehaviourValues } from '../contract/behaviours.ts';
import { messageOf } from '../delivery/delivery.ts';
import type { Environment } from '../environment.ts';
import type { ActivityEntry } from '../events/activity.ts';
import { freezeDeep } from '../fixture/freeze-deep.ts';
import type { FeedEvent, FeedItem, FeedOptions } from './feed-event.ts';
import type { KeptRequest } from './kept-request.ts';
import { maskDeep } from './mask.ts';
import { RecentList } from './recent-list.ts';
import { showSummary } from './show-request.ts';

/** How many past events a feed keeps. */
const MAX_EVENTS = 1_000;

/** A past event. It is formatted and masked when the first reader reads it, and all readers share the result. */
interface PastEvent {
  readonly realTimeMs: number;
  readonly item: FeedItem | { readonly kept: KeptRequest };
  shown?: FeedEvent;
}

/**
 * The live feed of a mailbox. Its readers share one list of recent events, so a reader that does not read costs no
 * memory: when it reads again, it gets a `gap` instead of the events that are gone.
 */
export class Feed {
  readonly #environment: Pick<Environment, 'now'>;
  readonly #behaviours: BehaviourValues;
  readonly #events = new RecentList<PastEvent>(MAX_EVENTS);
  readonly #waiting = new Set<() => void>();
  /** Differs between two runs, so that an id of an earlier run is not mistaken for one of this run. */
  readonly #run: string;
  #ends = 0;

  /** Creates a feed without events; the environment must have real time. */
  constructor(environment: Pick<Environment, 'now'>, behaviours: BehaviourValues) {
    this.#environment = environment;
    this.#behaviours = behaviours;
    this.#run = environment.now().getTime().toString(36);
  }

  publish(item: FeedItem): void {
    this.#add({ realTimeMs: this.#environment.now().getTime(), item });
  }

  publishRequest(request: KeptRequest): void {
    this.#add({ realTimeMs: request.realTimeMs, item: { kept: request } });
  }

  /** Ends the feed of every present reader, after the events so far. */
  end(): void {
    this.#ends += 1;
    this.#wakeReaders();
  }

  /** Reads the feed, from the time of this call. */
  read({ lastEventId, follow = true }: FeedOptions = {}): AsyncIterable<FeedEvent> {
    const start = this.#positionAfter(lastEventId, follow);
    return { [Symbol.asyncIterator]: () => this.#createReader(start, follow) };
  }

  #createReader(start: number, follow: boolean): AsyncIterator<FeedEvent, undefined> {
    const ends = this.#ends;
    let position = start;
    let isClosed = false;
    return {
      next: async () => {
        while (!isClosed) {
          const taken = this.#take(position);
          if (taken) {
            position = taken.position;
            return { done: false, value: taken.value };
          }
          if (!follow || ends !== this.#ends) break;
          await this.#nextPublication();
        }
        return { done: true, value: undefined };
      },
      return: async () => {
        isClosed = true;
        this.#wakeReaders();
        return { done: true, value: undefined };
      },
    };
  }

  /** Returns the position behind an event; -1 if the id is unknown. */
  #positionAfter(lastEventId: string | undefined, follow: boolean): number {
    const { start, end } = this.#events;
    if (lastEventId === undefined) return follow ? end : start;
    if (lastEventId === '0') return start;
    const [run, number = ''] = lastEventId.split('-');
    return run === this.#run && /^\d{1,15}$/.test(number) && Number(number) <= end ? Number(number) : -1;
  }

  /** Returns the event at a position, or the gap before the oldest event, with the position behind it. */
  #take(position: number): { readonly value: FeedEvent; readonly position: number } | undefined {
    const { start } = this.#events;
    if (position < start)
      return { value: this.#showGap(start, position < 0 ? null : start - position), position: start };
    const event = this.#events.at(position);
    if (!event) return undefined;
    event.shown ??= freezeDeep(this.#show(position + 1, event));
    return { value: event.shown, position: position + 1 };
  }

  #showGap(number: number, missed: number | null): FeedEvent {
    return this.#show(number, { realTimeMs: this.#environment.now().getTime(), item: { kind: 'gap', missed } });
  }

  #show(number: number, { realTimeMs, item }: PastEvent): FeedEvent {
    const frame = { id: `${this.#run}-${number}`, realTime: new Date(realTimeMs).toISOString() };
    if (!('kept' in item)) return { ...frame, ...maskDeep(item) };
    return { ...frame, kind: 'request', request: showSummary(item.kept, this.#behaviours) };
  }

  #add(event: PastEvent): void {
    this.#events.push(event);
    if (this.#waiting.size > 0) this.#wakeReaders();
  }

  #nextPublication(): Promise<void> {
    return new Promise((resolve) => this.#waiting.add(resolve));
  }

  #wakeReaders(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
}

/** Converts an entry of the activity to an item of the feed. */
export function toFeedItem(entry: ActivityEntry): FeedItem {
  return entry.kind === 'failure' ? { kind: 'failure', error: messageOf(entry.error) } : entry;
}
