import { canonicalAddress } from '../store/inbox-address.ts';
import type { World } from '../store/world.ts';
import type { RowScope } from './policy.ts';
import type { TenantPrincipal } from './principal.ts';

/** Describes who sent a request and who owns the resource that its key may not access, for the journal and the log. */
export function describeOutOfScope(principal: TenantPrincipal, what: string, owner: { world: World; scope: RowScope }) {
  const tier = principal.tier[0]?.toUpperCase() + principal.tier.slice(1);
  const ownScope = {
    workspaceId: 'workspaceId' in principal ? principal.workspaceId : null,
    inboxId: 'inboxId' in principal ? principal.inboxId : null,
  };
  const tenant = owner.world === principal.world ? [] : [tenantName(owner.world)];
  const ownerName = [...tenant, namesOf(owner.world, owner.scope)].join(' / ');
  const basis = 'section 5; choice errors.foreign-resource';
  return `${tier} key of ${namesOf(principal.world, ownScope)}; the ${what} belongs to ${ownerName} (${basis}).`;
}

/** Names a scope: its workspace and its inbox, or the tenant. */
function namesOf(world: World, { workspaceId, inboxId }: RowScope): string {
  const workspace = world.workspaces.get(workspaceId ?? '');
  const inbox = world.inboxes.get(inboxId ?? '');
  const names = [...(workspace ? [workspace.name] : []), ...(inbox ? [canonicalAddress(inbox)] : [])];
  return names.join(' / ') || tenantName(world);
}

function tenantName(world: World): string {
  return world.tenants.get(world.id)?.name ?? world.id;
}
