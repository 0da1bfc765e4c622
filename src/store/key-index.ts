/** Every valid key of a mailbox by its text, whatever tenant has it; `Holder` is what a key stands for. */
export interface KeyIndex<Holder> {
  get(key: string): Holder | undefined;
  has(key: string): boolean;
  set(key: string, holder: Holder): void;
  entries(): [key: string, holder: Holder][];
  /** Ends a key. */
  delete(key: string): void;
  /** Ends every key. */
  clear(): void;
  /** Calls the listener with each key that ends. */
  onEnded(listener: (key: string) => void): void;
}

/** Creates an index without keys. */
export function createKeyIndex<Holder>(): KeyIndex<Holder> {
  const holders = new Map<string, Holder>();
  const listeners = new Set<(key: string) => void>();
  const end = (key: string) => {
    for (const notify of listeners) notify(key);
  };
  return {
    get: (key) => holders.get(key),
    has: (key) => holders.has(key),
    set: (key, holder) => void holders.set(key, holder),
    entries: () => [...holders],
    delete(key) {
      if (holders.delete(key)) end(key);
    },
    clear() {
      const keys = [...holders.keys()];
      holders.clear();
      keys.forEach(end);
    },
    onEnded: (listener) => void listeners.add(listener),
  };
}
