/** Every valid key of all tenants, by its text; `Holder` is the owner of a key. */
export class KeyIndex<Holder> extends Map<string, Holder> {
  readonly #listeners = new Set<(key: string) => void>();

  /** Makes a key invalid and notifies the listeners. */
  override delete(key: string): boolean {
    const isThere = super.delete(key);
    if (isThere) this.#notify(key);
    return isThere;
  }

  /** Makes every key invalid and notifies the listeners. */
  override clear(): void {
    const keys = [...this.keys()];
    super.clear();
    for (const key of keys) this.#notify(key);
  }

  /** Calls the listener with each key that becomes invalid. */
  onEnded(listener: (key: string) => void): void {
    this.#listeners.add(listener);
  }

  #notify(key: string): void {
    for (const listener of this.#listeners) listener(key);
  }
}
