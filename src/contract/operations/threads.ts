import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { pageQuery, pagination } from '../query.ts';
import { pathId, timestamp, uuid } from '../schemas.ts';
import { INBOX_TIERS, messageReply } from './messages.ts';

const listedThread = z.strictObject({
  threadId: uuid,
  inboxId: uuid,
  subject: z.string().describe('The subject of its first message.'),
  messageCount: z.int(),
  unreadCount: z.int(),
  lastMessageAt: timestamp,
});

const LISTS = { listed: z.strictObject({ threads: z.array(listedThread), pagination }) };

export const threadOperations = {
  listThreads: defineOperation({
    method: 'GET',
    path: '/v1/inboxes/{id}/threads',
    summary: 'List the threads of an inbox',
    origin: 'assumed',
    section: '5',
    tiers: () => INBOX_TIERS,
    params: z.object({ id: pathId }),
    query: pageQuery,
    status: 200,
    reply: (choose) => LISTS[choose('threads.list')],
  }),
  getThread: defineOperation({
    method: 'GET',
    path: '/v1/inboxes/{id}/threads/{threadId}',
    summary: 'Read a thread with its whole history',
    origin: 'reference',
    section: '5',
    tiers: () => INBOX_TIERS,
    params: z.object({ id: pathId, threadId: pathId }),
    status: 200,
    reply: (choose) =>
      ({
        reference: z.strictObject({
          threadId: uuid,
          messageCount: z.int(),
          messages: z.array(messageReply(choose)),
        }),
      })[choose('threads.shape')],
  }),
};
