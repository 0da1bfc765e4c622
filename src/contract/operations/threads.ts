import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { pageQuery } from '../query.ts';
import { idInRequest, idParams } from '../schemas.ts';
import { withinInbox } from './within-inbox.ts';

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
  }),
};
