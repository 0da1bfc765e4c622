import { z } from 'zod';
import { chooseBy, defineOperation, defineOperations } from '../operation.ts';
import { emptyReply, name, object, timestamp, uuid } from '../schemas.ts';
import { TIER_SETS } from '../tiers.ts';

/** A workspace key in a list. A list never shows the text of a key. */
const listedKey = () =>
  object('WorkspaceKey', {
    id: uuid(),
    prefix: z.string().length(9).describe('The first nine characters of the key.'),
    name: z.string().nullable(),
    createdAt: timestamp(),
  });

/** A new workspace key, with its text. */
const createdKey = () =>
  listedKey().extend({ key: z.string(), workspaceId: uuid() }).meta({ id: 'CreatedWorkspaceKey' });

/** Creates the row of an operation on the keys of a workspace. */
const keyOperation = defineOperations({ section: '4.4', tiers: chooseBy('workspaces.keys.tiers', () => TIER_SETS) });

export const keyOperations = {
  rotateInboxKey: defineOperation('POST /v1/inboxes/{id}/keys', 'Rotate the key of an inbox', {
    origin: 'document',
    section: '4.4',
    tiers: chooseBy('inboxes.rotate.tiers', () => TIER_SETS),
    reply: chooseBy('inboxes.rotate.reply', () => {
      const added = { key: z.string(), inboxId: uuid() };
      return {
        'key-record': listedKey().omit({ name: true }).extend(added).meta({ id: 'InboxKey' }),
        'key-only': object('InboxKey', { key: z.string() }),
      };
    }),
    status: 201,
    assumes: ['inboxes.rotate.status', 'workspaces.keys.prefix'],
  }),
  createWorkspaceKey: keyOperation('POST /v1/workspaces/{id}/keys', 'Create a key for a workspace', {
    origin: 'reference',
    body: () => z.object({ name: name(200).nullish() }),
    reply: createdKey,
    status: 201,
    assumes: ['workspaces.keys.create.reply', 'workspaces.keys.prefix', 'requests.names'],
  }),
  listWorkspaceKeys: keyOperation('GET /v1/workspaces/{id}/keys', 'List the keys of a workspace', {
    origin: 'reference',
    reply: () => z.strictObject({ keys: z.array(listedKey()) }),
    assumes: ['workspaces.keys.list.reply', 'workspaces.keys.prefix'],
  }),
  deleteWorkspaceKey: keyOperation('DELETE /v1/workspaces/{id}/keys/{key_id}', 'Delete a key of a workspace', {
    origin: 'document',
    reply: chooseBy('workspaces.keys.delete.body', () => ({
      'revoked-and-id': z.strictObject({ revoked: z.literal(true), id: uuid() }),
      empty: emptyReply(),
      'revoked-and-new-key': z.strictObject({ revoked: z.literal(true), id: uuid(), newKey: createdKey() }),
    })),
  }),
};
