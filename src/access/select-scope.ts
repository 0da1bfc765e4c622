import { ApiError, REFUSALS } from '../contract/errors.ts';
import type { InboxRow, WorkspaceRow } from '../store/rows.ts';
import { findInScope, type LookupContext, notFound } from './find-in-scope.ts';
import { isInScope } from './policy.ts';
import type { TenantPrincipal } from './principal.ts';

/** Returns all inboxes within the scope of a principal's key, oldest first. */
function inboxesInScope(principal: TenantPrincipal): InboxRow[] {
  return findCandidates(principal).filter(
    ({ id, workspaceId, deletedAt }) => deletedAt === null && isInScope(principal, { workspaceId, inboxId: id }),
  );
}

function findCandidates(principal: TenantPrincipal): InboxRow[] {
  const { inboxes } = principal.world;
  return principal.tier === 'tenant' ? inboxes.all() : inboxes.by('workspaceId', principal.workspaceId);
}

/**
 * Returns the workspace that a request with a tenant key selects; `undefined` if it selects none.
 *
 * @throws {ApiError} NOT_FOUND for an unknown workspace. If another key selects a workspace: FORBIDDEN or
 *   VALIDATION_ERROR, by `requests.selectors`.
 */
export function selectWorkspace(
  context: LookupContext,
  workspaceId: string | null | undefined,
): WorkspaceRow | undefined {
  if (workspaceId === undefined || workspaceId === null) return undefined;
  if (context.principal.tier === 'tenant') return findInScope(context, 'workspaces', workspaceId);
  const value = context.readBehaviour('requests.selectors');
  if (value === 'ignored') return undefined;
  throw new ApiError(REFUSALS[value], 'Only a tk_ key may select a workspace; this key always uses its own.');
}

/**
 * Returns the inboxes in scope that the request selects.
 *
 * @throws {ApiError} as `selectWorkspace` and `findInScope` do.
 */
export function selectInboxes(
  context: LookupContext,
  selectors: { readonly workspace?: string | undefined; readonly inbox?: string | undefined },
): InboxRow[] {
  const workspace = selectWorkspace(context, selectors.workspace);
  const inbox = selectors.inbox === undefined ? undefined : findInScope(context, 'inboxes', selectors.inbox);
  const inboxes = (inbox ? [inbox] : inboxesInScope(context.principal)).filter(
    ({ workspaceId }) => workspace === undefined || workspaceId === workspace.id,
  );
  if (inbox && inboxes.length === 0) {
    throw notFound('inboxes', 'The inbox is not in the selected workspace.');
  }
  return inboxes;
}
