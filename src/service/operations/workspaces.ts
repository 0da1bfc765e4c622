import { slugOf } from '../../basics/text.ts';
import { ApiError, REFUSALS } from '../../contract/errors.ts';
import { newId, timestampNow } from '../../world/environment.ts';
import { removeWorkspace } from '../../world/store/removal.ts';
import type { WorkspaceRow } from '../../world/store/rows.ts';
import type { World } from '../../world/store/world.ts';
import { findInScope, rowsInScope } from '../access/find-in-scope.ts';
import type { Context, Run } from './context.ts';
import { DELETE_BODY } from './replies.ts';

export const createWorkspace: Run<'createWorkspace'> = (context, { body }) => {
  const { world } = context;
  const { name } = body;
  const others = world.workspaces.all();
  const [id, createdAt] = [newId(world.environment), timestampNow(world.environment)];
  const slug = pickFreeSlug(context, body.slug ?? slugOf(name, 60, 'workspace'));
  const isDefault = others.every((each) => !each.isDefault);
  return { body: showWorkspace(world, world.workspaces.insert({ id, name, slug, isDefault, createdAt })) };
};

function pickFreeSlug({ world, readBehaviour }: Context<'createWorkspace'>, slug: string): string {
  const isTaken = (candidate: string) => world.workspaces.by('slug', candidate).length > 0;
  if (!isTaken(slug)) return slug;
  if (readBehaviour('workspaces.create.slug-taken') === 'conflict') {
    throw new ApiError('ALREADY_EXISTS', `A workspace with the slug ${slug} already exists.`);
  }
  let number = 2;
  while (isTaken(`${slug}-${number}`)) number += 1;
  return `${slug}-${number}`;
}

export const listWorkspaces: Run<'listWorkspaces'> = ({ principal, world }) => {
  const rows = rowsInScope(principal, 'workspaces');
  return { body: { workspaces: rows.map((row) => showWorkspace(world, row)) } };
};

export const getWorkspace: Run<'getWorkspace'> = (context, { params }) => {
  return { body: showWorkspace(context.world, findInScope(context, 'workspaces', params.id)) };
};

/** Deletes a workspace with its inboxes, domains, webhooks and keys. The keys are refused from now on. */
export const deleteWorkspace: Run<'deleteWorkspace'> = (context, { params }) => {
  const { world, readBehaviour } = context;
  const { id, isDefault } = findInScope(context, 'workspaces', params.id);
  if (isDefault) {
    const code = REFUSALS[readBehaviour('workspaces.delete.default')];
    throw new ApiError(code, 'The default workspace cannot be deleted.');
  }
  removeWorkspace(world, id);
  return { body: DELETE_BODY[readBehaviour('workspaces.delete.body')](id) };
};

function showWorkspace(world: World, { id, name, slug, isDefault, createdAt }: WorkspaceRow) {
  const inboxCount = world.inboxes.by('workspaceId', id).filter(({ deletedAt }) => deletedAt === null).length;
  const domainCount = world.domains.by('workspaceId', id).length;
  return { id, name, slug, isDefault, inboxCount, domainCount, createdAt };
}
