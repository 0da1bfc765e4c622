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
