import { z } from 'zod';
import { defineReplies } from '../../operation.ts';
import { pagination } from '../../query.ts';
import { timestamp, uuid } from '../../schemas.ts';
import { messageReply } from './messages.ts';

const listedThread = () =>
  z.strictObject({
    threadId: uuid(),
    inboxId: uuid(),
    subject: z.string().describe('The subject of the first message.'),
    messageCount: z.int(),
    unreadCount: z.int(),
    lastMessageAt: timestamp(),
  });

/** The bodies of the successful replies of these operations. */
export const threadReplies = defineReplies({
  listThreads: () => z.strictObject({ threads: z.array(listedThread()), pagination: pagination() }),
  getThread: (readBehaviour) =>
    z.strictObject({ threadId: uuid(), messageCount: z.int(), messages: z.array(messageReply(readBehaviour)) }),
});
