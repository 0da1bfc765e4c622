// With its models.ts, the only file that imports @mswjs/data. What it knows about that library, and nobody else has to:
// - every query scans, look-ups by primary key too, so keyed access goes to the library's own Map;
// - where `window` and `BroadcastChannel` exist, factory() mirrors writes to other tabs and keeps the process alive;
// - a nullable property that is left out becomes '', so rows always set every property.
import { factory } from '@mswjs/data';
import { DATABASE_INSTANCE } from '@mswjs/data/lib/glossary.js';
import { INDEXED, MODELS } from './models.ts';
import { sizeOfRow } from './row-size.ts';
import type { RowKind, Rows } from './rows.ts';

/** A property of `Kind` that is indexed. */
export type IndexedBy<Kind extends RowKind> = (typeof INDEXED)[Kind][number];

/**
 * The rows of one kind. Rows are frozen: a change replaces a row, so a snapshot can share them.
 * Everything but `all` and `by` takes the same time however many rows there are.
 */
export interface Collection<Kind extends RowKind> {
  /** What the rows count as stored mail. */
  readonly mailBytes: number;
  get(id: string): Rows[Kind] | undefined;
  /** Every row, in the order of insertion. */
  all(): Rows[Kind][];
  /** The rows whose property has this value, in the order of insertion. */
  by(property: IndexedBy<Kind>, value: string): Rows[Kind][];
  /** @throws if a row with this id exists. */
  insert(row: Rows[Kind]): Rows[Kind];
  /** Replaces properties of a row; its id and the indexed ones stay. @throws if there is no such row. */
  update(id: string, changes: Partial<Omit<Rows[Kind], 'id' | IndexedBy<Kind>>>): Rows[Kind];
  /** Removes a row and answers it; `undefined` if there is none. */
  remove(id: string): Rows[Kind] | undefined;
  /** Makes these rows, taken from `all()` of this collection, its only ones. */
  restore(rows: readonly Rows[Kind][]): void;
}

/** One tenant's database: a collection for each kind of row. */
export type Database = { readonly [Kind in RowKind]: Collection<Kind> };

/** Creates an empty database that shares nothing with any other. */
export function createDatabase(): Database {
  const models = withoutBroadcastChannel(() => factory(MODELS));
  const kinds = Object.keys(MODELS) as RowKind[];
  return Object.fromEntries(kinds.map((kind) => [kind, createCollection(models, kind)])) as unknown as Database;
}

type Models = ReturnType<typeof factory<typeof MODELS>>;

function createCollection<Kind extends RowKind>(models: Models, kind: Kind): Collection<Kind> {
  type Row = Rows[Kind];
  const database = models[DATABASE_INSTANCE];
  const create = models[kind].create as unknown as (row: Row) => Row;
  const rows = database.getModel(kind) as unknown as Map<string, Row>;
  const indexes = createIndexes<Row>(INDEXED[kind] as readonly (keyof Row)[]);

  let mailBytes = 0;
  const countBytes = (row: Row) => sizeOfRow(kind, row);

  return {
    get mailBytes() {
      return mailBytes;
    },
    get: (id) => rows.get(id),
    all: () => [...rows.values()],
    by: (property, value) => indexes.idsBy(property as keyof Row, value).map((id) => rows.get(id) as Row),
    insert(row) {
      const inserted = freeze(create(row));
      indexes.add(inserted);
      mailBytes += countBytes(inserted);
      return inserted;
    },
    update(id, changes) {
      const previous = rows.get(id);
      if (previous === undefined) throw new Error(`There is no row of ${kind} with the id ${id}.`);
      const next = freeze({ ...previous, ...changes });
      database.update(kind, previous as never, next as never);
      mailBytes += countBytes(next) - countBytes(previous);
      return next;
    },
    remove(id) {
      const row = rows.get(id);
      if (row === undefined) return undefined;
      database.delete(kind, id);
      indexes.remove(row);
      mailBytes -= countBytes(row);
      return row;
    },
    restore(kept) {
      rows.clear();
      indexes.clear();
      mailBytes = 0;
      for (const row of kept) {
        mailBytes += countBytes(row);
        rows.set(row.id, row);
        indexes.add(row);
      }
    },
  };
}

function createIndexes<Row extends { readonly id: string }>(properties: readonly (keyof Row)[]) {
  const indexes = new Map(properties.map((property) => [property, new Map<unknown, Set<string>>()]));

  return {
    idsBy: (property: keyof Row, value: unknown) => [...(indexes.get(property)?.get(value) ?? [])],
    add(row: Row) {
      for (const [property, ids] of indexes) {
        const same = ids.get(row[property]);
        if (same) same.add(row.id);
        else ids.set(row[property], new Set([row.id]));
      }
    },
    remove(row: Row) {
      for (const [property, ids] of indexes) {
        const same = ids.get(row[property]);
        same?.delete(row.id);
        if (same?.size === 0) ids.delete(row[property]);
      }
    },
    clear() {
      for (const ids of indexes.values()) ids.clear();
    },
  };
}

/** Freezes a row, and copies of what is in it: what came in stays its owner's. */
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

/** Hides the global while `create` runs; that is synchronous, so nobody else can miss it. */
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
