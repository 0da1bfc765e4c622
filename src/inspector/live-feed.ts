import type { FeedEvent } from '../control/journal/feed-event.ts';
import { type ControlClient, RefusedError } from '../control/table/client.ts';

/** The state of the connection to the feed; only while it is `live`, the page is up to date. */
export type FeedState = 'connecting' | 'live' | 'lost';

/** What a reader of the feed receives. */
export interface FeedReader {
  /** Receives each event. */
  event?(event: FeedEvent): void;
  /** Receives the state of the connection after each attempt to connect, and when the connection is lost. */
  state?(state: FeedState): void;
}

/** How long the feed waits before it connects again; after each refusal twice as long, up to the maximum. */
const [RETRY_MS, MAX_RETRY_MS] = [1_000, 60_000];

/** Reads the feed of the emulator, and connects again when the connection is lost. */
export class LiveFeed {
  readonly #readers = new Set<FeedReader>();
  #lastEventId: string | undefined;
  readonly #client: Pick<ControlClient, 'readFeed'>;
  #state: FeedState = 'connecting';

  /** Creates a feed that is not read yet. */
  constructor(client: Pick<ControlClient, 'readFeed'>) {
    this.#client = client;
  }

  /** Whether the feed is connected. */
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
      const isRefused = await this.#read().catch((error) => error instanceof RefusedError);
      this.#change('lost');
      waitMs = isRefused ? Math.min(waitMs * 2, MAX_RETRY_MS) : RETRY_MS;
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  }

  /** Reads until the connection is lost. Returns false: not refused. @throws {RefusedError} if the call is refused. */
  async #read(): Promise<false> {
    const events = await this.#client.readFeed({ lastEventId: this.#lastEventId });
    this.#change('live');
    for await (const event of events) {
      this.#lastEventId = event.id;
      for (const reader of [...this.#readers]) reader.event?.(event);
    }
    return false;
  }

  #change(state: FeedState): void {
    this.#state = state;
    for (const reader of [...this.#readers]) reader.state?.(state);
  }
}
