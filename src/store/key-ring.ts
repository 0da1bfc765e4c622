import type { ApiKeyRow } from './rows.ts';
import type { World } from './world.ts';

/** What a key text stands for: an operator, or a key row in a tenant's world. */
export type KeyHolder = { readonly tier: 'operator' } | { readonly world: World; readonly row: ApiKeyRow };

/** Every valid key of a mailbox, found by its text in one look-up. */
export type KeyRing = Map<string, KeyHolder>;
