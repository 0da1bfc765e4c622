import { z } from 'zod';
import { inInbox, inInboxFromReference } from '../operation.ts';
import { pageQuery, pagination } from '../query.ts';
import { fieldsOf, object, timestamp, uuid } from '../schemas.ts';
import { messageReply } from './messages.ts';

const listedThread = () =>
  object('ThreadSummary', {
    ...fieldsOf(uuid, 'threadId', 'inboxId'),
    subject: z.string().describe('The subject of the first message.'),
    ...fieldsOf(z.int, 'messageCount', 'unreadCount'),
    lastMessageAt: timestamp(),
  });

export const threadOperations = {
  listThreads: inInbox('GET /v1/inboxes/{id}/threads', 'List the threads of an inbox', {
    query: pageQuery,
    reply: () => z.strictObject({ threads: z.array(listedThread()), pagination: pagination() }),
  }),
  getThread: inInboxFromReference('GET /v1/inboxes/{id}/threads/{threadId}', 'Read a thread with all its messages', {
    reply: (readBehaviour) => {
      const messages = z.array(messageReply(readBehaviour));
      return object('Thread', { threadId: uuid(), messageCount: z.int(), messages });
    },
  }),
};
