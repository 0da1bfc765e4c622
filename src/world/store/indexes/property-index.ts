import { withoutTag } from '../../../contract/email-address.ts';
import { addEntry, type Entry, removeEntry } from '../entries.ts';

/** An index that a collection updates with its rows. */
export interface RowIndex<Row> {
  /** Updates the index for a row; `before` is undefined for a new one, and `after` for one that is removed. */
  change(entry: Entry<Row>, before: Row | undefined, after: Row | undefined): void;
  clear(): void;
}

/** The rows by the value of a property that never changes. */
export class PropertyIndex<Row> implements RowIndex<Row> {
  readonly #entriesByValue = new Map<unknown, Entry<Row>[]>();

  constructor(readonly property: keyof Row) {}

  /** Returns the rows whose property has this value, in the order of insertion. */
  find(value: unknown): Row[] {
    return (this.#entriesByValue.get(value) ?? []).map(({ row }) => row);
  }

  change(entry: Entry<Row>, before: Row | undefined, after: Row | undefined): void {
    const value = entry.row[this.property];
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

/** Every valid key of all tenants, by its text; `Holder` is the owner of a key. */
export class KeyIndex<Holder> extends Map<string, Holder> {
  readonly #listeners = new Set<(key: string, holder: Holder) => void>();

  /** Makes a key invalid and notifies the listeners. */
  override delete(key: string): boolean {
    const holder = this.get(key);
    const isThere = super.delete(key);
    if (holder) this.#notify(key, holder);
    return isThere;
  }

  /** Makes every key invalid and notifies the listeners. */
  override clear(): void {
    const ended = [...this];
    super.clear();
    for (const [key, holder] of ended) this.#notify(key, holder);
  }

  /** Calls the listener with each key that becomes invalid, and its owner. */
  onEnded(listener: (key: string, holder: Holder) => void): void {
    this.#listeners.add(listener);
  }

  #notify(key: string, holder: Holder): void {
    for (const listener of this.#listeners) listener(key, holder);
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
