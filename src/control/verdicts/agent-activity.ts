import { clearTimeout, RealDate, setImmediate, setTimeout } from '../../basics/real-timers.ts';
import { ApiError } from '../../contract/errors.ts';
import type { ControllableMailbox } from '../controllable-mailbox.ts';
import type { FeedEvent } from '../journal/feed-event.ts';
import { resultOf } from '../journal/from-entries/call-of.ts';
import type { RequestSummary } from '../journal/request-entry.ts';
import type { ObservedAgent } from './decide-over.ts';

/** What is known of an agent before it runs. */
export interface ActivityOptions {
  /** How it looks for what happened, as `ObservedAgent` says. */
  readonly looks: ObservedAgent['looks'];
  /** Whether nothing tells when it is ready, so that it may start slowly. */
  readonly startsUnseen: boolean;
  /** The id of its inbox. */
  readonly inboxId: string;
  /** The id of its webhook; undefined if it is not known. */
  readonly webhookId?: string | undefined;
  /** Is called for each request and command of the agent. */
  readonly onRequest?: ((request: RequestSummary) => void) | undefined;
  /** Is called if the feed of the mailbox fails. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
}

/** How long a wait lasts while a call is open, in milliseconds, because not every end of a call is an event. */
const OPEN_CALL_MS = 10;

/** The commands by which a client of IMAP looks for mail. Others, such as SEARCH, are not in the journal. */
const IMAP_LOOK = /^(?:AUTHENTICATE|LOGIN|(?:UID )?FETCH)$/;

/** Matches the ids of mails and other objects. */
const ID = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/gi;

/** Returns the present time, in milliseconds since 1970. A test that fakes `Date` does not change it. */
export function realNowMs(): number {
  return RealDate.now();
}

/** Follows what happens in a mailbox, and keeps when an agent did what, for `decideOver`. */
export class AgentActivity {
  readonly #mailbox: ControllableMailbox;
  readonly #options: ActivityOptions;
  #closeFeed: () => void = () => {};
  #wake: () => void = () => {};
  #hasBegun = false;
  #hasActed = false;
  #doneAtMs: number | undefined;
  #longestGapMs = 0;
  #lastChangeMs = Number.NEGATIVE_INFINITY;
  #lastActMs = Number.NEGATIVE_INFINITY;
  #lastNewsMs = Number.NEGATIVE_INFINITY;
  #lastOtherMs = Number.NEGATIVE_INFINITY;
  #lookIntervalMs: number | undefined;
  #lastLookMs = 0;
  #lastMailMs = Number.NEGATIVE_INFINITY;
  /** The ids that its looks have shown so far, and their paths with the status. A look that adds none is no activity. */
  readonly #shown = new Set<string>();
  /** How many events came so far. */
  #events = 0;

  constructor(mailbox: ControllableMailbox, options: ActivityOptions) {
    this.#mailbox = mailbox;
    this.#options = options;
    const reader = mailbox.feed()[Symbol.asyncIterator]();
    this.#closeFeed = () => void reader.return?.();
    const follow = async () => {
      for (let event = await reader.next(); !event.done; event = await reader.next()) this.#note(event.value);
    };
    follow().catch((error: unknown) => this.#options.onFailure?.(error));
  }

  /** Begins the observation: what came before, such as a login at the start, was no work. */
  begin(): void {
    this.#hasBegun = true;
    this.noteChange();
  }

  /** Ends the observation. */
  end(): void {
    this.#closeFeed();
    this.wake();
  }

  /** Notes that a step has changed what the agent may find. A client of IMAP is told of mail alone. */
  noteChange(): void {
    if (this.#options.looks === 'for mail') this.#lastOtherMs = realNowMs();
    else this.#lastChangeMs = realNowMs();
    this.wake();
  }

  /**
   * Notes a request of the agent that the feed does not have, because it came with a key that the agent no longer has.
   * If the agent looks for mail, a GET is a look, which shows nothing.
   */
  noteRefused(method: string): void {
    const atMs = realNowMs();
    this.#hasActed ||= this.#hasBegun;
    if (this.#options.looks === 'again' && method === 'GET') this.#lastLookMs = atMs;
    else {
      this.#lastActMs = atMs;
      this.#forgetDone(atMs);
    }
    this.wake();
  }

  /** Notes that the agent says that it is done. */
  noteDone(): void {
    this.#doneAtMs = realNowMs();
    this.wake();
  }

  /** Ends the present wait, because what is known of the agent has changed. */
  wake(): void {
    this.#events += 1;
    this.#wake();
  }

  /** How many times anything has happened so far. */
  get events(): number {
    return this.#events;
  }

  /** Whether anything came from the agent since the beginning. */
  get hasActed(): boolean {
    return this.#hasActed;
  }

  /** When mail arrived in the inbox of the agent for the last time, in milliseconds since 1970. */
  get lastMailMs(): number {
    return this.#lastMailMs;
  }

  /** When anything came or changed for the last time, in milliseconds since 1970. */
  get lastActivityMs(): number {
    return Math.max(this.#lastChangeMs, this.#lastActMs, this.#lastNewsMs, this.#lastOtherMs);
  }

  /** Whether the agent has looked since the last change; true for an agent that does not look. */
  get knowsOfChange(): boolean {
    return this.#options.looks === 'never' || this.#lastLookMs > this.#lastChangeMs;
  }

  /** Returns what was observed until now. */
  observe(
    known: Pick<ObservedAgent, 'limitMs' | 'quietMs' | 'hasBreached'> & { isAtWork: boolean; saidDone: boolean },
  ) {
    const { isAtWork, saidDone, ...others } = known;
    const { requests, deliveries } = this.#mailbox.openCalls();
    const observed: ObservedAgent = {
      ...others,
      nowMs: realNowMs(),
      longestGapMs: this.#longestGapMs,
      saidDone: saidDone || this.#doneAtMs !== undefined,
      openCalls: requests + deliveries + (isAtWork ? 1 : 0),
      mayStillStart: this.#options.startsUnseen && !this.#hasActed,
      looks: this.#options.looks,
      lastChangeMs: this.#lastChangeMs,
      lastActMs: this.#lastActMs,
      lastNewsMs: this.#lastNewsMs,
      lastOtherMs: this.#lastOtherMs,
      lastLookMs: this.#lastLookMs,
      lookIntervalMs: this.#lookIntervalMs,
    };
    return observed;
  }

  /** Resolves at a time, or as soon as something happens. */
  async waitUntil(timeMs: number): Promise<void> {
    const { requests, deliveries } = this.#mailbox.openCalls();
    const longestMs = requests + deliveries > 0 ? OPEN_CALL_MS : Number.POSITIVE_INFINITY;
    const durationMs = Math.min(Math.max(timeMs - realNowMs(), 1), longestMs, 2 ** 31 - 1);
    let timer: ReturnType<typeof setTimeout> | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      timer = setTimeout(resolve, durationMs);
    });
    clearTimeout(timer);
    this.#wake = () => {};
  }

  /** Lets everything that has happened be noted, and returns whether there was anything. */
  async hasNews(): Promise<boolean> {
    const before = this.#events;
    await new Promise<void>((resolve) => void (setImmediate ?? setTimeout)(resolve));
    return this.#events !== before;
  }

  #note(event: FeedEvent): void {
    const atMs = Date.parse(event.realTime);
    const { inboxId, webhookId, looks } = this.#options;
    switch (event.kind) {
      case 'request':
      case 'mail-command':
        this.#noteRequest(event.data, atMs);
        this.#options.onRequest?.(event.data);
        break;
      case 'stream-opened':
        // An agent that listens to a stream has opened it before the steps, and then only waits.
        this.#hasActed = true;
        this.#lastActMs = atMs;
        break;
      case 'attempt':
        if (event.data.status !== null && (webhookId === undefined || event.data.webhookId === webhookId)) {
          this.#hasActed ||= this.#hasBegun;
          this.#lastActMs = atMs;
        } else this.#lastOtherMs = atMs;
        break;
      case 'agent-done':
        this.#doneAtMs = atMs;
        break;
      case 'mail-received':
        this.#lastOtherMs = atMs;
        if (event.data.mail.inboxId === inboxId) this.#lastMailMs = atMs;
        if (looks !== 'for mail' || event.data.mail.inboxId === inboxId) this.#lastChangeMs = atMs;
        this.#forgetDone(atMs);
        break;
      case 'delivery-created':
        this.#lastOtherMs = atMs;
        this.#forgetDone(atMs);
        break;
      case 'mail-sent':
        this.#shown.add(event.data.mail.id.toLowerCase());
        this.#lastOtherMs = atMs;
        break;
      case 'mail-held':
      case 'delivery-released':
      case 'delivery-ended':
      case 'stream-closed':
        this.#lastOtherMs = atMs;
        break;
      default:
        return;
    }
    this.wake();
  }

  #noteRequest(request: RequestSummary, endedMs: number): void {
    const startedMs = endedMs - request.durationMs;
    const mayStillStart = this.#options.startsUnseen && !this.#hasActed;
    this.#hasActed ||= this.#hasBegun;
    if (this.#isLook(request)) {
      const isAfterLook = this.#lastLookMs > Math.max(this.#lastActMs, this.#lastNewsMs, 0);
      if (isAfterLook) this.#lookIntervalMs = Math.max(this.#lookIntervalMs ?? 0, startedMs - this.#lastLookMs);
      // A client of IMAP that is told of a mail looks at once, so its look may begin in the millisecond of the mail.
      this.#lastLookMs = request.protocol === 'imap' ? endedMs + 1 : startedMs;
      if (!this.#showsNew(request)) return;
      this.#lastNewsMs = endedMs;
    } else {
      if (this.#hasBegun && !mayStillStart) {
        this.#longestGapMs = Math.max(this.#longestGapMs, startedMs - this.lastActivityMs);
      }
      this.#lastActMs = endedMs;
    }
    this.#forgetDone(startedMs);
  }

  /** Forgets that the agent said that it is done, if something has begun after that. */
  #forgetDone(atMs: number): void {
    if (this.#doneAtMs !== undefined && atMs > this.#doneAtMs) this.#doneAtMs = undefined;
  }

  /** Returns whether a request is one by which the agent looks for mail, and which it repeats if there is none. */
  #isLook(request: RequestSummary): boolean {
    const { looks } = this.#options;
    if (looks === 'for mail') return request.protocol === 'imap' && IMAP_LOOK.test(request.command);
    return looks === 'again' && request.protocol === 'http' && request.method === 'GET';
  }

  /**
   * Returns whether a look shows anything new: the id of an object that no look has shown before, and that is no mail of
   * the agent, or another status or path.
   */
  #showsNew(request: RequestSummary): boolean {
    const { id, path } = request;
    let body: string;
    try {
      body = this.#mailbox.request(id).reply.body ?? '';
    } catch (error) {
      // The journal has dropped it already, because there are very many requests.
      if (!(error instanceof ApiError)) throw error;
      return true;
    }
    const before = this.#shown.size;
    this.#shown.add(`${path} ${resultOf(request)}`);
    for (const shown of body.match(ID) ?? []) this.#shown.add(shown.toLowerCase());
    return this.#shown.size > before;
  }
}
