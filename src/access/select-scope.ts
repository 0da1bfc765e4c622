import { ApiError, REFUSALS } from '../contract/errors.ts';
import type { InboxRow, WorkspaceRow } from '../store/rows.ts';
import { findInReach, notFound, type Reach } from './find-in-reach.ts';
import { mayReach } from './policy.ts';
import type { TenantPrincipal } from './principal.ts';

/** Returns all inboxes within a principal's reach, oldest first. */
function inboxesInReach(principal: TenantPrincipal): InboxRow[] {
  return findCandidates(principal).filter(
    ({ id, workspaceId, deletedAt }) => deletedAt === null && mayReach(principal, { workspaceId, inboxId: id }),
  );
}

function findCandidates(principal: TenantPrincipal): InboxRow[] {
  const { inboxes } = principal.world;
  return principal.tier === 'tenant' ? inboxes.all() : inboxes.by('workspaceId', principal.workspaceId);
}

/**
 * Returns the workspace that a tenant key selects, or `undefined` without a selector.
 *
 * @throws {ApiError} FORBIDDEN or VALIDATION_ERROR for any other key, depending on `requests.selectors`; NOT_FOUND for
 *   an unknown workspace.
 */
export function selectWorkspace(reach: Reach, workspaceId: string | null | undefined): WorkspaceRow | undefined {
  if (workspaceId === undefined || workspaceId === null) return undefined;
  if (reach.principal.tier === 'tenant') return findInReach(reach, 'workspaces', workspaceId);
  const choice = reach.choose('requests.selectors');
  if (choice === 'ignored') return undefined;
  throw new ApiError(REFUSALS[choice], 'Only a tk_ key may select a workspace; this key always uses its own.');
}

/** Returns the inboxes in reach that match the selectors. @throws {ApiError} as `selectWorkspace` and `findInReach` do. */
export function selectInboxes(
  reach: Reach,
  selectors: { readonly workspace?: string | undefined; readonly inbox?: string | undefined },
): InboxRow[] {
  const workspace = selectWorkspace(reach, selectors.workspace);
  const inbox = selectors.inbox === undefined ? undefined : findInReach(reach, 'inboxes', selectors.inbox);
  const inboxes = (inbox ? [inbox] : inboxesInReach(reach.principal)).filter(
    ({ workspaceId }) => workspace === undefined || workspaceId === workspace.id,
  );
  if (inbox && inboxes.length === 0) throw notFound('inboxes');
  return inboxes;
}
