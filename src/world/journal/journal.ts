import { type Environment, memoryForRecords, printError } from '../environment.ts';
import { findOwner, type Owner, type Part, type PartOf } from '../store/parts.ts';
import type { ReachableWorlds } from '../store/reachable-worlds.ts';
import type { Worlds } from '../store/worlds.ts';
import type { Cause, Entry, EntryNumbers, KindRow, KindRows } from './entry.ts';
import { EntryList } from './entry-list.ts';

/** How many entries of each kind of the story an owner keeps. */
const STORY_SIZE = 10_000;

/** How many attempts, frames and so on an owner keeps at least, also if `journalSize` is smaller. */
const LEAST_TRAFFIC = 1_000;

/** How many entries of owners that have ended, such as closed sandboxes, are kept. */
const ENDED_SIZE = 10_000;

/** How many entries of some kinds are no longer kept, and when the last of them happened. */
export interface Dropped {
  readonly count: number;
  /** In real time: ISO 8601 UTC. Null if nothing was dropped. */
  readonly until: string | null;
}

/** What happened to one owner: a tenant, a sandbox, or the mailbox for what belongs to no tenant. */
export class Journal implements Part {
  readonly staysOnReset = true;
  readonly list: EntryList;
  /** The number in the mailbox from which on entries belong to the present epoch, and to the former one. */
  presentEpochFrom = 0;
  formerEpochFrom = 0;
  /** How many entries were added. */
  count = 0;
  feedCount = 0;
  /** How many entries of the present epoch were dropped, by kind, and when the last of them happened. */
  readonly dropped = new Map<string, { count: number; untilMs: number }>();
  /** From this entry of the mailbox on, what nobody owns may concern a sandbox; and when that was in real time. */
  begin = { mailboxNumber: 0, realTimeMs: 0 };
  /** Whether a reset or a restore begins no epoch, so that all entries since the start are those of the present epoch. */
  keepsEpoch = false;
  readonly #journals: JournalOwner;

  constructor(journals: JournalOwner) {
    this.#journals = journals;
    this.list = new EntryList((entry) => journals.keyOf(entry));
  }

  /**
   * Begins an epoch. The mail and the traffic of the epoch before the former one are removed; what tests did stays, for
   * the feed.
   */
  beginEpoch(): void {
    if (this.keepsEpoch) return;
    this.#journals.removeBefore(this, this.presentEpochFrom);
    this.formerEpochFrom = this.presentEpochFrom;
    this.presentEpochFrom = this.#journals.nextMailboxNumber;
    this.dropped.clear();
  }

  /** Notes that an entry is no longer kept. */
  noteDropped({ mailboxNumber, kind, realTimeMs }: Entry): void {
    if (mailboxNumber < this.presentEpochFrom) return;
    const { count } = this.dropped.get(kind) ?? { count: 0 };
    this.dropped.set(kind, { count: count + 1, untilMs: realTimeMs });
  }

  end(): void {
    this.#journals.keepEnded(this);
  }
}

/** What a journal needs of those to which it belongs. */
interface JournalOwner {
  readonly nextMailboxNumber: number;
  keyOf(entry: Entry): string | undefined;
  removeBefore(journal: Journal, mailboxNumber: number): void;
  keepEnded(journal: Journal): void;
}

/** Sizes of entries, to keep the journal within its bytes. */
class Budget {
  bytes = 0;

  constructor(readonly maxBytes: number) {}

  get isExceeded(): boolean {
    return this.bytes > this.maxBytes;
  }
}

/** A kind of entry whose data are in `Data`. */
type KindOf<Data> = keyof Data & string;

/** An entry of one of some kinds; `kind` says which. */
type OneOf<Data, Kind extends KindOf<Data>> = { [Each in Kind]: Entry<Each, Data[Each]> }[Kind];

/** Which entries a reader wants. */
export interface EntryQuery<Kind extends string = string> {
  readonly kinds: readonly Kind[];
  /** The present epoch (default), or the one before it, which ended with the latest reset or restore. */
  readonly epoch?: 'present' | 'former' | undefined;
}

/**
 * The journals of a mailbox and of its tenants: what happened, completely and only once. Everything that tells or judges
 * reads them. A journal drops its oldest entries when it is full, and counts them; nothing else removes an entry. Which
 * kinds of entries there are, the `rows` say.
 */
export class Journals<Data extends object> {
  /** How many requests of each tenant are kept. */
  readonly size: number;
  /** Every kind of entry. */
  readonly kinds: readonly KindOf<Data>[];
  /** The kinds that the feed has. Other kinds are only in the journal. */
  readonly feedKinds: readonly KindOf<Data>[];
  readonly #rows: Readonly<Record<string, KindRow>>;
  readonly #worlds: Worlds;
  readonly #environment: Environment;
  readonly #journalOf: PartOf<Journal>;
  readonly #ofMailbox: Journal;
  /** The entries of all owners, also of those that have ended. */
  readonly #all = new EntryList();
  readonly #budgets: { readonly story: Budget; readonly traffic: Budget };
  readonly #listeners = new Map<string, ((entry: Entry) => void)[]>();
  /** The journals of owners that have ended, the oldest first, and how many entries each has. */
  readonly #ended: Journal[] = [];
  #endedCount = 0;
  #count = 0;
  #feedCount = 0;
  #cause: Cause | undefined;
  /** The operation or the command of a client that runs now. */
  #client: string | undefined;
  #collected: Entry[] | undefined;
  /** Whether a failure of a listener is being reported. */
  #isReporting = false;

  /** Creates empty journals, which keep `size` requests of each tenant. `environment` gives the real time. */
  constructor(worlds: Worlds, environment: Environment, rows: KindRows<Data>, size: number) {
    this.size = size;
    this.#worlds = worlds;
    this.#environment = environment;
    this.#rows = rows as Readonly<Record<string, KindRow>>;
    this.kinds = Object.keys(rows) as KindOf<Data>[];
    this.feedKinds = this.kinds.filter((kind) => rows[kind].isInFeed);
    const maxBytes = memoryForRecords(environment);
    this.#budgets = { story: new Budget(maxBytes), traffic: new Budget(maxBytes) };
    this.#journalOf = worlds.addPart('journal', () => new Journal(this));
    // The journal of the mailbox exists from the start, because a reset of the mailbox begins an epoch in it.
    this.#ofMailbox = this.#journalOf(worlds);
  }

  /**
   * Adds an entry for an owner: for a tenant, by its id or its world, or for the mailbox. Then calls every listener for
   * entries of this kind; an error in one listener is reported and does not affect the others.
   */
  publish<Kind extends KindOf<Data>>(
    of: Owner | string | null,
    kind: Kind,
    data: Data[Kind],
    { cause = this.#cause, realTimeMs }: { readonly cause?: Cause | undefined; readonly realTimeMs?: number } = {},
  ): Entry<Kind, Data[Kind]> {
    const owner = typeof of === 'string' || of === null ? findOwner(this.#worlds, of) : of;
    const journal = this.#journalOf(owner);
    const row = this.#rowOf(kind);
    const isInFeed = row.isInFeed && this.#limitOf(row) > 0;
    this.#count += 1;
    journal.count += 1;
    if (isInFeed) {
      this.#feedCount += 1;
      journal.feedCount += 1;
    }
    const entry: Entry<Kind, Data[Kind]> = Object.freeze({
      mailboxNumber: this.#count,
      ownerNumber: journal.count,
      mailboxFeedNumber: isInFeed ? this.#feedCount : 0,
      ownerFeedNumber: isInFeed ? journal.feedCount : 0,
      realTimeMs: realTimeMs ?? this.processNowMs(),
      atMs: owner.clock.now().getTime(),
      tenantId: 'id' in owner ? (owner.id as string) : null,
      kind,
      data,
      cause,
      bytes: row.sizeOf(data),
      journal,
    });
    this.#keep(journal, entry, row);
    if (owner === this.#worlds && row.isForAllTenants) this.#echo(entry);
    this.#collected?.push(entry);
    for (const listener of this.#listeners.get(kind) ?? []) {
      try {
        listener(entry);
      } catch (error) {
        this.#reportListener(error);
      }
    }
    return entry;
  }

  /**
   * Reports an error in a listener. The report adds an entry, too. If a listener for that fails, its error is only
   * printed, because the entries would never end.
   */
  #reportListener(error: unknown): void {
    if (this.#isReporting) {
      printError(error);
      return;
    }
    this.#isReporting = true;
    try {
      this.#worlds.clock.reportFailure('an event', error);
    } finally {
      this.#isReporting = false;
    }
  }

  /** Calls a listener with each new entry of some kinds. Returns a function that removes the listener. */
  subscribe<Kind extends KindOf<Data>>(
    kinds: readonly Kind[],
    listener: (entry: OneOf<Data, Kind>) => void,
  ): () => void {
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
   * have this cause, and are added to `caused`. Meanwhile, `client` has its name.
   */
  runFor<Result>(client: string, cause: Cause, caused: Entry[], work: () => Result): Result {
    const previous = { cause: this.#cause, client: this.#client, collected: this.#collected };
    this.#cause = cause;
    this.#client = client;
    this.#collected = caused;
    try {
      return work();
    } finally {
      this.#cause = previous.cause;
      this.#client = previous.client;
      this.#collected = previous.collected;
    }
  }

  /** The operation or the command of a client that runs now; undefined if none does. */
  get client(): string | undefined {
    return this.#client;
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

  /** Returns the time of the process by `Environment.now`, which a test may fake, in milliseconds. */
  processNowMs(): number {
    return this.#environment.now().getTime();
  }

  /** The number that the next entry will have among all entries of the mailbox. */
  get nextMailboxNumber(): number {
    return this.#count + 1;
  }

  /**
   * Returns the entries of some owners, oldest first. A change of all tenants is also in the journal of each sandbox;
   * beside the entry of the mailbox, it is left out.
   */
  of<Kind extends KindOf<Data>>(
    owners: readonly Owner[],
    { kinds, epoch = 'present' }: EntryQuery<Kind>,
  ): OneOf<Data, Kind>[] {
    const lists = this.#journalOf.in(owners).map((journal) => {
      const from = epoch === 'present' ? journal.presentEpochFrom : journal.formerEpochFrom;
      const to = epoch === 'present' ? Number.POSITIVE_INFINITY : journal.presentEpochFrom;
      const isWanted = (entry: Entry) =>
        entry.mailboxNumber >= from && entry.mailboxNumber < to && (owners.length === 1 || entry.journal === journal);
      const entries = journal.list.of(kinds);
      return entries.every(isWanted) ? entries : entries.filter(isWanted);
    });
    const [only] = lists;
    if (only && lists.length === 1) return only as OneOf<Data, Kind>[];
    return lists.flat().sort(byTime) as OneOf<Data, Kind>[];
  }

  /**
   * Returns the entries of every owner that has ended since the last reset of the mailbox, such as a deleted tenant or a
   * closed sandbox, oldest first.
   */
  ofEnded<Kind extends KindOf<Data>>(kinds: readonly Kind[]): OneOf<Data, Kind>[] {
    const { presentEpochFrom } = this.#ofMailbox;
    const entries = this.#ended.flatMap((ended) =>
      ended.list
        .of(kinds)
        .filter(({ mailboxNumber, journal }) => mailboxNumber >= presentEpochFrom && journal === ended),
    );
    return entries.sort(byTime) as OneOf<Data, Kind>[];
  }

  /** Returns the latest entry with a key, as its row says, that the owner of an entry had before this entry. */
  findLast(key: string, before: Entry): Entry | undefined {
    return (before.journal as Journal).list.lastBefore(key, before.mailboxNumber);
  }

  /** Returns how many entries of some kinds the journals of some owners have dropped since their last reset. */
  dropped(owners: readonly Owner[], kinds: readonly KindOf<Data>[]): Dropped {
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

  /** Returns the number of the last entry that the feed of a mailbox or a sandbox has. */
  lastFeedNumber(worlds: ReachableWorlds): number {
    return worlds.sandboxId === undefined ? this.#feedCount : this.#journalOf(worlds).feedCount;
  }

  /** Returns the next entry of the feed of a mailbox or a sandbox after a number. */
  nextInFeed(worlds: ReachableWorlds, number: number): OneOf<Data, KindOf<Data>> | undefined {
    const entry =
      worlds.sandboxId === undefined
        ? this.#all.after(this.feedKinds, 'mailboxFeedNumber', number)
        : this.#journalOf(worlds).list.after(this.feedKinds, 'ownerFeedNumber', number);
    return entry as OneOf<Data, KindOf<Data>> | undefined;
  }

  /** Returns whether the feeds of a mailbox and of each of its sandboxes have an entry of the mailbox. */
  isForAllTenants({ tenantId, kind }: Entry): boolean {
    return this.#rowOf(kind).isForAllTenants === true && findOwner(this.#worlds, tenantId) === this.#worlds;
  }

  /** Begins the journal of a sandbox: what nobody owns may concern it from now on or, if it is told of all, never. */
  begin(of: Owner, { isToldOfAll }: { readonly isToldOfAll: boolean }): void {
    const mailboxNumber = isToldOfAll ? Number.POSITIVE_INFINITY : this.nextMailboxNumber;
    const realTimeMs = isToldOfAll ? Number.POSITIVE_INFINITY : this.processNowMs();
    this.#journalOf(of).begin = { mailboxNumber, realTimeMs };
  }

  /** Returns the entries of the mailbox of a kind since a sandbox began, or since its reset: nothing shows whose they were. */
  unowned<Kind extends KindOf<Data>>(sandbox: Owner, kind: Kind): OneOf<Data, Kind>[] {
    const { begin, presentEpochFrom } = this.#journalOf(sandbox);
    const from = Math.max(begin.mailboxNumber, presentEpochFrom, this.#ofMailbox.presentEpochFrom);
    const entries = this.#ofMailbox.list.of([kind]) as OneOf<Data, Kind>[];
    return entries.filter(({ mailboxNumber }) => mailboxNumber >= from);
  }

  /** Returns how many of these the journal has dropped, at most. */
  droppedUnowned(sandbox: Owner, kind: KindOf<Data>): Dropped {
    const { count, until } = this.dropped([this.#worlds], [kind]);
    const { begin } = this.#journalOf(sandbox);
    const mayConcern = until !== null && Date.parse(until) >= begin.realTimeMs;
    return mayConcern ? { count, until } : { count: 0, until: null };
  }

  /** Lets no reset and no restore begin an epoch in the journal of an owner. */
  keepEpoch(of: Owner): void {
    this.#journalOf(of).keepsEpoch = true;
  }

  /** Returns whether a reset or a restore begins no epoch in the journal of an owner. */
  keepsEpoch(of: Owner): boolean {
    return this.#journalOf(of).keepsEpoch;
  }

  /** Returns the key of an entry, as its row says. Used by `Journal`. */
  keyOf({ kind, data }: Entry): string | undefined {
    return this.#rowOf(kind).keyOf?.(data);
  }

  /** Removes the entries before a number that end with their epoch. Used by `Journal`. */
  removeBefore(journal: Journal, mailboxNumber: number): void {
    for (const kind of journal.list.kinds()) {
      if (this.#rowOf(kind).endsWithEpoch) this.#removeBefore(journal, mailboxNumber, kind);
    }
  }

  #removeBefore(journal: Journal, mailboxNumber: number, kind: string): void {
    const { list } = journal;
    for (let first = list.first(kind); first && first.mailboxNumber < mailboxNumber; first = list.first(kind)) {
      this.#remove(journal, first);
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
      for (const kind of oldest.list.kinds()) this.#removeBefore(oldest, Number.POSITIVE_INFINITY, kind);
    }
  }

  /** Adds an entry of the mailbox to the journal of each sandbox, because its feed has it, too. */
  #echo(entry: Entry): void {
    const owners = this.#worlds.all().filter((world) => this.#worlds.reachableFrom(world).sandboxId !== undefined);
    for (const journal of this.#journalOf.in(owners)) {
      journal.count += 1;
      journal.feedCount += 1;
      const echo = { ...entry, ownerNumber: journal.count, ownerFeedNumber: journal.feedCount };
      journal.list.add(Object.freeze(echo));
      const first = journal.list.size(entry.kind) > STORY_SIZE ? journal.list.first(entry.kind) : undefined;
      if (first) this.#drop(journal, first);
    }
  }

  #rowOf(kind: string): KindRow {
    return this.#rows[kind] as KindRow;
  }

  /** Returns how many entries of a kind each owner keeps. */
  #limitOf({ keptAs }: KindRow): number {
    if (keptAs === 'story') return STORY_SIZE;
    return keptAs === 'requests' ? this.size : Math.max(this.size, LEAST_TRAFFIC);
  }

  #budgetOf({ keptAs }: KindRow): Budget {
    return keptAs === 'story' ? this.#budgets.story : this.#budgets.traffic;
  }

  #keep(journal: Journal, entry: Entry, row: KindRow): void {
    const limit = this.#limitOf(row);
    if (limit === 0) {
      journal.noteDropped(entry);
      return;
    }
    this.#budgetOf(row).bytes += entry.bytes;
    journal.list.add(entry);
    this.#all.add(entry);
    const first = journal.list.size(entry.kind) > limit ? journal.list.first(entry.kind) : undefined;
    if (first) this.#drop(journal, first);
    if (this.#budgets.story.isExceeded) this.#shrink(this.#budgets.story);
    if (this.#budgets.traffic.isExceeded) this.#shrink(this.#budgets.traffic);
  }

  /** Shrinks the oldest entries of a budget, such as mails by their bytes, and then removes the oldest entries. */
  #shrink(budget: Budget): void {
    const kinds = this.kinds.filter((kind) => this.#budgetOf(this.#rowOf(kind)) === budget);
    const target = budget.maxBytes * 0.9;
    for (const entry of this.#all.of(kinds.filter((kind) => this.#rowOf(kind).shrink))) {
      if (budget.bytes <= target) return;
      const row = this.#rowOf(entry.kind);
      const data = row.shrink?.(entry.data);
      if (data === undefined) continue;
      const shrunk = Object.freeze({ ...entry, data, bytes: row.sizeOf(data) });
      budget.bytes += shrunk.bytes - entry.bytes;
      (entry.journal as Journal).list.replace(shrunk);
      this.#all.replace(shrunk);
    }
    for (const entry of this.#all.of(kinds)) {
      if (budget.bytes <= target) return;
      this.#drop(entry.journal as Journal, entry);
    }
  }

  #drop(journal: Journal, entry: Entry): void {
    journal.noteDropped(entry);
    this.#remove(journal, entry);
  }

  #remove(journal: Journal, entry: Entry): void {
    journal.list.remove(entry);
    // An echo of an entry of the mailbox is only in the journal of its sandbox.
    if (entry.journal === journal && this.#all.remove(entry)) {
      this.#budgetOf(this.#rowOf(entry.kind)).bytes -= entry.bytes;
    }
  }
}

/** Sorts entries by the time at which they happened. */
export function byTime(one: EntryNumbers, other: EntryNumbers): number {
  return one.mailboxNumber - other.mailboxNumber;
}

function countEntries({ list }: Journal): number {
  return list.kinds().reduce((sum, kind) => sum + list.size(kind), 0);
}
