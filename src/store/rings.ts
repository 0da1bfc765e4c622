import type { ApiKeyRow } from './rows.ts';
import type { World } from './world.ts';

/** What a key text stands for: an operator, or a key row in a tenant's world. */
export type KeyHolder = { readonly tier: 'operator' } | { readonly world: World; readonly row: ApiKeyRow };

/** The inbox at which an address receives, and the world it lives in. */
export interface AddressHolder {
  readonly world: World;
  readonly inboxId: string;
}

/** The keys of a mailbox, by their text. */
export interface KeyRing {
  get(key: string): KeyHolder | undefined;
  has(key: string): boolean;
  set(key: string, holder: KeyHolder): void;
  entries(): [key: string, holder: KeyHolder][];
  /** Ends a key. */
  delete(key: string): void;
  /** Ends every key. */
  clear(): void;
  /** Tells of each key that ends. */
  onEnded(listener: (key: string) => void): void;
}

/** What must be found by its text whatever tenant has it, each in one look-up. */
export interface Rings {
  /** Every valid key of a mailbox. */
  readonly keys: KeyRing;
  /** Every address that receives, in lower case. */
  readonly addresses: Map<string, AddressHolder>;
}

/** Creates rings that know nothing yet. */
export function createRings(): Rings {
  return { keys: createKeyRing(), addresses: new Map() };
}

function createKeyRing(): KeyRing {
  const holders = new Map<string, KeyHolder>();
  const listeners = new Set<(key: string) => void>();
  const end = (key: string) => {
    for (const tell of listeners) tell(key);
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
