import { freezeDeep } from '../../basics/freeze-deep.ts';
import { messageOf } from '../../basics/named-error.ts';
import { checkNumber } from '../../basics/number-options.ts';
import { maskDeep } from '../../contract/mask.ts';
import type { Service } from '../../service/pipeline/exchange.ts';
import type { Environment } from '../../world/environment.ts';
import type { Activity, ActivityEntry, EventBus } from '../../world/event-bus.ts';
import type { MessageRow } from '../../world/store/rows.ts';
import type { Owner, Part, PartOf, World } from '../../world/store/world.ts';
import type { Worlds } from '../../world/store/worlds.ts';
import type { FeedEvent, FeedItem, FeedOptions } from './feed-event.ts';
import { Journal, RecentList } from './journal.ts';
import { type JournalReader, type KeptRequest, showSummary } from './show-request.ts';

/**
 * Events of these kinds report a change of the time, the journal or the behaviours. If the change is of the whole
 * mailbox, it affects every tenant, so the feed of each sandbox gets the event, too.
 */
const KINDS_FOR_ALL_TENANTS: ReadonlySet<FeedItem['kind']> = new Set(['clock', 'journal', 'behaviours']);

/** How many requests of each tenant a journal keeps by default. */
const DEFAULT_SIZE = 1_000;

/** Records what happens in a mailbox: requests in the journal, mail in the mail log, and everything in the feed. */
export class Recorder {
  readonly journal: Journal;
  readonly feed: Feed;
  readonly mailLog: MailLog;
  /**
   * Returns the feed of the mailbox or of a sandbox. The feed of a sandbox has only events that concern this sandbox.
   */
  readonly feedOf: PartOf<Feed>;
  readonly #worlds: Worlds;

  /**
   * Starts to record. With the size 0, requests are not recorded.
   *
   * @throws {RangeError} on an invalid size.
   */
  constructor(service: Service, realEnvironment: Environment, activity: Activity, size: unknown = DEFAULT_SIZE) {
    const { worlds, events, observers, faults } = service;
    const limit = checkNumber('journalSize', size);
    this.#worlds = worlds;
    this.feedOf = worlds.addPart('feed', (owner) => {
      return new Feed(realEnvironment, owner === worlds ? 'mailbox' : 'sandbox');
    });
    this.feed = this.feedOf(worlds);
    const journal = new Journal(service, realEnvironment, limit);
    activity.subscribe((entry) => this.publish('tenantId' in entry ? entry.tenantId : null, toFeedItem(entry)));
    faults.onUsed((fault) => this.publish(fault.tenantId, { kind: 'fault', action: 'used', fault }));
    if (limit > 0) {
      observers.push((exchange) => {
        const kept = journal.record(exchange);
        for (const feed of this.#feedsFor(kept.principal?.tenantId)) feed.publish({ kept }, kept.realTimeMs);
      });
    }
    this.journal = journal;
    this.mailLog = new MailLog(worlds, events);
  }

  /**
   * Publishes an event of a tenant or, if `tenant` is null, of the whole mailbox. The feeds of sandboxes do not get
   * most events of the whole mailbox, because these events may contain data of any tenant.
   */
  publish(tenant: string | null, item: FeedItem): void {
    const isForAll = tenant === null && KINDS_FOR_ALL_TENANTS.has(item.kind);
    const feeds = isForAll ? this.feedOf.in(this.#worlds.owners()) : this.#feedsFor(tenant);
    for (const feed of feeds) feed.publish(item);
  }

  /** Ends the feed of every reader, and every wait for mail. */
  end(): void {
    for (const feed of this.feedOf.in(this.#worlds.owners())) feed.end();
    this.mailLog.end('The server was closed');
  }

  /**
   * Returns the feeds for the events of a tenant: the feed of the mailbox and, if the tenant is a sandbox, the feed of
   * the sandbox.
   */
  #feedsFor(tenant: string | null | undefined): Feed[] {
    const world = this.#worlds.get(tenant ?? '');
    return this.feedOf.in(world ? [this.#worlds, world] : [this.#worlds]);
  }
}

/** How many past events a feed keeps. */
const MAX_EVENTS = 1_000;

/** A past event. It is formatted and masked when the first reader reads it, and all readers share the result. */
interface PastEvent {
  readonly realTimeMs: number;
  readonly item: FeedItem | { readonly kept: KeptRequest };
  shown?: FeedEvent;
}

/**
 * The live feed of a mailbox or a sandbox. Its readers share one list of recent events, so a slow reader needs no
 * memory. When it reads again, it gets a `gap` instead of the events that are no longer kept.
 */
export class Feed implements Part {
  readonly staysOnReset = true;
  readonly #environment: Pick<Environment, 'now'>;
  readonly #reader: JournalReader;
  readonly #events = new RecentList<PastEvent>(MAX_EVENTS);
  readonly #waiting = new Set<() => void>();
  readonly #listeners = new Set<() => void>();
  /**
   * The start of every event id. It is different in each run of the process, so that an id of an earlier run is
   * unknown.
   */
  readonly #run: string;
  #endCount = 0;

  /** Creates a feed without events. The environment must give the real time. */
  constructor(environment: Pick<Environment, 'now'>, reader: JournalReader = 'mailbox') {
    this.#environment = environment;
    this.#reader = reader;
    this.#run = environment.now().getTime().toString(36);
  }

  /** Calls the listener after each event. */
  onAdded(listener: () => void): void {
    this.#listeners.add(listener);
  }

  publish(item: PastEvent['item'], realTimeMs = this.#environment.now().getTime()): void {
    this.#events.push({ realTimeMs, item });
    if (this.#waiting.size > 0) this.#wakeReaders();
    for (const notify of this.#listeners) notify();
  }

  /** Ends the feed of every current reader, after the reader has read the events so far. */
  end(): void {
    this.#endCount += 1;
    this.#wakeReaders();
  }

  /** Reads the feed. Without `lastEventId`, new events are those after this call, even if `next()` is called later. */
  read({ lastEventId, follow = true }: FeedOptions = {}): AsyncIterable<FeedEvent> {
    const start = this.#positionAfter(lastEventId, follow);
    return { [Symbol.asyncIterator]: () => this.#createReader(start, follow) };
  }

  #createReader(start: number, follow: boolean): AsyncIterator<FeedEvent, undefined> {
    const endCount = this.#endCount;
    let position = start;
    let isClosed = false;
    return {
      next: async () => {
        while (!isClosed) {
          const found = this.#readAt(position);
          if (found) {
            position = found.position;
            return { done: false, value: found.value };
          }
          if (!follow || endCount !== this.#endCount) break;
          await new Promise<void>((resolve) => this.#waiting.add(resolve));
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

  /** Returns the position after an event; -1 if the id is unknown. */
  #positionAfter(lastEventId: string | undefined, follow: boolean): number {
    const { start, end } = this.#events;
    if (lastEventId === undefined) return follow ? end : start;
    if (lastEventId === '0') return start;
    const [run, number = ''] = lastEventId.split('-');
    return run === this.#run && /^\d{1,15}$/.test(number) && Number(number) <= end ? Number(number) : -1;
  }

  /**
   * Returns the event at a position, and the next position. Returns a `gap` if the event is no longer kept, and
   * `undefined` if there is no event yet.
   */
  #readAt(position: number): { readonly value: FeedEvent; readonly position: number } | undefined {
    const { start } = this.#events;
    if (position < start) {
      const item = { kind: 'gap', missed: position < 0 ? null : start - position } as const;
      return { value: this.#show(start, { realTimeMs: this.#environment.now().getTime(), item }), position: start };
    }
    const event = this.#events.at(position);
    if (!event) return undefined;
    event.shown ??= freezeDeep(this.#show(position + 1, event));
    return { value: event.shown, position: position + 1 };
  }

  #show(number: number, { realTimeMs, item }: PastEvent): FeedEvent {
    const common = { id: `${this.#run}-${number}`, realTime: new Date(realTimeMs).toISOString() };
    if (!('kept' in item)) return { ...common, ...maskDeep(item) };
    return { ...common, kind: 'request', request: showSummary(item.kept, this.#reader) };
  }

  #wakeReaders(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
}

/** Converts an entry of the activity to an item of the feed. */
function toFeedItem(entry: ActivityEntry): FeedItem {
  return entry.kind === 'failure' ? { kind: 'failure', error: messageOf(entry.error) } : entry;
}

/** How many messages of each tenant the mail log keeps. */
const MAX_MESSAGES = 1_000;

/** A message that arrived or was sent. */
export interface LoggedMail {
  /** Its position among the messages of all tenants. */
  readonly number: number;
  readonly world: World;
  readonly message: MessageRow;
  /** To how many event streams its event was sent. */
  readonly streams: number;
}

/** What the mail log keeps of a message. */
type Entry = Pick<LoggedMail, 'number' | 'streams'> & { readonly messageId: string };

/** The functions that are called for somebody who waits for mail. */
export interface MailListener {
  /** Is called with each message. */
  onMail(mail: LoggedMail): void;
  /** Is called with the reason, such as `The mailbox was reset`, when no mail can come any more. */
  onEnd(reason: string): void;
}

/**
 * The mail of one tenant, and the listeners that wait for it. The list of the mailbox has only the listeners that wait
 * for the mail of any tenant.
 */
class MailList implements Part {
  readonly entries = new RecentList<Entry>(MAX_MESSAGES);
  readonly listeners = new Set<MailListener>();

  end(reason: string): void {
    for (const listener of [...this.listeners]) listener.onEnd(reason);
  }
}

/** Keeps which messages arrived or were sent since the start. Messages of the fixture are not logged. */
export class MailLog {
  readonly #worlds: Worlds;
  readonly #listOf: PartOf<MailList>;
  #count = 0;

  /** Starts to log. Skips the events that a test triggers, which have `overrides`. */
  constructor(worlds: Worlds, events: EventBus) {
    this.#worlds = worlds;
    this.#listOf = worlds.addPart('mail', () => new MailList());
    events.subscribe(({ kind, world, message, overrides, streams = 0 }) => {
      if (overrides === undefined && kind !== 'message.bounced') this.#add({ world, message, streams });
    });
  }

  /** Returns the messages of some tenants, oldest first, without deleted messages. */
  list(worlds: readonly World[]): LoggedMail[] {
    const all = worlds.flatMap((world) => {
      const entries = this.#listOf.in([world]).flatMap((list) => list.entries.all());
      return entries.flatMap(({ messageId, ...entry }) => {
        const message = world.messages.get(messageId);
        return message?.deletedAt === null ? [{ ...entry, world, message }] : [];
      });
    });
    return all.sort((a, b) => a.number - b.number);
  }

  /** Adds a listener for the mail of an owner, and returns a function that removes it. */
  listen(owner: Owner, listener: MailListener): () => void {
    const { listeners } = this.#listOf(owner);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  /** Ends every wait for mail, with a reason. */
  end(reason: string): void {
    for (const list of this.#listOf.in(this.#worlds.owners())) list.end(reason);
  }

  #add(added: Omit<LoggedMail, 'number'>): void {
    const { world, message, streams } = added;
    this.#count += 1;
    this.#listOf(world).entries.push({ number: this.#count, messageId: message.id, streams });
    const mail = { ...added, number: this.#count };
    const listeners = this.#listOf.in([world, this.#worlds]).flatMap((list) => [...list.listeners]);
    for (const listener of listeners) listener.onMail(mail);
  }
}
