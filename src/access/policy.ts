import type { Tier } from '../contract/tiers.ts';
import type { Principal } from './principal.ts';

/** The workspace and the inbox that a resource belongs to. An id is null if it belongs to none, or to several. */
export interface RowScope {
  readonly workspaceId: string | null;
  readonly inboxId: string | null;
}

/** Returns whether a principal's tier may call an operation. */
export function mayCall(principal: Principal, tiers: readonly Tier[]): boolean {
  return tiers.includes(principal.tier);
}

/** Returns whether a principal may access a resource of its own tenant (service document, section 5). */
export function isInScope(principal: Principal, scope: RowScope): boolean {
  switch (principal.tier) {
    case 'operator':
      return false;
    case 'tenant':
      return true;
    case 'workspace':
      return scope.workspaceId === principal.workspaceId;
    case 'inbox':
      return scope.inboxId === principal.inboxId;
  }
}
