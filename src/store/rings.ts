import type { ApiKeyRow } from './rows.ts';
import type { World } from './world.ts';

/** What a key text stands for: an operator, or a key row in a tenant's world. */
export type KeyHolder = { readonly tier: 'operator' } | { readonly world: World; readonly row: ApiKeyRow };

/** The inbox at which an address receives, and the world it lives in. */
export interface AddressHolder {
  readonly world: World;
  readonly inboxId: string;
}

/** What must be found by its text whatever tenant has it, each in one look-up. */
export interface Rings {
  /** Every valid key of a mailbox. */
  readonly keys: Map<string, KeyHolder>;
  /** Every address that receives, in lower case. */
  readonly addresses: Map<string, AddressHolder>;
}

/** Creates rings that know nothing yet. */
export function createRings(): Rings {
  return { keys: new Map(), addresses: new Map() };
}
