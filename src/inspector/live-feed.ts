import type { FeedEvent } from '../journal/feed-event.ts';
import { tokenHeaders } from './inspector-client.ts';

/** Whether the page shows what happens now. */
export type FeedState = 'connecting' | 'live' | 'lost';

/** What a reader of the feed receives. */
export interface FeedReader {
  /** Receives each event. */
  event?(event: FeedEvent): void;
  /** Receives each change of the connection. */
  state?(state: FeedState): void;
}

/** How long the feed waits before it connects again; after each refusal twice as long, up to the maximum. */
const [RETRY_MS, MAX_RETRY_MS] = [1_000, 60_000];

/**
 * Reads the feed of the emulator, and connects again when the connection is lost. `EventSource` cannot send the token,
 * so this reads the stream itself.
 */
export class LiveFeed {
  readonly #readers = new Set<FeedReader>();
  #lastEventId: string | undefined;
  readonly #refused: () => void;
  #state: FeedState = 'connecting';

  /** Creates a feed that is not read yet. `refused` is called when the server needs another token. */
  constructor(refused: () => void) {
    this.#refused = refused;
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
      const isRefused = await this.#read().catch(() => false);
      this.#change('lost');
      waitMs = isRefused ? Math.min(waitMs * 2, MAX_RETRY_MS) : RETRY_MS;
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  }

  /** Reads until the connection is lost. Returns whether the server refused the call. */
  async #read(): Promise<boolean> {
    const query = this.#lastEventId === undefined ? '' : `?lastEventId=${encodeURIComponent(this.#lastEventId)}`;
    const response = await fetch(`/__mock/feed${query}`, { headers: tokenHeaders() });
    if (response.status === 401) this.#refused();
    if (!response.ok || !response.body) return true;
    this.#change('live');
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
      const blocks = (rest + value).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) this.#publish(block);
    }
    return false;
  }

  /** Publishes an event, given as a block of lines. A block without data is a comment, which keeps the connection open. */
  #publish(block: string): void {
    const data = /^data: (.*)$/m.exec(block)?.[1];
    if (data === undefined) return;
    const event = JSON.parse(data) as FeedEvent;
    this.#lastEventId = event.id;
    for (const reader of [...this.#readers]) reader.event?.(event);
  }

  #change(state: FeedState): void {
    if (state === this.#state) return;
    this.#state = state;
    for (const reader of [...this.#readers]) reader.state?.(state);
  }
}
