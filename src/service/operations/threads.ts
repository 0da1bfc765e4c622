import type { Thread } from '../../world/store/indexes/message-index.ts';
import { findInScope, outOfScope, scopeOfInbox, withId } from '../access/find-in-scope.ts';
import type { Run } from './context.ts';
import { limitBodies, paginate, showMessage } from './replies.ts';

export const listThreads: Run<'listThreads'> = (context, { params, query }) => {
  const { world, readBehaviour } = context;
  const inbox = findInScope(context, 'inboxes', params.id);
  const byLast = world.messageIndex.threads(inbox.id, 'last');
  const isOrdered = byLast.length > 1 && query.offset < byLast.length;
  const threads = isOrdered
    ? world.messageIndex.threads(inbox.id, ORDERING_MESSAGE[readBehaviour('messages.list.order')])
    : byLast;
  const { rows, pagination } = paginate(threads, query, readBehaviour);
  return { body: { threads: rows.map(summarise), pagination } };
};

/** Which message of a thread decides the place of the thread in the list. */
const ORDERING_MESSAGE = { 'oldest-first': 'first', 'newest-first': 'last' } as const;

function summarise({ first, last, messageCount, unreadCount }: Thread) {
  const { threadId, inboxId, subject } = first;
  return { threadId, inboxId, subject, messageCount, unreadCount, lastMessageAt: last.receivedAt };
}

/** Returns a thread with all its messages, including deleted ones. */
export const getThread: Run<'getThread'> = (context, { params: { id, threadId } }) => {
  const { world, readBehaviour } = context;
  const inbox = findInScope(context, 'inboxes', id);
  const thread = world.messageIndex.thread(inbox.id, threadId);
  if (!thread) {
    throw outOfScope(context, withId('thread'), (anyWorld) =>
      scopeOfInbox(anyWorld, anyWorld.messageIndex.inboxOfThread(threadId)),
    );
  }
  const messages = limitBodies(thread.messages(), context).map((row) => showMessage(world, row, readBehaviour));
  return { body: { threadId, messageCount: messages.length, messages } };
};
