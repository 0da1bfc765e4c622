import { isBytes } from '../contract/base64.ts';
import type { Entry } from './entries.ts';
import type { INDEXED } from './models.ts';
import { PropertyIndex, type RowIndex } from './property-index.ts';
import { sizeOfRow } from './row-size.ts';
import type { RowKind, Rows } from './rows.ts';

/** An indexed property of `Kind`. */
type IndexedBy<Kind extends RowKind> = (typeof INDEXED)[Kind][number];

/** What a collection is made of. */
interface CollectionParts<Kind extends RowKind> {
  readonly kind: Kind;
  /** Copies a row into the shape of its model. */
  readonly create: (row: Rows[Kind]) => Rows[Kind];
}

/**
 * The rows of one kind, with everything that is counted and sorted of them. Rows are frozen: a change replaces a row, so
 * a snapshot can share them. Only `all`, `by` and `restore` take longer for more rows.
 */
export class Collection<Kind extends RowKind> {
  readonly #kind: Kind;
  readonly #create: (row: Rows[Kind]) => Rows[Kind];
  readonly #entries = new Map<string, Entry<Rows[Kind]>>();
  /** The indexes that follow the rows. An index does so only after its first use, because many are never used. */
  #indexes: RowIndex<Rows[Kind]>[] = [];
  /** Those of them that find rows by a property. */
  #byProperty: { [Property in IndexedBy<Kind>]?: PropertyIndex<Rows[Kind]> } = {};
  #nextPosition = 0;
  #mailBytes = 0;

  constructor({ kind, create }: CollectionParts<Kind>) {
    this.#kind = kind;
    this.#create = create;
  }

  /** Fills an index with the rows, unless it follows them already. */
  load(index: RowIndex<Rows[Kind]>): void {
    if (this.#indexes.includes(index)) return;
    this.#indexes.push(index);
    for (const entry of this.#entries.values()) index.change(entry, undefined, entry.row);
  }

  /** How many bytes these rows count towards the limit on stored mail. */
  get mailBytes(): number {
    return this.#mailBytes;
  }

  get(id: string): Rows[Kind] | undefined {
    return this.#entries.get(id)?.row;
  }

  /** Returns every row, in the order of insertion. */
  all(): Rows[Kind][] {
    return Array.from(this.#entries.values(), ({ row }) => row);
  }

  /** Returns the rows whose property has this value, in the order of insertion. */
  by(property: IndexedBy<Kind>, value: string): Rows[Kind][] {
    const index = this.#byProperty[property] ?? new PropertyIndex<Rows[Kind]>(property as keyof Rows[Kind]);
    this.#byProperty[property] = index;
    this.load(index);
    return index.find(value);
  }

  /** @throws if a row with this id exists. */
  insert(row: Rows[Kind]): Rows[Kind] {
    if (this.#entries.has(row.id)) throw new Error(`A row of ${this.#kind} with the id ${row.id} already exists.`);
    const inserted = freeze(this.#create(row));
    this.#add(inserted);
    return inserted;
  }

  /** Changes properties of a row, except its id and indexed properties. @throws if there is no such row. */
  update(id: string, changes: Partial<Omit<Rows[Kind], 'id' | IndexedBy<Kind>>>): Rows[Kind] {
    const entry = this.#entries.get(id);
    if (!entry) throw new Error(`There is no row of ${this.#kind} with the id ${id}.`);
    const previous = entry.row;
    entry.row = freeze({ ...previous, ...changes });
    this.#follow(entry, previous, entry.row);
    return entry.row;
  }

  /** Removes a row and returns it; `undefined` if there is none. */
  remove(id: string): Rows[Kind] | undefined {
    const entry = this.#entries.get(id);
    if (!entry) return undefined;
    this.#entries.delete(id);
    this.#follow(entry, entry.row, undefined);
    return entry.row;
  }

  /** Replaces all rows by these, which must come from `all()` of this collection. */
  restore(rows: readonly Rows[Kind][]): void {
    this.#entries.clear();
    for (const index of this.#indexes) index.clear();
    this.#indexes = [];
    this.#mailBytes = 0;
    for (const row of rows) this.#add(row);
  }

  #add(row: Rows[Kind]): void {
    const entry = { position: this.#nextPosition, row };
    this.#nextPosition += 1;
    this.#entries.set(row.id, entry);
    this.#follow(entry, undefined, row);
  }

  #follow(entry: Entry<Rows[Kind]>, before: Rows[Kind] | undefined, after: Rows[Kind] | undefined): void {
    this.#mailBytes += sizeOfRow(this.#kind, after) - sizeOfRow(this.#kind, before);
    for (const index of this.#indexes) index.change(entry, before, after);
  }
}

/** Freezes a row. Nested objects are copied and frozen, so that the caller's objects stay unfrozen. */
function freeze<Row extends object>(row: Row): Row {
  for (const [property, value] of Object.entries(row)) {
    // Bytes cannot be frozen. They are shared, and never changed.
    if (typeof value !== 'object' || Object.isFrozen(value) || isBytes(value)) continue;
    Object.assign(row, { [property]: frozenCopy(value) });
  }
  return Object.freeze(row);
}

/** What every empty list becomes, because most messages have several. */
const NO_ITEMS: readonly never[] = Object.freeze([]);

function frozenCopy<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value) && value.length === 0) return NO_ITEMS as Value;
  const copied = Array.isArray(value)
    ? value.map(frozenCopy)
    : Object.fromEntries(Object.entries(value).map(([name, part]) => [name, frozenCopy(part)]));
  return Object.freeze(copied) as Value;
}
