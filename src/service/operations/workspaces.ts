import { slugOf } from '../../basics/text.ts';
import type { ReadBehaviour } from '../../contract/behaviours.ts';
import { ApiError, REFUSALS } from '../../contract/errors.ts';
import { newId, timestampNow } from '../../world/environment.ts';
import { removeWorkspace } from '../../world/store/removal.ts';
import type { WorkspaceRow } from '../../world/store/rows.ts';
import type { World } from '../../world/store/world.ts';
import { findInScope } from '../pipeline/access/find-in-scope.ts';
import type { TenantPrincipal } from '../pipeline/access/principal.ts';
import type { Run } from './context.ts';
import { DELETED } from './replies/show-page.ts';

export const createWorkspace: Run<'createWorkspace'> = (
  { principal, environment, readBehaviour, assume },
  { body },
) => {
  const { world } = principal;
  if (body.slug === undefined || body.slug === null) assume('workspaces.create.slug');
  const row = world.workspaces.insert({
    id: newId(environment),
    name: body.name,
    slug: pickFreeSlug(world, body.slug ?? slugOf(body.name, 60, 'workspace'), readBehaviour),
    isDefault: world.workspaces.all().every(({ isDefault }) => !isDefault),
    createdAt: timestampNow(environment),
  });
  return { body: showWorkspace(world, row) };
};

function pickFreeSlug(world: World, slug: string, readBehaviour: ReadBehaviour): string {
  const isTaken = (candidate: string) => world.workspaces.by('slug', candidate).length > 0;
  if (!isTaken(slug)) return slug;
  if (readBehaviour('workspaces.create.slug-taken') === 'conflict') {
    throw new ApiError('ALREADY_EXISTS', `A workspace with the slug ${slug} already exists.`);
  }
  let number = 2;
  while (isTaken(`${slug}-${number}`)) number += 1;
  return `${slug}-${number}`;
}

export const listWorkspaces: Run<'listWorkspaces'> = ({ principal }) => {
  const { world } = principal;
  return { body: { workspaces: visibleWorkspaces(principal).map((row) => showWorkspace(world, row)) } };
};

function visibleWorkspaces(principal: TenantPrincipal): WorkspaceRow[] {
  const { workspaces } = principal.world;
  if (principal.tier === 'tenant') return workspaces.all();
  return [workspaces.get(principal.workspaceId)].filter((row) => row !== undefined);
}

export const getWorkspace: Run<'getWorkspace'> = (context, { params }) => {
  return { body: showWorkspace(context.principal.world, findInScope(context, 'workspaces', params.id)) };
};

/** Deletes a workspace with its inboxes, domains, webhooks and keys. The keys are refused from now on. */
export const deleteWorkspace: Run<'deleteWorkspace'> = (context, { params }) => {
  const { principal, readBehaviour } = context;
  const { id, isDefault } = findInScope(context, 'workspaces', params.id);
  if (isDefault) {
    throw new ApiError(
      REFUSALS[readBehaviour('workspaces.delete.default')],
      'The default workspace cannot be deleted.',
    );
  }
  removeWorkspace(principal.world, id);
  return { body: DELETED[readBehaviour('workspaces.delete.body')](id) };
};

function showWorkspace(world: World, { id, name, slug, isDefault, createdAt }: WorkspaceRow) {
  const inboxCount = world.inboxes.by('workspaceId', id).filter(({ deletedAt }) => deletedAt === null).length;
  const domainCount = world.domains.by('workspaceId', id).length;
  return { id, name, slug, isDefault, inboxCount, domainCount, createdAt };
}
