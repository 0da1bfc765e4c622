import { z } from 'zod';
import type { ReadBehaviour } from '../behaviours.ts';
import { defineOperation, defineReplies } from '../operation.ts';
import { emptyReply, idInRequest, idParams, name, timestamp, uuid } from '../schemas.ts';
import { TIER_SETS } from '../tiers.ts';

const ofWorkspace = {
  section: '4.4',
  tiers: (readBehaviour: ReadBehaviour) => TIER_SETS[readBehaviour('workspaces.keys.tiers')],
} as const;

export const keyOperations = {
  rotateInboxKey: defineOperation('POST /v1/inboxes/{id}/keys', 'Rotate the key of an inbox', {
    origin: 'document',
    section: '4.4',
    tiers: (readBehaviour) => TIER_SETS[readBehaviour('inboxes.rotate.tiers')],
    params: idParams,
    status: 201,
    assumes: ['inboxes.rotate.status'],
  }),
  createWorkspaceKey: defineOperation('POST /v1/workspaces/{id}/keys', 'Create a key for a workspace', {
    origin: 'reference',
    ...ofWorkspace,
    params: idParams,
    body: () => z.object({ name: name(200).nullish() }),
    status: 201,
    assumes: ['workspaces.keys.create.reply'],
  }),
  listWorkspaceKeys: defineOperation('GET /v1/workspaces/{id}/keys', 'List the keys of a workspace', {
    origin: 'reference',
    ...ofWorkspace,
    params: idParams,
    assumes: ['workspaces.keys.list.reply'],
  }),
  deleteWorkspaceKey: defineOperation('DELETE /v1/workspaces/{id}/keys/{key_id}', 'Delete a key of a workspace', {
    origin: 'document',
    ...ofWorkspace,
    params: () => z.object({ id: idInRequest(), key_id: idInRequest() }),
  }),
};

/** A workspace key in a list, which never shows the key itself. */
const listedKey = () =>
  z
    .strictObject({
      id: uuid(),
      prefix: z.string().length(9).describe('The first nine characters of the key.'),
      name: z.string().nullable(),
      createdAt: timestamp(),
    })
    .meta({ id: 'WorkspaceKey' });

const workspaceKeyReply = () =>
  listedKey().extend({ key: z.string(), workspaceId: uuid() }).meta({ id: 'CreatedWorkspaceKey' });

const rotateReplies = () => ({
  'key-record': listedKey().omit({ name: true }).extend({ key: z.string(), inboxId: uuid() }).meta({ id: 'InboxKey' }),
  'key-only': z.strictObject({ key: z.string() }).meta({ id: 'InboxKey' }),
});

const deleteReplies = () => ({
  'revoked-and-id': z.strictObject({ revoked: z.literal(true), id: uuid() }),
  empty: emptyReply(),
});

/** The bodies of the successful replies of these operations. */
export const keyReplies = defineReplies({
  rotateInboxKey: (readBehaviour) => rotateReplies()[readBehaviour('inboxes.rotate.reply')],
  createWorkspaceKey: workspaceKeyReply,
  listWorkspaceKeys: () => z.strictObject({ keys: z.array(listedKey()) }),
  deleteWorkspaceKey: (readBehaviour) => deleteReplies()[readBehaviour('workspaces.keys.delete.body')],
});
