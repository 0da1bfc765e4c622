import { z } from 'zod';
import { defineOperation, defineReplies, withinInbox, withinInboxByReference } from '../operation.ts';
import { pageQuery, pagination } from '../query.ts';
import { idInRequest, idParams, timestamp, uuid } from '../schemas.ts';
import { messageReply } from './messages.ts';

export const threadOperations = {
  listThreads: defineOperation('GET /v1/inboxes/{id}/threads', 'List the threads of an inbox', {
    ...withinInbox,
    params: idParams,
    query: pageQuery,
    assumes: ['threads.list', 'messages.list.pagination'],
  }),
  getThread: defineOperation('GET /v1/inboxes/{id}/threads/{threadId}', 'Read a thread with all its messages', {
    ...withinInboxByReference,
    params: () => z.object({ id: idInRequest(), threadId: idInRequest() }),
    assumes: ['threads.shape'],
  }),
};

const listedThread = () =>
  z
    .strictObject({
      threadId: uuid(),
      inboxId: uuid(),
      subject: z.string().describe('The subject of the first message.'),
      messageCount: z.int(),
      unreadCount: z.int(),
      lastMessageAt: timestamp(),
    })
    .meta({ id: 'ThreadSummary' });

/** The bodies of the successful replies of these operations. */
export const threadReplies = defineReplies({
  listThreads: () => z.strictObject({ threads: z.array(listedThread()), pagination: pagination() }),
  getThread: (readBehaviour) =>
    z
      .strictObject({ threadId: uuid(), messageCount: z.int(), messages: z.array(messageReply(readBehaviour)) })
      .meta({ id: 'Thread' }),
});
