import { keyPrefix } from '../../contract/tiers.ts';
import type { ApiKeyRow } from '../../world/store/rows.ts';
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
  const { id: workspaceId } = findInScope(context, 'workspaces', params.id);
  const owner = { tier: 'workspace' as const, ownerId: workspaceId, name: body.name ?? null };
  const { id, key, name, createdAt } = context.world.addKey(createKey(context.world.environment, owner));
  return { body: { id, key, prefix: keyPrefix(key), name, workspaceId, createdAt } };
};

export const listWorkspaceKeys: Run<'listWorkspaceKeys'> = (context, { params }) => {
  const workspace = findInScope(context, 'workspaces', params.id);
  const rows = context.world.apiKeys.by('ownerId', workspace.id);
  return {
    body: { keys: rows.map(({ id, key, name, createdAt }) => ({ id, prefix: keyPrefix(key), name, createdAt })) },
  };
};

/** Revokes a workspace key (service document, section 4.4). `createWorkspaceKey` issues a replacement. */
export const deleteWorkspaceKey: Run<'deleteWorkspaceKey'> = (context, { params }) => {
  const workspace = findInScope(context, 'workspaces', params.id);
  const key = findInScope(context, 'apiKeys', params.key_id);
  if (key.ownerId !== workspace.id) throw notFound('apiKeys', 'The key does not belong to the workspace in the path.');
  context.world.removeKey(key.id);
  return { body: REVOKED_KEY[context.readBehaviour('workspaces.keys.delete.body')](key.id) };
};

const REVOKED_KEY = { 'revoked-and-id': (id: string) => ({ revoked: true as const, id }), empty: () => ({}) };
