import type { ReachableWorlds } from '../store/reachable-worlds.ts';
import type { ApiKeyRow } from '../store/rows.ts';
import type { KeyHolder, World } from '../store/world.ts';
import { unauthorized } from './credentials.ts';

/** The caller that a key identifies: its tier, its tenant's world, and the workspace or inbox of the key. */
export type Principal =
  | { readonly tier: 'operator' }
  | { readonly tier: 'tenant'; readonly world: World }
  | { readonly tier: 'workspace'; readonly world: World; readonly workspaceId: string }
  | { readonly tier: 'inbox'; readonly world: World; readonly workspaceId: string; readonly inboxId: string };

/** A principal that belongs to a tenant: any except the operator. */
export type TenantPrincipal = Exclude<Principal, { tier: 'operator' }>;

/**
 * Finds the principal of a key.
 *
 * @throws {ApiError} UNAUTHORIZED when the key is unknown or revoked.
 */
export function findPrincipal(worlds: ReachableWorlds, key: string): Principal {
  const principal = principalOf(worlds, key);
  if (principal) return principal;
  throw unauthorized('The API key is not valid: it is unknown or has been revoked.');
}

/** Returns the principal of a key; `undefined` if the key is unknown or revoked. */
export function principalOf(worlds: ReachableWorlds, key: string): Principal | undefined {
  const keyHolder = worlds.findKey(key);
  return keyHolder && toPrincipal(keyHolder);
}

/** Returns the tenant of a principal; null for the operator. */
export function tenantIdOf(principal: Principal): string | null {
  return principal.tier === 'operator' ? null : principal.world.id;
}

function toPrincipal(keyHolder: KeyHolder): Principal {
  return 'tier' in keyHolder ? { tier: 'operator' } : BY_TIER[keyHolder.row.tier](keyHolder.world, keyHolder.row);
}

const BY_TIER: Record<ApiKeyRow['tier'], (world: World, row: ApiKeyRow) => TenantPrincipal> = {
  tenant: (world) => ({ tier: 'tenant', world }),
  workspace: (world, row) => ({ tier: 'workspace', world, workspaceId: row.ownerId }),
  inbox: (world, row) => ({
    tier: 'inbox',
    world,
    workspaceId: world.inboxes.get(row.ownerId)?.workspaceId ?? '',
    inboxId: row.ownerId,
  }),
};
