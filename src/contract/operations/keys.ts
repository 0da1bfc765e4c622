import { z } from 'zod';
import { chooseBy, defineOperation, defineOperations } from '../operation.ts';
import { emptyReply, name, object, timestamp, uuid } from '../schemas.ts';

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
const keyOperation = defineOperations({ section: '4.4', tiers: 'workspaces.keys.tiers' });

export const keyOperations = {
  rotateInboxKey: defineOperation('POST /v1/inboxes/{id}/keys', 'Rotate the key of an inbox', {
    origin: 'document',
    section: '4.4',
    tiers: 'inboxes.rotate.tiers',
    reply: chooseBy('inboxes.rotate.reply', () => {
      const added = { key: z.string(), inboxId: uuid() };
      return {
        'key-record': listedKey().omit({ name: true }).extend(added).meta({ id: 'InboxKey' }),
        'key-only': object('InboxKey', { key: z.string() }),
      };
    }),
    status: 201,
  }),
  createWorkspaceKey: keyOperation('POST /v1/workspaces/{id}/keys', 'Create a key for a workspace', {
    origin: 'reference',
    body: () => z.object({ name: name(200).nullish() }),
    reply: createdKey,
    status: 201,
  }),
  listWorkspaceKeys: keyOperation('GET /v1/workspaces/{id}/keys', 'List the keys of a workspace', {
    origin: 'reference',
    reply: () => z.strictObject({ keys: z.array(listedKey()) }),
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
