import { keyPrefix } from '../../contract/tiers.ts';
import type { ApiKeyRow } from '../../world/store/rows.ts';
import type { World } from '../../world/store/world.ts';
import { findInScope, notFound } from '../access/find-in-scope.ts';
import { createKey } from '../access/principal.ts';
import type { Run } from './context.ts';

/** Creates a key for an inbox and revokes the previous key. The mail is kept (service document, section 4.4). */
export const rotateInboxKey: Run<'rotateInboxKey'> = (context, { params }) => {
  const { world, readBehaviour } = context;
  const inbox = findInScope(context, 'inboxes', params.id);
  const previous = world.apiKeys.by('ownerId', inbox.id);
  const row = world.addKey(createKey(world.environment, { tier: 'inbox', ownerId: inbox.id }));
  for (const { id } of previous) world.removeKey(id, { replacedBy: row.id });
  return { body: ROTATE_BODY[readBehaviour('inboxes.rotate.reply')](row) };
};

const ROTATE_BODY = {
  'key-record': ({ id, key, ownerId: inboxId, createdAt }: ApiKeyRow) => {
    return { id, key, prefix: keyPrefix(key), inboxId, createdAt };
  },
  'key-only': ({ key }: ApiKeyRow) => ({ key }),
};

export const createWorkspaceKey: Run<'createWorkspaceKey'> = (context, { params, body }) => {
  const { world } = context;
  const workspace = findInScope(context, 'workspaces', params.id);
  return { body: issueKey(world, workspace.id, body.name ?? null) };
};

/** Adds a key to a workspace, and returns it as the reply shows it. */
function issueKey(world: World, workspaceId: string, name: string | null) {
  const row = world.addKey(createKey(world.environment, { tier: 'workspace', ownerId: workspaceId, name }));
  const { id, key, createdAt } = row;
  return { id, key, prefix: keyPrefix(key), name, workspaceId, createdAt };
}

export const listWorkspaceKeys: Run<'listWorkspaceKeys'> = (context, { params }) => {
  const workspace = findInScope(context, 'workspaces', params.id);
  const rows = context.world.apiKeys.by('ownerId', workspace.id);
  return {
    body: { keys: rows.map(({ id, key, name, createdAt }) => ({ id, prefix: keyPrefix(key), name, createdAt })) },
  };
};

/** Revokes a workspace key (service document, section 4.4). A behaviour decides what issues the new key. */
export const deleteWorkspaceKey: Run<'deleteWorkspaceKey'> = (context, { params }) => {
  const workspace = findInScope(context, 'workspaces', params.id);
  const key = findInScope(context, 'apiKeys', params.key_id);
  if (key.ownerId !== workspace.id) throw notFound('apiKeys', 'The key does not belong to the workspace in the path.');
  context.world.removeKey(key.id);
  const revoked = { revoked: true as const, id: key.id };
  switch (context.readBehaviour('workspaces.keys.delete.body')) {
    case 'revoked-and-id':
      return { body: revoked };
    case 'empty':
      return { body: {} };
    case 'revoked-and-new-key':
      return { body: { ...revoked, newKey: issueKey(context.world, workspace.id, key.name) } };
  }
};
