import { z } from 'zod';
import { defineReplies } from '../../operation.ts';
import { timestamp, uuid } from '../../schemas.ts';
import { emptyReply } from './common.ts';

/** A workspace key in a list, which never shows the key itself. */
const listedKey = () =>
  z.strictObject({
    id: uuid(),
    prefix: z.string().length(9).describe('The first nine characters of the key.'),
    name: z.string().nullable(),
    createdAt: timestamp(),
  });

const workspaceKeyReply = () => listedKey().extend({ key: z.string(), workspaceId: uuid() });

const rotateReplies = () => ({
  'key-record': listedKey().omit({ name: true }).extend({ key: z.string(), inboxId: uuid() }),
  'key-only': z.strictObject({ key: z.string() }),
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
