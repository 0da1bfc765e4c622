import { ApiError, REFUSALS } from '../contract/errors.ts';
import type { InboxRow, WorkspaceRow } from '../store/rows.ts';
import { findInReach, notFound, type Reach } from './find-in-reach.ts';
import { mayReach } from './policy.ts';
import type { TenantPrincipal } from './principal.ts';

/** Every inbox that a principal reaches, oldest first. */
function inboxesInReach(principal: TenantPrincipal): InboxRow[] {
  return candidates(principal).filter(
    ({ id, workspaceId, deletedAt }) => deletedAt === null && mayReach(principal, { workspaceId, inboxId: id }),
  );
}

function candidates(principal: TenantPrincipal): InboxRow[] {
  const { inboxes } = principal.world;
  return principal.tier === 'tenant' ? inboxes.all() : inboxes.by('workspaceId', principal.workspaceId);
}

/**
 * The workspace that a selector names, for a tenant key; `undefined` where none is named.
 *
 * @throws {ApiError} FORBIDDEN or VALIDATION_ERROR for a key that may not select one (`requests.selectors`);
 *   NOT_FOUND for a workspace that is not there.
 */
export function selectWorkspace(reach: Reach, workspaceId: string | null | undefined): WorkspaceRow | undefined {
  if (workspaceId === undefined || workspaceId === null) return undefined;
  if (reach.principal.tier === 'tenant') return findInReach(reach, 'workspaces', workspaceId);
  const answer = reach.choose('requests.selectors');
  if (answer === 'ignored') return undefined;
  throw new ApiError(REFUSALS[answer], 'Only a tk_ key may select a workspace; this key always uses its own.');
}

/** The inboxes in reach, narrowed by selectors. @throws {ApiError} as `selectWorkspace` and `findInReach` do. */
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
