import { withoutTag } from '../../../contract/addresses/email-address.ts';
import { addEntry, type Entry, removeEntry } from '../entries.ts';

/** An index that a collection updates with its rows. */
export interface RowIndex<Row> {
  /** Updates the index for a row. `before` is undefined for a new row, and `after` for a row that is removed. */
  change(entry: Entry<Row>, before: Row | undefined, after: Row | undefined): void;
  clear(): void;
}

/** The rows by the value of a property. */
export class PropertyIndex<Row> implements RowIndex<Row> {
  readonly #entriesByValue = new Map<unknown, Entry<Row>[]>();

  constructor(readonly property: keyof Row) {}

  /** Returns the rows whose property has this value, in the order of insertion. */
  find(value: unknown): Row[] {
    return (this.#entriesByValue.get(value) ?? []).map(({ row }) => row);
  }

  /** Returns whether any row has this value. */
  has(value: unknown): boolean {
    return this.#entriesByValue.has(value);
  }

  change(entry: Entry<Row>, before: Row | undefined, after: Row | undefined): void {
    const [oldValue, newValue] = [before?.[this.property], after?.[this.property]];
    if (before && after && oldValue === newValue) return;
    const oldEntries = before && this.#entriesByValue.get(oldValue);
    if (oldEntries) removeEntry(oldEntries, entry);
    if (oldEntries?.length === 0) this.#entriesByValue.delete(oldValue);
    if (!after) return;
    const newEntries = this.#entriesByValue.get(newValue);
    if (newEntries) addEntry(newEntries, entry);
    else this.#entriesByValue.set(newValue, [entry]);
  }

  clear(): void {
    this.#entriesByValue.clear();
  }
}

/** Every valid key of all tenants, by its text; `Location` says where a key belongs. */
export class KeyIndex<Location> extends Map<string, Location> {
  readonly #listeners = new Set<(key: string, location: Location) => void>();

  /** Makes a key invalid and notifies the listeners. */
  override delete(key: string): boolean {
    const location = this.get(key);
    const existed = super.delete(key);
    if (location) this.#notify(key, location);
    return existed;
  }

  /** Makes every key invalid and notifies the listeners. */
  override clear(): void {
    const ended = [...this];
    super.clear();
    for (const [key, location] of ended) this.#notify(key, location);
  }

  /** Calls the listener with each key that becomes invalid, and where it belonged. */
  onEnded(listener: (key: string, location: Location) => void): void {
    this.#listeners.add(listener);
  }

  #notify(key: string, location: Location): void {
    for (const listener of this.#listeners) listener(key, location);
  }
}

/** Every address of all tenants, in lower case, with the inbox that receives its mail. */
export class AddressIndex<Inbox> extends Map<string, Inbox> {
  /** For each address, the inboxes of its tagged forms. The address itself need not be in the index. */
  readonly #tagged = new Map<string, Map<string, Inbox>>();

  /** Returns the inboxes of the tagged forms of an address, such as `helpdesk+orders@acme.test`. */
  tagged(address: string): Inbox[] {
    return [...(this.#tagged.get(address)?.values() ?? [])];
  }

  override set(address: string, inbox: Inbox): this {
    const base = withoutTag(address);
    if (base !== address) this.#tagged.set(base, (this.#tagged.get(base) ?? new Map()).set(address, inbox));
    return super.set(address, inbox);
  }

  override delete(address: string): boolean {
    const base = withoutTag(address);
    this.#tagged.get(base)?.delete(address);
    if (this.#tagged.get(base)?.size === 0) this.#tagged.delete(base);
    return super.delete(address);
  }

  override clear(): void {
    super.clear();
    this.#tagged.clear();
  }
}
