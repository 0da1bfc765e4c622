/** Every valid key of a mailbox by its text, whatever tenant has it; `Holder` is what a key stands for. */
export class KeyIndex<Holder> extends Map<string, Holder> {
  readonly #listeners = new Set<(key: string) => void>();

  /** Ends a key. */
  override delete(key: string): boolean {
    const isThere = super.delete(key);
    if (isThere) this.#notify(key);
    return isThere;
  }

  /** Ends every key. */
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
