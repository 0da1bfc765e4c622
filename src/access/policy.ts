import type { Tier } from '../contract/tiers.ts';
import type { Principal } from './principal.ts';

/** The place of a resource inside its tenant. An id is null if the resource belongs to no single workspace or inbox. */
export interface Place {
  readonly workspaceId: string | null;
  readonly inboxId: string | null;
}

/** Returns whether a principal's tier may call an operation. */
export function mayCall(principal: Principal, tiers: readonly Tier[]): boolean {
  return tiers.includes(principal.tier);
}

/** Returns whether a principal may access a resource of its own tenant (service document, section 5). */
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
