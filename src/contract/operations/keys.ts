import { z } from 'zod';
import type { ReadBehaviour } from '../behaviours.ts';
import { defineOperation } from '../operation.ts';
import { emptyReply } from '../replies.ts';
import { idInRequest, idParams, name, timestamp, uuid } from '../schemas.ts';
import { TIER_SETS } from '../tiers.ts';

const workspaceKeyTiers = (readBehaviour: ReadBehaviour) => TIER_SETS[readBehaviour('workspaces.keys.tiers')];

/** A workspace key in a list, which never shows the key itself. */
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
    tiers: (readBehaviour) => TIER_SETS[readBehaviour('inboxes.rotate.tiers')],
    params: idParams,
    status: 201,
    reply: (readBehaviour) => ROTATE_REPLIES[readBehaviour('inboxes.rotate.reply')],
  }),
  createWorkspaceKey: defineOperation({
    method: 'POST',
    path: '/v1/workspaces/{id}/keys',
    summary: 'Create a key for a workspace',
    origin: 'reference',
    section: '4.4',
    tiers: workspaceKeyTiers,
    params: idParams,
    body: () => z.object({ name: name(200).nullish() }),
    status: 201,
    assumes: ['workspaces.keys.create.reply'],
    reply: () => workspaceKeyReply,
  }),
  listWorkspaceKeys: defineOperation({
    method: 'GET',
    path: '/v1/workspaces/{id}/keys',
    summary: 'List the keys of a workspace',
    origin: 'reference',
    section: '4.4',
    tiers: workspaceKeyTiers,
    params: idParams,
    status: 200,
    assumes: ['workspaces.keys.list.reply'],
    reply: () => z.strictObject({ keys: z.array(listedKey) }),
  }),
  deleteWorkspaceKey: defineOperation({
    method: 'DELETE',
    path: '/v1/workspaces/{id}/keys/{key_id}',
    summary: 'Delete a key of a workspace',
    origin: 'document',
    section: '4.4',
    tiers: workspaceKeyTiers,
    params: z.object({ id: idInRequest, key_id: idInRequest }),
    status: 200,
    reply: (readBehaviour) => DELETE_REPLIES[readBehaviour('workspaces.keys.delete.body')],
  }),
};
