import type { FeedEvent } from '../control/journal/feed-event.ts';
import { type ControlClient, RefusedCallError } from '../control/table/client.ts';

/** The state of the connection to the feed. The page is up to date only while it is `live`. */
export type FeedState = 'connecting' | 'live' | 'lost';

/** The functions of a subscriber, which receive what the feed reports. */
export interface FeedReader {
  /** Receives each event. */
  onEvent?(event: FeedEvent): void;
  /** Receives the state of the connection after each attempt to connect, and when the connection is lost. */
  onState?(state: FeedState): void;
}

/** How long the feed waits before it connects again. Each refusal doubles this time, up to the maximum. */
const [RETRY_MS, MAX_RETRY_MS] = [1_000, 60_000];

/** Reads the feed of the emulator, and connects again when the connection is lost. */
export class LiveFeed {
  readonly #readers = new Set<FeedReader>();
  #lastEventId: string | undefined;
  readonly #client: Pick<ControlClient, 'readFeed'>;
  #state: FeedState = 'connecting';

  /** Creates a feed. `follow()` starts to read it. */
  constructor(client: Pick<ControlClient, 'readFeed'>) {
    this.#client = client;
  }

  /** The state of the connection. */
  get state(): FeedState {
    return this.#state;
  }

  /** Adds a reader and returns a function that removes it. */
  subscribe(reader: FeedReader): () => void {
    this.#readers.add(reader);
    return () => void this.#readers.delete(reader);
  }

  /** Reads until the page is closed. */
  async follow(): Promise<never> {
    for (let waitMs = RETRY_MS; ; ) {
      const isRefused = await this.#read().catch((error) => error instanceof RefusedCallError);
      this.#setState('lost');
      waitMs = isRefused ? Math.min(waitMs * 2, MAX_RETRY_MS) : RETRY_MS;
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  }

  /**
   * Reads until the connection is lost. Resolves with false, because the call was not refused.
   * @throws {RefusedCallError} if the call is refused.
   */
  async #read(): Promise<false> {
    const events = await this.#client.readFeed({ lastEventId: this.#lastEventId });
    this.#setState('live');
    for await (const event of events) {
      this.#lastEventId = event.id;
      for (const reader of [...this.#readers]) reader.onEvent?.(event);
    }
    return false;
  }

  #setState(state: FeedState): void {
    this.#state = state;
    for (const reader of [...this.#readers]) reader.onState?.(state);
  }
}
