import { canonicalAddress } from '../store/inbox-address.ts';
import type { ReachableWorlds } from '../store/reachable-worlds.ts';
import type { World } from '../store/world.ts';
import type { RowScope } from './policy.ts';
import type { TenantPrincipal } from './principal.ts';

/** Describes who sent a request and who owns the resource that its key may not access, for the journal and the log. */
export function describeOutOfScope(
  { principal, worlds }: { readonly principal: TenantPrincipal; readonly worlds: ReachableWorlds },
  what: string,
  owner: { readonly world: World; readonly scope: RowScope },
): string {
  const tier = principal.tier[0]?.toUpperCase() + principal.tier.slice(1);
  const ownScope = {
    workspaceId: 'workspaceId' in principal ? principal.workspaceId : null,
    inboxId: 'inboxId' in principal ? principal.inboxId : null,
  };
  const tenant = owner.world === principal.world ? [] : [tenantName(owner.world, worlds)];
  const ownerName = [...tenant, namesOf(worlds, owner.world, owner.scope)].join(' / ');
  const basis = 'section 5; choice errors.foreign-resource';
  return `${tier} key of ${namesOf(worlds, principal.world, ownScope)}; the ${what} belongs to ${ownerName} (${basis}).`;
}

/** Names a scope: its workspace and its inbox, or the tenant. */
function namesOf(worlds: ReachableWorlds, world: World, { workspaceId, inboxId }: RowScope): string {
  const workspace = world.workspaces.get(workspaceId ?? '');
  const inbox = world.inboxes.get(inboxId ?? '');
  const names = [...(workspace ? [workspace.name] : []), ...(inbox ? [canonicalAddress(inbox)] : [])];
  return names.join(' / ') || tenantName(world, worlds);
}

/** Names a tenant; a sandbox has the name of the tenant that it is a copy of, so its id is shown, too. */
function tenantName({ id, tenants }: World, worlds: ReachableWorlds): string {
  const isSandbox = worlds.sandboxDomain !== undefined || !worlds.neighbours().some((world) => world.id === id);
  return `${tenants.get(id)?.name ?? id}${isSandbox ? ` (sandbox ${id})` : ''}`;
}
