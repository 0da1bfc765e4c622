// Only this file and models.ts import @mswjs/data. They work around three properties of that library:
// - every query scans all rows, even by primary key, so look-ups by id read the library's internal Map directly;
// - if `window` and `BroadcastChannel` exist, factory() mirrors writes to other tabs and keeps the process alive;
// - a nullable property that is left out becomes '', so every row sets every property.
import { factory } from '@mswjs/data';
import { DATABASE_INSTANCE } from '@mswjs/data/lib/glossary.js';
import { INDEXED, MODELS } from './models.ts';
import { sizeOfMailRow } from './row-size.ts';
import type { RowKind, Rows } from './rows.ts';

/** An indexed property of `Kind`. */
type IndexedBy<Kind extends RowKind> = (typeof INDEXED)[Kind][number];

/** One tenant's database: a collection for each kind of row. */
export type Database = { readonly [Kind in RowKind]: Collection<Kind> };

/**
 * The part of the library's database that collections use. It is declared here so that the public type declarations do
 * not import types from @mswjs/data.
 */
interface LibraryDatabase {
  getModel(kind: RowKind): Map<string, unknown>;
  update(kind: RowKind, previous: unknown, next: unknown): void;
  delete(kind: RowKind, id: string): void;
}

/** Creates an empty database that shares nothing with any other. */
export function createDatabase(): Database {
  const models = withoutBroadcastChannel(() => factory(MODELS));
  const database = models[DATABASE_INSTANCE] as unknown as LibraryDatabase;
  const collections = (Object.keys(MODELS) as RowKind[]).map((kind) => {
    const create = models[kind].create as unknown as (row: Rows[RowKind]) => Rows[RowKind];
    return [kind, new Collection(kind, database, create)];
  });
  return Object.fromEntries(collections);
}

/**
 * The rows of one kind. Rows are frozen: a change replaces a row, so a snapshot can share them.
 * All methods take constant time, except `all`, `by` and `restore`.
 */
class Collection<Kind extends RowKind> {
  readonly #kind: Kind;
  readonly #database: LibraryDatabase;
  readonly #create: (row: Rows[Kind]) => Rows[Kind];
  readonly #rows: Map<string, Rows[Kind]>;
  readonly #indexes;
  #mailBytes = 0;

  constructor(kind: Kind, database: LibraryDatabase, create: (row: Rows[Kind]) => Rows[Kind]) {
    this.#kind = kind;
    this.#database = database;
    this.#create = create;
    this.#rows = database.getModel(kind) as Map<string, Rows[Kind]>;
    this.#indexes = createPropertyIndexes<Rows[Kind]>(INDEXED[kind] as readonly (keyof Rows[Kind])[]);
  }

  /** How many bytes these rows count towards the limit on stored mail. */
  get mailBytes(): number {
    return this.#mailBytes;
  }

  get(id: string): Rows[Kind] | undefined {
    return this.#rows.get(id);
  }

  /** Returns every row, in the order of insertion. */
  all(): Rows[Kind][] {
    return [...this.#rows.values()];
  }

  /** Returns the rows whose property has this value, in the order of insertion. */
  by(property: IndexedBy<Kind>, value: string): Rows[Kind][] {
    const ids = this.#indexes.idsBy(property as keyof Rows[Kind], value);
    return ids.map((id) => this.#rows.get(id) as Rows[Kind]);
  }

  /** @throws if a row with this id exists. */
  insert(row: Rows[Kind]): Rows[Kind] {
    const inserted = freeze(this.#create(row));
    this.#indexes.add(inserted);
    this.#mailBytes += sizeOfRow(this.#kind, inserted);
    return inserted;
  }

  /** Changes properties of a row, except its id and indexed properties. @throws if there is no such row. */
  update(id: string, changes: Partial<Omit<Rows[Kind], 'id' | IndexedBy<Kind>>>): Rows[Kind] {
    const previous = this.#rows.get(id);
    if (previous === undefined) throw new Error(`There is no row of ${this.#kind} with the id ${id}.`);
    const next = freeze({ ...previous, ...changes });
    this.#database.update(this.#kind, previous, next);
    this.#mailBytes += sizeOfRow(this.#kind, next) - sizeOfRow(this.#kind, previous);
    return next;
  }

  /** Removes a row and returns it; `undefined` if there is none. */
  remove(id: string): Rows[Kind] | undefined {
    const row = this.#rows.get(id);
    if (row === undefined) return undefined;
    this.#database.delete(this.#kind, id);
    this.#indexes.remove(row);
    this.#mailBytes -= sizeOfRow(this.#kind, row);
    return row;
  }

  /** Replaces all rows by these, which must come from `all()` of this collection. */
  restore(rows: readonly Rows[Kind][]): void {
    this.#rows.clear();
    this.#indexes.clear();
    this.#mailBytes = 0;
    for (const row of rows) {
      this.#mailBytes += sizeOfRow(this.#kind, row);
      this.#rows.set(row.id, row);
      this.#indexes.add(row);
    }
  }
}

/** The kinds of rows that count as stored mail, whose size is limited. */
const MAIL_KINDS: ReadonlySet<RowKind> = new Set(['messages', 'attachments', 'drafts']);

/** Returns the size of a row as stored mail, in bytes; 0 if it is not mail. */
function sizeOfRow(kind: RowKind, row: object): number {
  return MAIL_KINDS.has(kind) ? sizeOfMailRow(row) : 0;
}

function createPropertyIndexes<Row extends { readonly id: string }>(properties: readonly (keyof Row)[]) {
  const indexes = new Map(properties.map((property) => [property, new Map<unknown, Set<string>>()]));

  return {
    idsBy: (property: keyof Row, value: unknown) => [...(indexes.get(property)?.get(value) ?? [])],
    add(row: Row) {
      for (const [property, idsByValue] of indexes) {
        const idsOfValue = idsByValue.get(row[property]);
        if (idsOfValue) idsOfValue.add(row.id);
        else idsByValue.set(row[property], new Set([row.id]));
      }
    },
    remove(row: Row) {
      for (const [property, idsByValue] of indexes) {
        const idsOfValue = idsByValue.get(row[property]);
        idsOfValue?.delete(row.id);
        if (idsOfValue?.size === 0) idsByValue.delete(row[property]);
      }
    },
    clear() {
      for (const idsByValue of indexes.values()) idsByValue.clear();
    },
  };
}

/** Freezes a row. Nested objects are copied and frozen, so that the caller's objects stay unfrozen. */
function freeze<Row extends object>(row: Row): Row {
  for (const [property, value] of Object.entries(row)) {
    if (typeof value === 'object' && !Object.isFrozen(value)) Object.assign(row, { [property]: frozenCopy(value) });
  }
  return Object.freeze(row);
}

function frozenCopy<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  const copied = Array.isArray(value)
    ? value.map(frozenCopy)
    : Object.fromEntries(Object.entries(value).map(([name, part]) => [name, frozenCopy(part)]));
  return Object.freeze(copied) as Value;
}

/** Hides the global `BroadcastChannel` while `create` runs; `create` is synchronous, so no other code is affected. */
function withoutBroadcastChannel<Created>(create: () => Created): Created {
  const descriptor = Object.getOwnPropertyDescriptor(globalThis, 'BroadcastChannel');
  if (!descriptor) return create();
  Object.defineProperty(globalThis, 'BroadcastChannel', { value: undefined, configurable: true, writable: true });
  try {
    return create();
  } finally {
    Object.defineProperty(globalThis, 'BroadcastChannel', descriptor);
  }
}
