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

/** What the tabs of an emulator tell each other. Only the tab that reads the feed sends events and states. */
type TabMessage =
  | { readonly kind: 'event'; readonly event: FeedEvent }
  | ({ readonly kind: 'state' } & FeedPosition)
  /** Asks for the state. */
  | { readonly kind: 'ask' }
  /** Asks to try to connect now. */
  | { readonly kind: 'try' };

/** How far a feed was read, and the state of its connection. */
interface FeedPosition {
  readonly state: FeedState;
  readonly outage: Outage | undefined;
  readonly lastEventId: string | undefined;
}

/**
 * Reads the feed of the emulator, and connects again when the connection is lost. All tabs share one connection, because
 * a browser opens only six to a server over HTTP/1.1, and a seventh request waits until one of them ends.
 */
export class LiveFeed {
  readonly #listeners = new Set<FeedListener>();
  #lastEventId: string | undefined;
  readonly #client: Pick<ControlClient, 'readFeed'>;
  #state: FeedState = 'connecting';
  #outage: Outage | undefined;
  #waitMs = FIRST_WAIT_MS;
  #endWait = () => {};
  /** Leads to the other tabs; undefined if this one shares nothing. */
  #tabs: BroadcastChannel | undefined;
  /** Whether this tab reads the feed for all. */
  #isReader = false;

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

  /**
   * Follows the feed together with the other tabs that use the same `name`. One tab that is shown reads it, and passes
   * on what it reads. When this tab is closed or hidden, another one goes on after the last event.
   */
  async followWithOtherTabs(name: string): Promise<never> {
    // Without locks, which browsers have only on pages of this machine or over HTTPS, each tab that is shown reads.
    const locks = (navigator as { readonly locks?: LockManager }).locks;
    if (locks) {
      this.#tabs = new BroadcastChannel(name);
      this.#tabs.onmessage = ({ data }) => this.#handleMessage(data);
      this.#tell({ kind: 'ask' });
    }
    for (;;) {
      await whenVisibilityIs('visible');
      const hidden = new AbortController();
      void whenVisibilityIs('hidden').then(() => hidden.abort());
      const read = async () => {
        this.#isReader = true;
        await this.follow(hidden.signal);
        this.#isReader = false;
      };
      const waitAndRead = locks?.request(name, { signal: hidden.signal }, read).catch(() => {
        // The wait ends with an error when this tab is hidden. A page in a frame without an origin gets no lock at all.
        return hidden.signal.aborted ? undefined : read();
      });
      await (waitAndRead ?? read());
    }
  }

  /** Reads the events, and connects again after each break, until `signal` is aborted. */
  async follow(signal?: AbortSignal): Promise<void> {
    signal?.addEventListener('abort', () => this.#endWait());
    while (!signal?.aborted) {
      let refusal: string | undefined;
      try {
        const events = await this.#client.readFeed({ lastEventId: this.#lastEventId }, { signal });
        this.#outage = undefined;
        // After another tab, this one goes on without a break.
        if (this.#state !== 'live') this.#setState('live');
        else this.#tellState();
        for await (const event of events) this.#publish(event);
        // The emulator has ended the feed, because it stops.
      } catch (error) {
        // Only a refusal has a reason. Any other error says no more than that there is no connection.
        if (error instanceof RefusedCallError) refusal = error.message;
      }
      if (signal?.aborted) return;
      this.#planNextTry(refusal);
      await this.#waitForNextTry();
    }
  }

  /** Tries to connect now, if the feed is waiting for the next try. */
  tryNow(): void {
    this.#endWait();
    this.#tell({ kind: 'try' });
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
    this.#tellState();
    for (const listener of [...this.#listeners]) listener.onState?.(state);
  }

  #publish(event: FeedEvent): void {
    this.#lastEventId = event.id;
    if (this.#isReader) this.#tell({ kind: 'event', event });
    for (const listener of [...this.#listeners]) listener.onEvent?.(event);
  }

  #tell(message: TabMessage): void {
    this.#tabs?.postMessage(message);
  }

  #tellState(): void {
    if (!this.#isReader) return;
    this.#tell({ kind: 'state', state: this.#state, outage: this.#outage, lastEventId: this.#lastEventId });
  }

  /** Does what another tab says or asks. */
  #handleMessage(message: TabMessage): void {
    if (this.#isReader) {
      if (message.kind === 'ask') this.#tellState();
      else if (message.kind === 'try') this.#endWait();
    } else if (message.kind === 'event') {
      // A tab that has just begun to read may repeat events that this tab has got from the one before.
      if (!isBefore(message.event.id, this.#lastEventId)) this.#publish(message.event);
    } else if (message.kind === 'state') {
      this.#outage = message.outage;
      this.#lastEventId ??= message.lastEventId;
      if (message.state !== this.#state || message.outage) this.#setState(message.state);
    }
  }
}

/** Returns whether an event of the same run of the emulator is this one or came before it. */
function isBefore(id: string, lastId: string | undefined): boolean {
  const [run, number] = id.split('-');
  const [lastRun, lastNumber] = lastId?.split('-') ?? [];
  return run === lastRun && Number(number) <= Number(lastNumber);
}

/** Resolves when the page is shown or hidden; at once if it is. */
function whenVisibilityIs(state: DocumentVisibilityState): Promise<void> {
  return new Promise((resolve) => {
    const check = () => {
      if (document.visibilityState !== state) return;
      document.removeEventListener('visibilitychange', check);
      resolve();
    };
    document.addEventListener('visibilitychange', check);
    check();
  });
}
