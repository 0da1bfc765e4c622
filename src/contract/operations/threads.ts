import { z } from 'zod';
import { inInbox, inInboxByReference } from '../operation.ts';
import { pageQuery, pagination } from '../query.ts';
import { each, named, timestamp, uuid } from '../schemas.ts';
import { messageReply } from './messages.ts';

const listedThread = () =>
  named('ThreadSummary', {
    ...each(uuid, 'threadId', 'inboxId'),
    subject: z.string().describe('The subject of the first message.'),
    ...each(z.int, 'messageCount', 'unreadCount'),
    lastMessageAt: timestamp(),
  });

export const threadOperations = {
  listThreads: inInbox('GET /v1/inboxes/{id}/threads', 'List the threads of an inbox', {
    query: pageQuery,
    reply: () => z.strictObject({ threads: z.array(listedThread()), pagination: pagination() }),
    assumes: ['threads.list', 'messages.list.pagination'],
  }),
  getThread: inInboxByReference('GET /v1/inboxes/{id}/threads/{threadId}', 'Read a thread with all its messages', {
    reply: (readBehaviour) => {
      const messages = z.array(messageReply(readBehaviour));
      return named('Thread', { threadId: uuid(), messageCount: z.int(), messages });
    },
    assumes: ['threads.shape'],
  }),
};
