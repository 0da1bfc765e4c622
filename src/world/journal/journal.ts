import { type Environment, memoryForMail, printError } from '../environment.ts';
import { sizeInMemory, sizeOfMailRow } from '../store/database.ts';
import { findOwner, type Owner, type Part, type PartOf } from '../store/parts.ts';
import type { ReachableWorlds } from '../store/reachable-worlds.ts';
import type { AttachmentRow, MessageRow, RowKind, Rows } from '../store/rows.ts';
import { canonicalAddress, type World } from '../store/world.ts';
import type { Worlds } from '../store/worlds.ts';
import {
  type ChangedKind,
  ENTRY_KINDS,
  type Entry,
  type EntryData,
  type EntryKind,
  type EntryNumber,
  type EntryOf,
  isEntryOf,
  MAIL_ENTRY_KINDS,
  type MailEvent,
  type Origin,
  SHOWN_PARTS,
  type ShownMails,
  type ShownPart,
} from './entry.ts';
import { EntryList } from './entry-list.ts';

/** How many entries of each kind of the story an owner keeps. */
const STORY_SIZE = 10_000;

/** How many attempts, frames and so on an owner keeps at least, also if `journalSize` is smaller. */
const LEAST_TRAFFIC = 1_000;

/** How many entries of owners that have ended, such as closed sandboxes, are kept. */
const ENDED_SIZE = 10_000;

/** The limit for the bytes of the story, and for those of the traffic. */
const MAX_BYTES = 64 * 1024 * 1024;

/** The kinds whose number `journalSize` limits. */
const REQUEST_KINDS: readonly EntryKind[] = ['request', 'mail-command'];

/** The kinds that the feed has. Other kinds are only in the journal. */
export const FEED_KINDS: readonly EntryKind[] = [
  'mail-received',
  'mail-sent',
  'mail-held',
  'request',
  'mail-command',
  'delivery-created',
  'delivery-released',
  'attempt',
  'delivery-ended',
  'stream-opened',
  'stream-closed',
  'agent-done',
  'fault',
  'clock',
  'sandbox',
  'checkpoint',
  'key',
  'journal',
  'messages',
  'behaviours',
  'reset',
  'failure',
];

/**
 * Entries of these kinds report a change of the time, the list of requests or the behaviours. If the change is of the
 * whole mailbox, it affects every tenant, so the feed of each sandbox has the entry, too.
 */
export const KINDS_FOR_ALL_TENANTS: readonly EntryKind[] = ['clock', 'journal', 'behaviours'];

/** How many entries of some kinds are no longer kept, and when the last of them happened. */
export interface Dropped {
  readonly count: number;
  /** In real time: ISO 8601 UTC. Null if nothing was dropped. */
  readonly until: string | null;
}

/** What happened to one owner: a tenant, a sandbox, or the mailbox for what belongs to no tenant. */
export class Journal implements Part {
  readonly staysOnReset = true;
  readonly list = new EntryList();
  readonly #journals: Journals;
  /** The order of the first entry of the present epoch and of the former epoch. */
  epochStart = 0;
  formerStart = 0;
  /** How many entries were added. */
  count = 0;
  feedCount = 0;
  /** How many requests came in the present epoch. */
  requestCount = 0;
  /** After this order, the list of requests starts. `clearRequests` sets it. */
  requestsStart = 0;
  /** Where the list of requests started before the latest `clearRequests`. */
  restorableStart: number | undefined;
  /** What clients were shown in the present epoch of each mail that they have named, as bits: see `bitsOf`. */
  readonly shownBits = new Map<string, number>();
  /** The ids of the files whose bytes clients were shown in the present epoch. */
  readonly shownFiles = new Set<string>();
  /** How many entries of the present epoch were dropped, by kind, and when the last of them happened. */
  readonly dropped = new Map<EntryKind, { count: number; untilMs: number }>();
  /** From this order on, what nobody owns may concern a sandbox, and when that was in real time, in milliseconds. */
  begin = { order: 0, realTimeMs: 0 };
  /** Whether a reset or a restore begins no epoch, so that all entries since the start are those of the present epoch. */
  keepsEpoch = false;

  constructor(journals: Journals) {
    this.#journals = journals;
  }

  /**
   * Begins an epoch. The mail and the traffic of the epoch before the former one are removed; what tests did stays, for
   * the feed.
   */
  beginEpoch(): void {
    if (this.keepsEpoch) return;
    const start = this.#journals.beginEpoch(this);
    this.formerStart = this.epochStart;
    this.epochStart = start;
    this.requestCount = 0;
    this.requestsStart = start;
    this.restorableStart = undefined;
    this.shownBits.clear();
    this.shownFiles.clear();
    this.dropped.clear();
  }

  /** Notes that an entry is no longer kept. */
  noteDropped({ order, kind, realTimeMs }: Entry): void {
    if (order < this.epochStart) return;
    const { count } = this.dropped.get(kind) ?? { count: 0 };
    this.dropped.set(kind, { count: count + 1, untilMs: realTimeMs });
  }

  end(): void {
    this.#journals.keepEnded(this);
  }
}

/** Sizes of entries, to keep the journal within its bytes. */
class Budget {
  bytes = 0;

  constructor(readonly maxBytes: number) {}

  get isExceeded(): boolean {
    return this.bytes > this.maxBytes;
  }
}

/** Which entries a reader wants. */
export interface EntryQuery<Kind extends EntryKind = EntryKind> {
  readonly kinds: readonly Kind[];
  /** The present epoch (default), or the one before it, which ended with the latest reset or restore. */
  readonly epoch?: 'present' | 'former' | undefined;
}

/**
 * The journals of a mailbox and of its tenants: what happened, completely and only once. Everything that tells or judges
 * reads them. A journal drops its oldest entries when it is full, and counts them; nothing else removes an entry.
 */
export class Journals {
  /** How many requests of each tenant are kept. */
  readonly size: number;
  readonly #worlds: Worlds;
  readonly #environment: Environment;
  readonly #journalOf: PartOf<Journal>;
  readonly #ofMailbox: Journal;
  /** The entries of all owners, also of those that have ended. */
  readonly #all = new EntryList();
  readonly #budgets: { readonly story: Budget; readonly traffic: Budget };
  readonly #listeners = new Map<EntryKind, ((entry: Entry) => void)[]>();
  /** The journals of owners that have ended, the oldest first, and how many entries each has. */
  readonly #ended: Journal[] = [];
  #endedCount = 0;
  #order = 0;
  #feedCount = 0;
  #requestCount = 0;
  #origin: Origin | undefined;
  /** The operation or the command of a client that runs now. */
  #client: string | undefined;
  #collected: Entry[] | undefined;

  /** Creates empty journals, which keep `size` requests of each tenant. `environment` gives the real time. */
  constructor(worlds: Worlds, environment: Environment, size: number) {
    this.size = size;
    this.#worlds = worlds;
    this.#environment = environment;
    const maxBytes = Math.min(MAX_BYTES, memoryForMail(environment) / 4);
    this.#budgets = { story: new Budget(maxBytes), traffic: new Budget(maxBytes) };
    this.#journalOf = worlds.addPart('journal', () => new Journal(this));
    worlds.onRowChange((world, kind, before, after) => {
      if (kind === 'messages' && after === undefined) this.#forgetShown(world, before as MessageRow);
      this.#addChange(world, kind, before, after);
    });
    // The journal of the mailbox exists from the start, because a reset of the mailbox begins an epoch in it.
    this.#ofMailbox = this.#journalOf(worlds);
  }

  /**
   * Adds an entry for an owner: for a tenant, by its id or its world, or for the mailbox. Then calls every listener for
   * entries of this kind; an error in one listener is reported and does not affect the others.
   */
  publish<Kind extends EntryKind>(
    of: Owner | string | null,
    kind: Kind,
    data: EntryData[Kind],
    { origin = this.#origin, realTimeMs }: { readonly origin?: Origin | undefined; readonly realTimeMs?: number } = {},
  ): Entry<Kind> {
    const owner = typeof of === 'string' || of === null ? findOwner(this.#worlds, of) : of;
    const journal = this.#journalOf(owner);
    const isInFeed = isFeedKind(kind) && this.#limitOf(kind) > 0;
    this.#order += 1;
    journal.count += 1;
    if (isInFeed) {
      this.#feedCount += 1;
      journal.feedCount += 1;
    }
    const entry: Entry<Kind> = Object.freeze({
      order: this.#order,
      number: journal.count,
      feedNumber: isInFeed ? this.#feedCount : 0,
      ownFeedNumber: isInFeed ? journal.feedCount : 0,
      realTimeMs: realTimeMs ?? this.realNowMs(),
      atMs: owner.clock.now().getTime(),
      tenantId: 'id' in owner ? (owner.id as string) : null,
      kind,
      data,
      origin,
      bytes: sizeOf(kind, data),
      journal,
    });
    this.#keep(journal, entry);
    if (owner === this.#worlds && KINDS_FOR_ALL_TENANTS.includes(kind)) this.#echo(entry);
    this.#collected?.push(entry);
    for (const listener of this.#listeners.get(kind) ?? []) {
      try {
        listener(entry);
      } catch (error) {
        // A failure is an entry, too. If a listener of failures fails, an entry for that would never end.
        if (kind === 'failure') printError(error);
        else this.#worlds.clock.reportFailure('an event', error);
      }
    }
    return entry;
  }

  /** Calls a listener with each new entry of some kinds. Returns a function that removes the listener. */
  subscribe<Kind extends EntryKind>(kinds: readonly Kind[], listener: (entry: EntryOf<Kind>) => void): () => void {
    const added = listener as (entry: Entry) => void;
    for (const kind of kinds) this.#listeners.set(kind, [...(this.#listeners.get(kind) ?? []), added]);
    return () => {
      for (const kind of kinds) {
        const others = (this.#listeners.get(kind) ?? []).filter((each) => each !== added);
        this.#listeners.set(kind, others);
      }
    };
  }

  /**
   * Runs the synchronous work of a client: an operation such as `createWebhook`, or a command. The entries that it adds
   * have this origin, and are added to `caused`. Each row that it changes also gets an entry.
   */
  runFor<Result>(client: string, origin: Origin, caused: Entry[], work: () => Result): Result {
    const previous = { origin: this.#origin, client: this.#client, collected: this.#collected };
    this.#origin = origin;
    this.#client = client;
    this.#collected = caused;
    try {
      return work();
    } finally {
      this.#origin = previous.origin;
      this.#client = previous.client;
      this.#collected = previous.collected;
    }
  }

  /** Runs some synchronous work, and returns the entries that it adds. */
  collect(work: () => void): readonly Entry[] {
    const previous = this.#collected;
    const entries: Entry[] = [];
    this.#collected = entries;
    try {
      work();
    } finally {
      this.#collected = previous;
    }
    return entries;
  }

  /** Adds an entry for a row that a client has changed. A message has one only when it is deleted or restored. */
  #addChange(world: World, kind: RowKind, before: object | undefined, after: object | undefined): void {
    const client = this.#client;
    const object = CHANGED_OBJECTS[kind];
    if (client === undefined || object === undefined) return;
    const action = before === undefined ? 'created' : after === undefined ? 'removed' : 'changed';
    const row = (after ?? before) as Partial<Rows[RowKind]> & { readonly inboxId?: string; readonly ownerId?: string };
    const change = { object, id: row.id ?? '', inboxId: row.inboxId ?? row.ownerId ?? null, by: client, row };
    if (kind !== 'messages') {
      this.publish(world, 'change', { ...change, action });
      return;
    }
    const [wasDeleted, isDeleted] = [before, after].map((each) => each && (each as MessageRow).deletedAt !== null);
    if (action === 'removed') this.publish(world, 'change', { ...change, action });
    else if (before && wasDeleted !== isDeleted) {
      this.publish(world, 'change', { ...change, action: isDeleted ? 'removed' : 'created' });
    }
  }

  /**
   * Notes what a reply shows of mails of a world. Returns the ids of those of which it shows something that no reply
   * has shown before. The ids of other objects are ignored.
   */
  noteShown(world: World, { parts, messageIds, attachmentIds = [] }: ShownMails): string[] {
    const { shownBits, shownFiles } = this.#journalOf(world);
    const bits = bitsOf(parts);
    const isNewFile = attachmentIds.some((id) => !shownFiles.has(id));
    for (const id of isNewFile ? attachmentIds : []) shownFiles.add(id);
    const found: string[] = [];
    for (const messageId of messageIds) {
      const known = shownBits.get(messageId);
      if (known !== undefined && (known & bits) === bits && !isNewFile) continue;
      const message = world.messages.get(messageId);
      if (!message) continue;
      // Not `messageId`: V8 keeps the whole text of a reply as long as a text that was cut out of it.
      shownBits.set(message.id, (known ?? 0) | bits);
      found.push(message.id);
    }
    return found;
  }

  /** Forgets what was shown of a mail, because it was removed and cannot be shown again. */
  #forgetShown(world: World, { id }: MessageRow): void {
    for (const { shownBits } of this.#journalOf.in([world])) shownBits.delete(id);
  }

  /** Returns the real time, in milliseconds. */
  realNowMs(): number {
    return this.#environment.now().getTime();
  }

  /** Counts a new request of an owner. Returns its number in the mailbox, and its number among those of its owner. */
  countRequest(owner: Owner): readonly [number: number, ownNumber: number] {
    const journal = this.#journalOf(owner);
    this.#requestCount += 1;
    journal.requestCount += 1;
    return [this.#requestCount, journal.requestCount];
  }

  /** Returns the entries of some owners, oldest first. */
  of<Kind extends EntryKind>(
    owners: readonly Owner[],
    { kinds, epoch = 'present' }: EntryQuery<Kind>,
  ): EntryOf<Kind>[] {
    const lists = this.#journalOf.in(owners).map((journal) => {
      const isWanted = ({ order }: Entry) =>
        epoch === 'present' ? order >= journal.epochStart : order >= journal.formerStart && order < journal.epochStart;
      const entries = journal.list.of(kinds);
      return entries.every(isWanted) ? entries : entries.filter(isWanted);
    });
    const [only] = lists;
    if (only && lists.length === 1) return only as EntryOf<Kind>[];
    return lists.flat().sort((one, other) => one.order - other.order) as EntryOf<Kind>[];
  }

  /**
   * Returns an entry for each mail with which the present epoch of some worlds began, such as the mail of the fixture.
   * The entries are created from the rows of that time, and have no numbers.
   */
  atStart(worlds: readonly World[]): Entry<'mail-at-start'>[] {
    return worlds.flatMap(({ id: tenantId, rowsAtStart }) => {
      const files = new Map<string, AttachmentRow[]>();
      for (const file of rowsAtStart?.attachments ?? []) {
        files.set(file.messageId, [...(files.get(file.messageId) ?? []), file]);
      }
      const inboxes = new Map(rowsAtStart?.inboxes.map((inbox) => [inbox.id, inbox]));
      return (rowsAtStart?.messages ?? []).map((message): Entry<'mail-at-start'> => {
        const inbox = inboxes.get(message.inboxId);
        const atMs = Date.parse(message.receivedAt);
        const data: MailEvent = {
          id: `evt_${message.id}`,
          event: message.direction === 'inbound' ? 'message.received' : 'message.sent',
          workspaceId: inbox?.workspaceId ?? '',
          inboxId: message.inboxId,
          inbox: inbox ? canonicalAddress(inbox) : '',
          message,
          attachments: files.get(message.id) ?? [],
          source: 'fixture',
        };
        const numbers = { order: 0, number: 0, feedNumber: 0, ownFeedNumber: 0 };
        return {
          ...numbers,
          realTimeMs: atMs,
          atMs,
          tenantId,
          kind: 'mail-at-start',
          data,
          origin: undefined,
          bytes: 0,
          journal: this.#ofMailbox,
        };
      });
    });
  }

  /**
   * Returns the entries of every owner that has ended since the last reset of the mailbox, such as a deleted tenant or a
   * closed sandbox, oldest first.
   */
  ofEnded<Kind extends EntryKind>(kinds: readonly Kind[]): EntryOf<Kind>[] {
    const { epochStart } = this.#ofMailbox;
    const entries = this.#ended.flatMap(({ list }) => list.of(kinds).filter(({ order }) => order >= epochStart));
    return entries.sort((one, other) => one.order - other.order) as EntryOf<Kind>[];
  }

  /**
   * Returns a function that finds the entry that led to another, which may no longer be kept: for a mail that answers or
   * forwards another, that mail; otherwise what its origin says. Use the function only while nothing is added.
   */
  causes(): (entry: Entry) => EntryNumber | undefined {
    const mails = new Map<Journal, Map<string, Entry[]>>();
    const mailsOf = (journal: Journal) => {
      const known = mails.get(journal);
      if (known) return known;
      const byMessageId = new Map<string, Entry[]>();
      for (const entry of journal.list.of(['mail-received', 'mail-sent'])) {
        const { messageIdHeader } = (entry.data as MailEvent).message;
        byMessageId.set(messageIdHeader, [...(byMessageId.get(messageIdHeader) ?? []), entry]);
      }
      mails.set(journal, byMessageId);
      return byMessageId;
    };
    return (entry) => {
      const journal = entry.journal as Journal;
      if (isEntryOf(entry, 'mail-received', 'mail-sent')) {
        const { message, forwardOf } = entry.data;
        for (const id of [message.inReplyTo, forwardOf]) {
          const named = id == null ? undefined : mailsOf(journal).get(id);
          const found = named?.findLast(({ order }) => order < entry.order);
          if (found) return found;
        }
      }
      return entry.origin?.entry;
    };
  }

  /** Returns how many entries of some kinds the journals of some owners have dropped since their last reset. */
  dropped(owners: readonly Owner[], kinds: readonly EntryKind[]): Dropped {
    let count = 0;
    let untilMs = 0;
    for (const { dropped } of this.#journalOf.in(owners)) {
      for (const kind of kinds) {
        const found = dropped.get(kind);
        count += found?.count ?? 0;
        untilMs = Math.max(untilMs, found?.untilMs ?? 0);
      }
    }
    return { count, until: count === 0 ? null : new Date(untilMs).toISOString() };
  }

  /** Returns the requests and commands of some owners that lists of requests show, oldest first. */
  requests(owners: readonly Owner[]): EntryOf<'request' | 'mail-command'>[] {
    const kinds = REQUEST_KINDS as readonly ('request' | 'mail-command')[];
    const lists = this.#journalOf.in(owners).map((journal) => {
      const entries = journal.list.of(kinds) as EntryOf<'request' | 'mail-command'>[];
      const start = Math.max(journal.requestsStart, journal.epochStart);
      return entries.filter(({ order }) => order >= start);
    });
    return lists.flat().sort((one, other) => one.order - other.order);
  }

  /** Makes lists of requests start after the present requests. `restoreRequests` undoes this. */
  clearRequests(owners: readonly Owner[]): void {
    for (const journal of this.#journalOf.in(owners)) {
      journal.restorableStart = journal.requestsStart;
      journal.requestsStart = this.#order + 1;
    }
  }

  /** Makes lists of requests start where they started before the latest `clearRequests`. */
  restoreRequests(owners: readonly Owner[]): void {
    for (const journal of this.#journalOf.in(owners)) {
      journal.requestsStart = journal.restorableStart ?? journal.requestsStart;
      journal.restorableStart = undefined;
    }
  }

  /** Returns the number of the last entry that the feed of a mailbox or a sandbox has. */
  lastFeedNumber(worlds: ReachableWorlds): number {
    return worlds.sandboxId === undefined ? this.#feedCount : this.#journalOf(worlds).feedCount;
  }

  /** Returns the next entry of the feed of a mailbox or a sandbox after a number. */
  nextInFeed(worlds: ReachableWorlds, number: number): Entry | undefined {
    if (worlds.sandboxId === undefined) return this.#all.after(FEED_KINDS, 'feedNumber', number);
    return this.#journalOf(worlds).list.after(FEED_KINDS, 'ownFeedNumber', number);
  }

  /** Begins the journal of a sandbox: what nobody owns may concern it from now on or, if it is told of all, never. */
  begin(of: Owner, { isToldOfAll }: { readonly isToldOfAll: boolean }): void {
    const order = isToldOfAll ? Number.POSITIVE_INFINITY : this.#order + 1;
    const realTimeMs = isToldOfAll ? Number.POSITIVE_INFINITY : this.realNowMs();
    this.#journalOf(of).begin = { order, realTimeMs };
  }

  /** Returns the refused requests since a sandbox began, or since its reset, of which nothing shows whose they were. */
  unownedRefusals(sandbox: Owner): EntryOf<'refusal'>[] {
    const { begin, epochStart } = this.#journalOf(sandbox);
    const start = Math.max(begin.order, epochStart, this.#ofMailbox.epochStart);
    const entries = this.#ofMailbox.list.of(['refusal']) as EntryOf<'refusal'>[];
    return entries.filter(({ order }) => order >= start);
  }

  /** Returns how many of these the journal has dropped, at most. */
  droppedUnowned(sandbox: Owner): Dropped {
    const { count, until } = this.dropped([this.#worlds], ['refusal']);
    const { begin } = this.#journalOf(sandbox);
    const mayConcern = until !== null && Date.parse(until) >= begin.realTimeMs;
    return mayConcern ? { count, until } : { count: 0, until: null };
  }

  /** Lets no reset and no restore begin an epoch in the journal of an owner. */
  keepEpoch(of: Owner): void {
    this.#journalOf(of).keepsEpoch = true;
  }

  /** Removes the entries of the former epoch of a journal, and returns the order at which its next epoch begins. */
  beginEpoch(journal: Journal): number {
    this.#removeBefore(journal, journal.epochStart, KINDS_OF_EPOCH);
    if (journal === this.#ofMailbox) this.#requestCount = 0;
    return this.#order + 1;
  }

  #removeBefore(journal: Journal, order: number, kinds: readonly EntryKind[]): void {
    for (const kind of kinds) {
      for (let first = journal.list.first(kind); first && first.order < order; first = journal.list.first(kind)) {
        this.#remove(journal, first);
      }
    }
  }

  /** Keeps the entries of an owner that has ended, until there are too many such entries. Used by `Journal`. */
  keepEnded(journal: Journal): void {
    this.#ended.push(journal);
    this.#endedCount += countEntries(journal);
    while (this.#endedCount > ENDED_SIZE) {
      const oldest = this.#ended.shift();
      if (!oldest) break;
      this.#endedCount -= countEntries(oldest);
      this.#removeBefore(oldest, Number.POSITIVE_INFINITY, oldest.list.kinds());
    }
  }

  /** Adds an entry of the mailbox to the journal of each sandbox, because its feed has it, too. */
  #echo(entry: Entry): void {
    const owners = this.#worlds.all().filter((world) => this.#worlds.reachableFrom(world).sandboxId !== undefined);
    for (const journal of this.#journalOf.in(owners)) {
      journal.count += 1;
      journal.feedCount += 1;
      const echo = { ...entry, number: journal.count, ownFeedNumber: journal.feedCount };
      journal.list.add(Object.freeze(echo));
      const first = journal.list.size(entry.kind) > STORY_SIZE ? journal.list.first(entry.kind) : undefined;
      if (first) this.#drop(journal, first);
    }
  }

  #limitOf(kind: EntryKind): number {
    if (ENTRY_KINDS[kind] === 'story') return STORY_SIZE;
    return REQUEST_KINDS.includes(kind) ? this.size : Math.max(this.size, LEAST_TRAFFIC);
  }

  #keep(journal: Journal, entry: Entry): void {
    const limit = this.#limitOf(entry.kind);
    if (limit === 0) {
      journal.noteDropped(entry);
      return;
    }
    this.#budgets[ENTRY_KINDS[entry.kind]].bytes += entry.bytes;
    journal.list.add(entry);
    this.#all.add(entry);
    const first = journal.list.size(entry.kind) > limit ? journal.list.first(entry.kind) : undefined;
    if (first) this.#drop(journal, first);
    if (this.#budgets.story.isExceeded) this.#shrinkStory();
    if (this.#budgets.traffic.isExceeded) this.#shrinkTraffic();
  }

  /** Removes the bytes of the oldest mails and drafts, and then the oldest entries. */
  #shrinkStory(): void {
    const { story } = this.#budgets;
    const withBytes = this.#all.of([...MAIL_ENTRY_KINDS, 'change']) as EntryOf<'mail-received' | 'change'>[];
    const target = story.maxBytes * 0.9;
    for (const entry of withBytes) {
      if (story.bytes <= target) return;
      const stripped = withoutBytes(entry);
      if (stripped) this.#replace(entry, stripped);
    }
    for (const entry of this.#all.of(STORY_KINDS)) {
      if (story.bytes <= target) return;
      this.#dropFromOwner(entry);
    }
  }

  #shrinkTraffic(): void {
    const { traffic } = this.#budgets;
    for (const entry of this.#all.of(TRAFFIC_KINDS)) {
      if (traffic.bytes <= traffic.maxBytes * 0.9) return;
      this.#dropFromOwner(entry);
    }
  }

  #dropFromOwner(entry: Entry): void {
    this.#drop(entry.journal as Journal, entry);
  }

  #drop(journal: Journal, entry: Entry): void {
    journal.noteDropped(entry);
    this.#remove(journal, entry);
  }

  #remove(journal: Journal, entry: Entry): void {
    journal.list.remove(entry);
    // An echo of an entry of the mailbox is only in the journal of its sandbox.
    if (entry.journal === journal && this.#all.remove(entry)) {
      this.#budgets[ENTRY_KINDS[entry.kind]].bytes -= entry.bytes;
    }
  }

  #replace(entry: Entry, by: Entry): void {
    this.#budgets[ENTRY_KINDS[entry.kind]].bytes += by.bytes - entry.bytes;
    (entry.journal as Journal).list.replace(by);
    this.#all.replace(by);
  }
}

/** What a row of each kind is in the words of the service. Files of messages have no entries of their own. */
const CHANGED_OBJECTS: { readonly [Kind in RowKind]?: ChangedKind } = {
  addresses: 'address',
  apiKeys: 'key',
  domains: 'domain',
  drafts: 'draft',
  inboxes: 'inbox',
  listEntries: 'contact',
  lists: 'list',
  messages: 'message',
  tenants: 'tenant',
  webhooks: 'webhook',
  workspaces: 'workspace',
};

const STORY_KINDS = (Object.keys(ENTRY_KINDS) as EntryKind[]).filter((kind) => ENTRY_KINDS[kind] === 'story');
const TRAFFIC_KINDS = (Object.keys(ENTRY_KINDS) as EntryKind[]).filter((kind) => ENTRY_KINDS[kind] === 'traffic');

/** The kinds whose entries are removed one epoch after the end of their own. */
const KINDS_OF_EPOCH: readonly EntryKind[] = [
  ...TRAFFIC_KINDS,
  ...MAIL_ENTRY_KINDS,
  'mail-held',
  'read',
  'change',
  'correspondent',
  'sample',
];

const IN_FEED = new Set(FEED_KINDS);

function isFeedKind(kind: EntryKind): boolean {
  return IN_FEED.has(kind);
}

function countEntries({ list }: Journal): number {
  return list.kinds().reduce((sum, kind) => sum + list.size(kind), 0);
}

const NO_PARTS: readonly ShownPart[] = [];

/** What else somebody has seen who was shown a part. */
const INCLUDED_PARTS: { readonly [Part in ShownPart]?: readonly ShownPart[] } = {
  plainBody: ['snippet'],
  raw: SHOWN_PARTS,
};

/** Returns a number with a bit for each part, and for what the part includes. */
function bitsOf(parts: readonly ShownPart[]): number {
  let bits = 0;
  for (const part of parts) {
    bits |= 1 << SHOWN_PARTS.indexOf(part);
    for (const included of INCLUDED_PARTS[part] ?? NO_PARTS) bits |= 1 << SHOWN_PARTS.indexOf(included);
  }
  return bits;
}

/** The approximate size of an entry without its texts, in bytes. */
const ENTRY_BYTES = 512;

/** Returns the approximate size of an entry, in bytes. */
function sizeOf<Kind extends EntryKind>(kind: Kind, data: EntryData[Kind]): number {
  if (kind === 'request' || kind === 'mail-command' || kind === 'refused-request') {
    const { requestBody, reply } = data as EntryData['request'];
    return 2 * ENTRY_BYTES + (requestBody.start?.byteLength ?? 0) + (reply.body?.length ?? 0);
  }
  if (kind === 'attempt') {
    const { responseBody, thrown } = data as EntryData['attempt'];
    return ENTRY_BYTES + responseBody.length + (thrown?.length ?? 0);
  }
  if ((MAIL_ENTRY_KINDS as readonly EntryKind[]).includes(kind)) return sizeOfMailEvent(data as MailEvent);
  return KINDS_WITH_TEXTS.has(kind) ? ENTRY_BYTES + sizeInMemory(data) : ENTRY_BYTES;
}

/** The kinds whose entries may hold much: a draft, the answers of a correspondent, or the ids of many mails. */
const KINDS_WITH_TEXTS: ReadonlySet<EntryKind> = new Set(['change', 'correspondent', 'sample', 'messages', 'read']);

function sizeOfMailEvent({ message, attachments }: MailEvent): number {
  return attachments.reduce((sum, file) => sum + sizeOfMailRow(file), sizeOfMailRow(message));
}

/** Returns an entry of a mail or of a change without the bytes of the mail; undefined if it has none. */
function withoutBytes(entry: EntryOf<'mail-received' | 'change'>): Entry | undefined {
  if (entry.kind === 'change') {
    const { row } = entry.data;
    if (!(row && 'raw' in row && row.raw)) return undefined;
    const data = Object.freeze({ ...entry.data, row: Object.freeze({ ...row, raw: null }) });
    return Object.freeze({ ...entry, data, bytes: sizeOf('change', data) });
  }
  const { message, attachments } = entry.data;
  if (message.raw === null && attachments.every(({ content }) => content.byteLength === 0)) return undefined;
  const none = new Uint8Array(0);
  const data: MailEvent = {
    ...entry.data,
    message: { ...message, raw: null },
    attachments: attachments.map((file) => ({ ...file, content: none })),
    lacksBytes: true,
  };
  return Object.freeze({ ...entry, data: Object.freeze(data), bytes: sizeOfMailEvent(data) });
}
