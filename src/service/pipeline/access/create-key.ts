import { TIER_PREFIX } from '../../../contract/tiers.ts';
import { type Environment, newId, newKey, timestampNow } from '../../../world/environment.ts';
import type { ApiKeyRow } from '../../../world/store/rows.ts';

/** Creates a key for its owner: a tenant, a workspace or an inbox. It becomes valid when `World.addKey` adds it. */
export function createKey(
  environment: Environment,
  { tier, ownerId, name }: Pick<ApiKeyRow, 'tier' | 'ownerId'> & { readonly name?: string | null | undefined },
): ApiKeyRow {
  return {
    id: newId(environment),
    key: newKey(environment, TIER_PREFIX[tier]),
    tier,
    ownerId,
    name: name ?? null,
    createdAt: timestampNow(environment),
  };
}
