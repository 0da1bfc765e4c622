import type { Thread } from '../../world/store/indexes/message-index.ts';
import type { World } from '../../world/store/world.ts';
import { findInScope, outOfScope, scopeOfInbox, withId } from '../pipeline/access/find-in-scope.ts';
import type { RowScope } from '../pipeline/access/principal.ts';
import type { Run } from './context.ts';
import { limitBodies, showMessage } from './replies/show-message.ts';
import { paginate } from './replies/show-page.ts';

export const listThreads: Run<'listThreads'> = (context, { params, query }) => {
  const { principal, readBehaviour } = context;
  const inbox = findInScope(context, 'inboxes', params.id);
  const threads = principal.world.messageIndex.threads(inbox.id, THREAD_ORDERS[readBehaviour('messages.list.order')]);
  const { rows, pagination } = paginate(threads, query, readBehaviour);
  return { body: { threads: rows.map(summarise), pagination } };
};

/** By which of its messages a thread has its place in the list. */
const THREAD_ORDERS = { 'oldest-first': 'first', 'newest-first': 'last' } as const;

function summarise({ first, last, messageCount, unreadCount }: Thread) {
  const { threadId, inboxId, subject } = first;
  return { threadId, inboxId, subject, messageCount, unreadCount, lastMessageAt: last.receivedAt };
}

/** Returns a thread with all its messages, including deleted ones. */
export const getThread: Run<'getThread'> = (context, { params }) => {
  const { principal, readBehaviour, assume } = context;
  const inbox = findInScope(context, 'inboxes', params.id);
  const thread = principal.world.messageIndex.thread(inbox.id, params.threadId);
  if (!thread) throw outOfScope(context, withId('thread'), (world) => scopeOfThread(world, params.threadId));
  const messages = limitBodies(thread.messages(), assume).map((row) =>
    showMessage(principal.world, row, readBehaviour),
  );
  return { body: { threadId: params.threadId, messageCount: messages.length, messages } };
};

function scopeOfThread(world: World, threadId: string): RowScope | undefined {
  return scopeOfInbox(world, world.messageIndex.inboxOfThread(threadId));
}
