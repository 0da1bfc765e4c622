import type { FeedEvent } from '../control/journal/feed-event.ts';
import { type ControlClient, RefusedCallError } from '../control/table/client.ts';

/**
 * The state of the connection to the feed. The page is up to date only while it is `live`. `interrupted` means that the
 * connection has just broken and that the feed has not tried to connect again; `lost` means that it has, in vain. A
 * short break is over before it is `lost`, so nobody has to know of it.
 */
export type FeedState = 'connecting' | 'live' | 'interrupted' | 'lost';

/** What listens to the feed. */
export interface FeedListener {
  /** Is called with each event. */
  onEvent?(event: FeedEvent): void;
  /** Is called with the state of the connection after each try to connect, and when the connection breaks. */
  onState?(state: FeedState): void;
}

/** A time without a connection. */
export interface Outage {
  /** When the connection broke, or when the first try to connect failed, in milliseconds of real time. */
  readonly sinceMs: number;
  /** When the feed tries again to connect, in milliseconds of real time. */
  readonly nextTryMs: number;
  /** Why the emulator refused the latest try; `undefined` if it did not answer. */
  readonly refusal: string | undefined;
}

/** How long the feed waits before the first try to connect again. Each try that fails doubles the time. */
const FIRST_WAIT_MS = 1_000;

/** The longest wait after a try that was not answered: the emulator may be started again at any time. */
const MAX_WAIT_MS = 4_000;

/** The longest wait after a try that was refused, for example because the token is wrong. */
const MAX_WAIT_AFTER_REFUSAL_MS = 60_000;

/** Reads the feed of the emulator, and connects again when the connection is lost. */
export class LiveFeed {
  readonly #listeners = new Set<FeedListener>();
  #lastEventId: string | undefined;
  readonly #client: Pick<ControlClient, 'readFeed'>;
  #state: FeedState = 'connecting';
  #outage: Outage | undefined;
  #waitMs = FIRST_WAIT_MS;
  #endWait = () => {};

  /** Creates a feed. `follow()` starts to read it. */
  constructor(client: Pick<ControlClient, 'readFeed'>) {
    this.#client = client;
  }

  /** The state of the connection. */
  get state(): FeedState {
    return this.#state;
  }

  /** Since when there is no connection; `undefined` while there is one, and before the first try has ended. */
  get outage(): Outage | undefined {
    return this.#outage;
  }

  /** Adds a listener and returns a function that removes it. */
  subscribe(listener: FeedListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Reads the events, and connects again after each break, until the page is closed. */
  async follow(): Promise<never> {
    for (;;) {
      let refusal: string | undefined;
      try {
        const events = await this.#client.readFeed({ lastEventId: this.#lastEventId });
        this.#outage = undefined;
        this.#setState('live');
        for await (const event of events) {
          this.#lastEventId = event.id;
          for (const listener of [...this.#listeners]) listener.onEvent?.(event);
        }
        // The emulator has ended the feed, because it stops.
      } catch (error) {
        // Only a refusal has a reason. Any other error says no more than that there is no connection.
        if (error instanceof RefusedCallError) refusal = error.message;
      }
      this.#planNextTry(refusal);
      await this.#waitForNextTry();
    }
  }

  /** Tries to connect now, if the feed is waiting for the next try. */
  tryNow(): void {
    this.#endWait();
  }

  /** Resolves when there is a connection; at once if there is one. */
  whenLive(): Promise<void> {
    if (this.#state === 'live') return Promise.resolve();
    return new Promise((resolve) => {
      const stop = this.subscribe({
        onState(state) {
          if (state !== 'live') return;
          stop();
          resolve();
        },
      });
    });
  }

  #planNextTry(refusal: string | undefined): void {
    const wasLive = this.#state === 'live';
    const maxWaitMs = refusal === undefined ? MAX_WAIT_MS : MAX_WAIT_AFTER_REFUSAL_MS;
    this.#waitMs = wasLive ? FIRST_WAIT_MS : Math.min(this.#waitMs * 2, maxWaitMs);
    const nowMs = Date.now();
    this.#outage = { sinceMs: this.#outage?.sinceMs ?? nowMs, nextTryMs: nowMs + this.#waitMs, refusal };
    this.#setState(wasLive ? 'interrupted' : 'lost');
  }

  #waitForNextTry(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.#waitMs);
      this.#endWait = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #setState(state: FeedState): void {
    this.#state = state;
    for (const listener of [...this.#listeners]) listener.onState?.(state);
  }
}
