/**
 * The row of a kind of entry: all that the journal knows of it. The room that publishes entries of a kind has its row;
 * here, nobody knows which kinds there are.
 */
export interface KindRow<Data = unknown> {
  /**
   * Which entries have the same limits: the `story` of what happened, of which each owner keeps the same number; the
   * `requests`, whose number the option `journalSize` sets; or other `traffic`, of which at least a fixed number is kept.
   */
  readonly keptAs: 'story' | 'requests' | 'traffic';
  /** The approximate size of an entry in memory, in bytes. */
  sizeOf(data: Data): number;
  /** Whether the live feed has these entries. */
  readonly isInFeed: boolean;
  /**
   * Whether these entries are removed one epoch after the end of their own. Others stay, so that the feed has them over
   * a reset, until there are too many.
   */
  readonly endsWithEpoch: boolean;
  /** Whether the feed of each sandbox has these entries of the mailbox, too, because they affect every tenant. */
  readonly isForAllTenants?: true;
  /** Returns the data without what takes the most memory; undefined if there is nothing to remove. */
  shrink?(data: Data): Data | undefined;
  /** A text by which `Journals.findLast` finds the entry. */
  keyOf?(data: Data): string;
}

/** A row for each kind of entry; `Data` has the data of each kind. */
export type KindRows<Data> = { readonly [Kind in keyof Data]: KindRow<Data[Kind]> };

/** The owner of an entry, and its number there. It keeps nothing else of the entry, so that the journal can forget it. */
export interface EntryNumber {
  /** The id of the tenant; null for the mailbox. */
  readonly tenantId: string | null;
  /** The number among the entries of the owner. */
  readonly number: number;
}

/** What led to some entries. */
export interface Cause {
  /**
   * The entry that led to them. If a request led to them, it is undefined until the request ends, because the entry
   * of a request is added at its end.
   */
  entry?: EntryNumber | undefined;
}

/** Returns the cause of what an entry leads to. */
export function causeFrom({ tenantId, ownerNumber }: Pick<Entry, 'tenantId' | 'ownerNumber'>): Cause {
  return { entry: { tenantId, number: ownerNumber } };
}

/**
 * The numbers of an entry: its position among the entries of the mailbox and of its owner, and among those that the
 * feed of the mailbox and of its owner have. A number of a feed is 0 if the feed does not have the entry.
 */
export interface EntryNumbers {
  readonly mailboxNumber: number;
  readonly ownerNumber: number;
  readonly mailboxFeedNumber: number;
  readonly ownerFeedNumber: number;
}

/** Something that happened. An entry never changes. */
export interface Entry<Kind extends string = string, Data = unknown> extends EntryNumbers {
  /** When it happened, in real time. */
  readonly realTimeMs: number;
  /** When it happened, by the clock of its owner. */
  readonly atMs: number;
  /** The id of the tenant that it belongs to; null for the mailbox. */
  readonly tenantId: string | null;
  readonly kind: Kind;
  readonly data: Data;
  /** What led to it; undefined if that is not known. */
  readonly cause: Cause | undefined;
  /** Its approximate size, in bytes. */
  readonly bytes: number;
  /** The journal that keeps it. */
  readonly journal: object;
}
