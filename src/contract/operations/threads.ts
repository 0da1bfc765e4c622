import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { pageQuery } from '../query.ts';
import { idInRequest, idParams } from '../schemas.ts';
import { withinInbox, withinInboxByReference } from './within-inbox.ts';

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
