import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { pageQuery, pagination } from '../query.ts';
import { idInRequest, idParams, timestamp, uuid } from '../schemas.ts';
import { messageReply } from './messages.ts';
import { withinInbox } from './within-inbox.ts';

const listedThread = z.strictObject({
  threadId: uuid,
  inboxId: uuid,
  subject: z.string().describe('The subject of the first message.'),
  messageCount: z.int(),
  unreadCount: z.int(),
  lastMessageAt: timestamp,
});

export const threadOperations = {
  listThreads: defineOperation({
    ...withinInbox,
    method: 'GET',
    path: '/v1/inboxes/{id}/threads',
    summary: 'List the threads of an inbox',
    origin: 'assumed',
    params: idParams,
    query: pageQuery,
    status: 200,
    assumes: ['threads.list', 'messages.list.pagination'],
    reply: () => z.strictObject({ threads: z.array(listedThread), pagination }),
  }),
  getThread: defineOperation({
    ...withinInbox,
    method: 'GET',
    path: '/v1/inboxes/{id}/threads/{threadId}',
    summary: 'Read a thread with all its messages',
    origin: 'reference',
    params: z.object({ id: idInRequest, threadId: idInRequest }),
    status: 200,
    assumes: ['threads.shape'],
    reply: (readBehaviour) =>
      z.strictObject({ threadId: uuid, messageCount: z.int(), messages: z.array(messageReply(readBehaviour)) }),
  }),
};
