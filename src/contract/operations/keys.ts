import { z } from 'zod';
import type { Choose } from '../behaviours.ts';
import { defineOperation } from '../operation.ts';
import { emptyReply, name, pathId, timestamp, uuid } from '../schemas.ts';
import type { Tier } from '../tiers.ts';

const ROTATE_TIERS = {
  'tenant-and-workspace': ['tenant', 'workspace'],
  'tenant-workspace-and-inbox': ['tenant', 'workspace', 'inbox'],
  'tenant-only': ['tenant'],
} as const satisfies Record<string, readonly Tier[]>;

const WORKSPACE_KEY_TIERS = {
  'tenant-and-workspace': ['tenant', 'workspace'],
  'tenant-only': ['tenant'],
} as const satisfies Record<string, readonly Tier[]>;

const workspaceKeyTiers = (choose: Choose) => WORKSPACE_KEY_TIERS[choose('workspaces.keys.tiers')];

/** What a list shows of a workspace key: never the key itself. */
const listedKey = z.strictObject({
  id: uuid,
  prefix: z.string().length(9).describe('The first nine characters of the key.'),
  name: z.string().nullable(),
  createdAt: timestamp,
});

const workspaceKeyReply = listedKey.extend({ key: z.string(), workspaceId: uuid });

const ROTATE_REPLIES = {
  'key-record': listedKey.omit({ name: true }).extend({ key: z.string(), inboxId: uuid }),
  'key-only': z.strictObject({ key: z.string() }),
};

const DELETE_REPLIES = {
  'revoked-and-id': z.strictObject({ revoked: z.literal(true), id: uuid }),
  empty: emptyReply,
};

export const keyOperations = {
  rotateInboxKey: defineOperation({
    method: 'POST',
    path: '/v1/inboxes/{id}/keys',
    summary: 'Rotate the key of an inbox',
    origin: 'document',
    section: '4.4',
    tiers: (choose) => ROTATE_TIERS[choose('inboxes.rotate.tiers')],
    params: z.object({ id: pathId }),
    status: 201,
    reply: (choose) => ROTATE_REPLIES[choose('inboxes.rotate.reply')],
  }),
  createWorkspaceKey: defineOperation({
    method: 'POST',
    path: '/v1/workspaces/{id}/keys',
    summary: 'Create a key for a workspace',
    origin: 'reference',
    section: '4.4',
    tiers: workspaceKeyTiers,
    params: z.object({ id: pathId }),
    body: () => z.object({ name: name(200).nullish() }),
    status: 201,
    reply: (choose) => ({ 'key-record': workspaceKeyReply })[choose('workspaces.keys.create.reply')],
  }),
  listWorkspaceKeys: defineOperation({
    method: 'GET',
    path: '/v1/workspaces/{id}/keys',
    summary: 'List the keys of a workspace',
    origin: 'reference',
    section: '4.4',
    tiers: workspaceKeyTiers,
    params: z.object({ id: pathId }),
    status: 200,
    reply: (choose) => ({ keys: z.strictObject({ keys: z.array(listedKey) }) })[choose('workspaces.keys.list.reply')],
  }),
  deleteWorkspaceKey: defineOperation({
    method: 'DELETE',
    path: '/v1/workspaces/{id}/keys/{key_id}',
    summary: 'Delete a key of a workspace',
    origin: 'document',
    section: '4.4',
    tiers: workspaceKeyTiers,
    params: z.object({ id: pathId, key_id: pathId }),
    status: 200,
    reply: (choose) => DELETE_REPLIES[choose('workspaces.keys.delete.body')],
  }),
};
