import type { Tier } from '../contract/tiers.ts';
import type { Principal } from './principal.ts';

/** Where a resource lives inside its tenant; null where it belongs to the tenant as a whole. */
export interface Place {
  readonly workspaceId: string | null;
  readonly inboxId: string | null;
}

/** Says whether a principal's tier is among those that may call an operation. */
export function mayCall(principal: Principal, tiers: readonly Tier[]): boolean {
  return tiers.includes(principal.tier);
}

/** Says whether a principal reaches a resource of its own tenant (service document, section 5: scope of each tier). */
export function mayReach(principal: Principal, place: Place): boolean {
  switch (principal.tier) {
    case 'operator':
      return false;
    case 'tenant':
      return true;
    case 'workspace':
      return place.workspaceId === principal.workspaceId;
    case 'inbox':
      return place.inboxId === principal.inboxId;
  }
}
