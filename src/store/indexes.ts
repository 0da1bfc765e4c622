import { withoutTag } from '../contract/email-address.ts';
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

/** The addresses of a mailbox, in lower case. */
export interface AddressRing {
  get(address: string): AddressHolder | undefined;
  /** The holders of the tagged forms of an address: of `helpdesk+orders@acme.test` for `helpdesk@acme.test`. */
  tagged(address: string): AddressHolder[];
  has(address: string): boolean;
  set(address: string, holder: AddressHolder): void;
  delete(address: string): void;
  clear(): void;
}

/** What must be found by its text whatever tenant has it, each in one look-up. */
export interface Rings {
  /** Every valid key of a mailbox. */
  readonly keys: KeyRing;
  /** Every address that receives. */
  readonly addresses: AddressRing;
}

/** Creates rings that know nothing yet. */
export function createRings(): Rings {
  return { keys: createKeyRing(), addresses: createAddressRing() };
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

function createAddressRing(): AddressRing {
  const holders = new Map<string, AddressHolder>();
  /** The tagged forms of each address, whether anybody has the address itself or not. */
  const forms = new Map<string, Map<string, AddressHolder>>();
  return {
    get: (address) => holders.get(address),
    tagged: (address) => [...(forms.get(address)?.values() ?? [])],
    has: (address) => holders.has(address),
    set(address, holder) {
      holders.set(address, holder);
      const base = withoutTag(address);
      if (base !== address) forms.set(base, (forms.get(base) ?? new Map()).set(address, holder));
    },
    delete(address) {
      const base = withoutTag(address);
      holders.delete(address);
      forms.get(base)?.delete(address);
      if (forms.get(base)?.size === 0) forms.delete(base);
    },
    clear() {
      holders.clear();
      forms.clear();
    },
  };
}
