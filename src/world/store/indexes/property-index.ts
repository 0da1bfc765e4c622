import { addEntry, type Entry, removeEntry } from '../entries.ts';

/** What a collection keeps up to date with its rows. */
export interface RowIndex<Row> {
  /** Follows a change of a row; `before` is undefined for a new one, and `after` for one that is removed. */
  change(entry: Entry<Row>, before: Row | undefined, after: Row | undefined): void;
  clear(): void;
}

/** The rows by the value of a property that never changes. */
export class PropertyIndex<Row> implements RowIndex<Row> {
  readonly #property: keyof Row;
  readonly #entriesByValue = new Map<unknown, Entry<Row>[]>();

  constructor(property: keyof Row) {
    this.#property = property;
  }

  /** Returns the rows whose property has this value, in the order of insertion. */
  find(value: unknown): Row[] {
    return (this.#entriesByValue.get(value) ?? []).map(({ row }) => row);
  }

  change(entry: Entry<Row>, before: Row | undefined, after: Row | undefined): void {
    const value = entry.row[this.#property];
    const entries = this.#entriesByValue.get(value);
    if (!before && !entries) this.#entriesByValue.set(value, [entry]);
    if (!before && entries) addEntry(entries, entry);
    if (!after && entries) removeEntry(entries, entry);
    if (!after && entries?.length === 0) this.#entriesByValue.delete(value);
  }

  clear(): void {
    this.#entriesByValue.clear();
  }
}
