/** Every valid key of all tenants, by its text; `Holder` is the owner of a key. */
export class KeyIndex<Holder> extends Map<string, Holder> {
  readonly #listeners = new Set<(key: string) => void>();

  /** Ends a key and notifies the listeners. */
  override delete(key: string): boolean {
    const isThere = super.delete(key);
    if (isThere) this.#notify(key);
    return isThere;
  }

  /** Ends every key and notifies the listeners. */
  override clear(): void {
    const keys = [...this.keys()];
    super.clear();
    for (const key of keys) this.#notify(key);
  }

  /** Calls the listener with each key that ends. */
  onEnded(listener: (key: string) => void): void {
    this.#listeners.add(listener);
  }

  #notify(key: string): void {
    for (const listener of this.#listeners) listener(key);
  }
}
