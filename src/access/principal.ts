import type { ApiKeyRow } from '../store/rows.ts';
import type { KeyHolder, World } from '../store/world.ts';
import type { Worlds } from '../store/worlds.ts';
import { unauthorized } from './credentials.ts';

/** Who a key speaks for: its tier, its tenant's world, and the workspace or inbox it is bound to. */
export type Principal =
  | { readonly tier: 'operator' }
  | { readonly tier: 'tenant'; readonly world: World }
  | { readonly tier: 'workspace'; readonly world: World; readonly workspaceId: string }
  | { readonly tier: 'inbox'; readonly world: World; readonly workspaceId: string; readonly inboxId: string };

/** A principal that lives in a tenant's world: any but the operator. */
export type TenantPrincipal = Exclude<Principal, { tier: 'operator' }>;

/**
 * Finds who a key speaks for.
 *
 * @throws {ApiError} UNAUTHORIZED when no such key is valid now.
 */
export function findPrincipal(worlds: Worlds, key: string): Principal {
  const holder = worlds.findKey(key);
  if (holder === undefined) throw unauthorized('The API key is not valid: it is unknown or has been revoked.');
  return toPrincipal(holder);
}

function toPrincipal(holder: KeyHolder): Principal {
  return 'tier' in holder ? { tier: 'operator' } : BY_TIER[holder.row.tier](holder.world, holder.row);
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
