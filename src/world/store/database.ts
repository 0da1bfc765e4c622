import { createModel } from '@mswjs/data/lib/model/createModel.js';
import { parseModelDefinition } from '@mswjs/data/lib/model/parseModelDefinition.js';
import { nullable } from '@mswjs/data/lib/nullable.js';
import { primaryKey } from '@mswjs/data/lib/primaryKey.js';
import { isBytes } from '../../basics/base64.ts';
import { COLUMNS, type ColumnType, splitType } from '../../fixture/columns.ts';
import type { Entry } from './entries.ts';
import { MessageIndex } from './indexes/message-index.ts';
import { PropertyIndex, type RowIndex } from './indexes/property-index.ts';
import type { AttachmentRow, DraftRow, MessageRow, RowKind, Rows } from './rows.ts';

/** The approximate size of a row without its texts, in bytes. */
const ROW_BYTES = 256;

/** A row of stored mail, or the fields of one that will be stored. */
export type MailRow = Partial<MessageRow> | Partial<AttachmentRow> | Partial<DraftRow>;

/** Returns the size of a row of stored mail, in bytes. */
export function sizeOfMailRow(row: MailRow): number {
  return ROW_BYTES + sizeInMemory(row);
}

/** The kinds of rows that count as stored mail, whose size is limited. */
export const MAIL_KINDS = ['messages', 'attachments', 'drafts'] as const satisfies RowKind[];

/** Returns how many bytes of stored mail a row has; 0 if the row is not mail, or without a row. */
function mailBytesOf(kind: RowKind, row: object | undefined): number {
  return row && MAIL_KINDS.some((each) => each === kind) ? sizeOfMailRow(row) : 0;
}

/** Returns the size of a value in memory. In a text outside of Latin-1, each character has two bytes. */
export function sizeInMemory(value: unknown): number {
  if (typeof value === 'string') return isWide(value) ? 2 * value.length : value.length;
  if (typeof value !== 'object' || value === null) return 0;
  if (isBytes(value)) return value.byteLength;
  return Object.entries(value).reduce((sum, [name, part]) => sum + name.length + sizeInMemory(part), 0);
}

/** Returns whether a text needs two bytes for each character. Short texts matter little and are not checked. */
function isWide(text: string): boolean {
  return text.length > 1_000 && /[^\0-\xff]/.test(text);
}

/**
 * Called after a change of a row, with the row before and after the change. `before` is undefined for an inserted row,
 * and `after` for a removed row.
 */
export type RowListener = (kind: RowKind, before: object | undefined, after: object | undefined) => void;

/** The name of an indexed property of a kind of row. */
type IndexedBy<Kind extends RowKind> = (typeof INDEXED)[Kind][number];

/**
 * The rows of one kind, with their indexes and the size of their mail. Rows are frozen, and a change replaces a row, so
 * that snapshots can share the rows. Only `all`, `by` and `restore` take longer for more rows.
 */
class Collection<Kind extends RowKind> {
  readonly #entries = new Map<string, Entry<Rows[Kind]>>();
  /** The loaded indexes, which are updated with the rows. An index is loaded at its first use; many are never used. */
  #indexes: RowIndex<Rows[Kind]>[] = [];
  /** The indexes that find rows by a property. After it is loaded, an index is also in `#indexes`. */
  #byProperty: { [Property in IndexedBy<Kind>]?: PropertyIndex<Rows[Kind]> } = {};
  #nextPosition = 0;
  /** The size of these rows as stored mail, in bytes; 0 if they are not mail. */
  mailBytes = 0;

  /**
   * Creates an empty collection. `onMailBytes` is called with each change of `mailBytes`, and `onChange` after a row was
   * inserted, updated or removed, but not for the rows of `restore`.
   */
  constructor(
    readonly kind: Kind,
    readonly onMailBytes: (change: number) => void,
    readonly onChange: RowListener,
  ) {}

  /** Fills an index with the rows, and updates it from now on. Does nothing if the index is already loaded. */
  load(index: RowIndex<Rows[Kind]>): void {
    if (this.#indexes.includes(index)) return;
    this.#indexes.push(index);
    for (const entry of this.#entries.values()) index.change(entry, undefined, entry.row);
  }

  get(id: string): Rows[Kind] | undefined {
    return this.#entries.get(id)?.row;
  }

  /** Returns every row, in the order of insertion. */
  all(): Rows[Kind][] {
    const rows: Rows[Kind][] = [];
    for (const { row } of this.#entries.values()) rows.push(row);
    return rows;
  }

  /** Returns the rows whose property has this value, in the order of insertion. */
  by(property: IndexedBy<Kind>, value: string): Rows[Kind][] {
    return this.#indexOf(property).find(value);
  }

  /** Returns whether any row has this value of a property. */
  has(property: IndexedBy<Kind>, value: string): boolean {
    return this.#indexOf(property).has(value);
  }

  #indexOf(property: IndexedBy<Kind>): PropertyIndex<Rows[Kind]> {
    const index = this.#byProperty[property] ?? new PropertyIndex<Rows[Kind]>(property as keyof Rows[Kind]);
    this.#byProperty[property] = index;
    this.load(index);
    return index;
  }

  /** @throws if a row with this id exists. */
  insert(row: Rows[Kind]): Rows[Kind] {
    if (this.#entries.has(row.id)) throw new Error(`A row of ${this.kind} with the id ${row.id} already exists.`);
    const inserted = freeze(CREATE_ROW[this.kind](row));
    this.#add(inserted);
    this.onChange(this.kind, undefined, inserted);
    return inserted;
  }

  /** Changes properties of a row, except its id. @throws if there is no such row. */
  update(id: string, changes: Partial<Omit<Rows[Kind], 'id'>>): Rows[Kind] {
    const entry = this.#entries.get(id);
    if (!entry) throw new Error(`There is no row of ${this.kind} with the id ${id}.`);
    const previous = entry.row;
    entry.row = freeze({ ...previous, ...changes });
    this.#recordChange(entry, previous, entry.row);
    this.onChange(this.kind, previous, entry.row);
    return entry.row;
  }

  /** Removes a row and returns it; returns `undefined` if there is no such row. */
  remove(id: string): Rows[Kind] | undefined {
    const entry = this.#entries.get(id);
    if (!entry) return undefined;
    this.#entries.delete(id);
    this.#recordChange(entry, entry.row, undefined);
    this.onChange(this.kind, entry.row, undefined);
    return entry.row;
  }

  /** Replaces all rows. The new rows must come from `all()` of a collection of this kind. */
  restore(rows: readonly Rows[Kind][]): void {
    this.#entries.clear();
    for (const index of this.#indexes) index.clear();
    this.#indexes = [];
    this.#countMail(-this.mailBytes);
    for (const row of rows) this.#add(row);
  }

  #add(row: Rows[Kind]): void {
    const entry = { position: this.#nextPosition, row };
    this.#nextPosition += 1;
    this.#entries.set(row.id, entry);
    this.#recordChange(entry, undefined, row);
  }

  #recordChange(entry: Entry<Rows[Kind]>, before: Rows[Kind] | undefined, after: Rows[Kind] | undefined): void {
    this.#countMail(mailBytesOf(this.kind, after) - mailBytesOf(this.kind, before));
    for (const index of this.#indexes) index.change(entry, before, after);
  }

  #countMail(change: number): void {
    this.mailBytes += change;
    this.onMailBytes(change);
  }
}

/** Freezes a row. Nested objects are copied and frozen, so that the caller's objects stay unfrozen. */
function freeze<Row extends object>(row: Row): Row {
  for (const [property, value] of Object.entries(row)) {
    // Bytes cannot be frozen. They are shared with the caller, and nothing changes them.
    if (typeof value !== 'object' || Object.isFrozen(value) || isBytes(value)) continue;
    Object.assign(row, { [property]: frozenCopy(value) });
  }
  return Object.freeze(row);
}

/** Replaces every empty list in rows, to save memory: most messages have several empty lists. */
const NO_ITEMS: readonly never[] = Object.freeze([]);

function frozenCopy<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value) && value.length === 0) return NO_ITEMS as Value;
  const copied = Array.isArray(value)
    ? value.map(frozenCopy)
    : Object.fromEntries(Object.entries(value).map(([name, part]) => [name, frozenCopy(part)]));
  return Object.freeze(copied) as Value;
}

// The models of the library @mswjs/data say which fields each row has, and which fields may be null. Its function
// `createModel()` creates a row from a model. The databases of its function `factory()` are not used, because each
// query scans all rows, each database parses the models again, and in a page each write is also sent to other tabs. So
// the class `Collection` keeps the rows; test/world/store/library.test.ts compares it with `factory()`. Only this file
// imports the library, and only from its folder `lib/`, because the main file of the library loads msw.

/** A collection for each kind of row. */
export type Collections = { readonly [Kind in RowKind]: Collection<Kind> };

/** One tenant's database. */
export interface Database extends Collections {
  /** The lists, threads and counts of the messages. The collection `messages` updates them. */
  readonly messageIndex: MessageIndex;
}

/** The types of columns that are not texts, in the format of @mswjs/data. */
const TYPES: { readonly [Type in ColumnType]?: unknown } = {
  flag: Boolean,
  count: Number,
  texts: Array,
  addresses: Array,
  events: Array,
  object: Object,
  headers: Object,
  bytes: Object,
};

/** The shape of each kind of row, in the format of @mswjs/data. */
export const MODELS = Object.fromEntries(
  Object.entries(COLUMNS).map(([kind, columns]) => [kind, toModel(columns)]),
) as unknown as { readonly [Kind in RowKind]: Record<keyof Rows[Kind], never> };

function toModel(columns: Readonly<Record<string, string>>) {
  const properties = Object.entries(columns).map(([column, type]) => {
    const { name, isNullable } = splitType(type);
    if (column === 'id') return [column, primaryKey(String)];
    const value = TYPES[name] ?? String;
    return [column, isNullable ? nullable(value as never) : value];
  });
  return Object.fromEntries(properties);
}

/** For each kind of row, the properties with an index. Finding rows by such a property does not read all rows. */
export const INDEXED = {
  tenants: [],
  workspaces: ['slug'],
  inboxes: ['workspaceId'],
  addresses: ['inboxId'],
  apiKeys: ['ownerId'],
  domains: ['domain', 'workspaceId'],
  webhooks: ['workspaceId', 'url'],
  messages: ['inboxId', 'messageIdHeader', 'fromAddress'],
  attachments: ['messageId'],
  drafts: ['inboxId'],
  lists: ['inboxId'],
  listEntries: ['listId'],
} as const satisfies { [Kind in RowKind]: readonly (keyof Rows[Kind])[] };

/** The kinds of rows. */
export const ROW_KINDS = Object.keys(MODELS) as RowKind[];

/** For each kind of row, the function that copies a row into the shape of its model. All databases share them. */
const CREATE_ROW = Object.fromEntries(ROW_KINDS.map((kind) => [kind, createRowFactory(kind)])) as {
  readonly [Kind in RowKind]: (row: Rows[Kind]) => Rows[Kind];
};

/**
 * Creates an empty database. `onMailBytes` is called with each change of the size of its stored mail, and `onChange`
 * after a row was inserted, updated or removed.
 */
export function createDatabase(
  onMailBytes: (change: number) => void = () => {},
  onChange: RowListener = () => {},
): Database {
  const collections = ROW_KINDS.map((kind) => [kind, new Collection(kind, onMailBytes, onChange)]);
  const database = Object.fromEntries(collections) as Collections;
  const messageIndex: MessageIndex = new MessageIndex(() => database.messages.load(messageIndex));
  return { ...database, messageIndex };
}

function createRowFactory<Kind extends RowKind>(kind: Kind): (row: Rows[Kind]) => Rows[Kind] {
  const columns = Object.keys(MODELS[kind]) as (keyof Rows[Kind])[];
  const parsed = parseModelDefinition(MODELS, kind, MODELS[kind]);
  // If an object gets a dozen computed properties one by one, V8 stores it as a hash table, in five times the memory.
  // So each row is a copy of a frozen object with all properties, which stays compact, also when it is frozen.
  const empty = Object.freeze(Object.fromEntries(columns.map((column) => [column, null]))) as unknown as Rows[Kind];
  return (row) => {
    // The last argument is a database. The library reads it only for relations between models, and there are none.
    const entity = createModel(kind, MODELS[kind], MODELS, parsed, row as never, undefined as never);
    const created = { ...empty };
    for (const column of columns) created[column] = (entity as unknown as Rows[Kind])[column];
    return created;
  };
}
