import { findInScope, outOfScope, withId } from '../access/find-in-scope.ts';
import type { ReadBehaviour } from '../contract/behaviours.ts';
import type { MessageRow } from '../store/rows.ts';
import type { World } from '../store/world.ts';
import type { Run } from './context.ts';
import { limitBodies } from './replies/limit-bodies.ts';
import { paginate } from './replies/paginate.ts';
import { showMessage } from './replies/show-message.ts';

export const listThreads: Run<'listThreads'> = (context, { params, query }) => {
  const { principal, readBehaviour } = context;
  const inbox = findInScope(context, 'inboxes', params.id);
  const threads = groupByThread(principal.world.messages.by('inboxId', inbox.id), readBehaviour);
  const { rows, pagination } = paginate(threads, query, readBehaviour);
  return { body: { threads: rows.map(summarise), pagination } };
};

type Thread = [MessageRow, ...MessageRow[]];

/**
 * Groups messages by thread and omits threads that have only deleted messages. Threads are ordered by first message, or
 * by latest message under `messages.list.order=newest-first`.
 */
function groupByThread(messages: readonly MessageRow[], readBehaviour: ReadBehaviour): Thread[] {
  const threads = new Map<string, Thread>();
  for (const message of messages) {
    const thread = threads.get(message.threadId);
    thread?.push(message);
    if (readBehaviour('messages.list.order') === 'newest-first') threads.delete(message.threadId);
    if (!threads.has(message.threadId)) threads.set(message.threadId, thread ?? [message]);
  }
  return [...threads.values()].filter((thread) => thread.some(({ deletedAt }) => deletedAt === null));
}

function summarise(thread: Thread) {
  const [{ threadId, inboxId, subject, receivedAt }] = thread;
  return {
    threadId,
    inboxId,
    subject,
    messageCount: thread.length,
    unreadCount: thread.filter(({ isRead, deletedAt }) => !isRead && deletedAt === null).length,
    lastMessageAt: thread.at(-1)?.receivedAt ?? receivedAt,
  };
}

/** Returns a thread with all its messages, including deleted ones. */
export const getThread: Run<'getThread'> = (context, { params }) => {
  const { principal, readBehaviour, assume } = context;
  const inbox = findInScope(context, 'inboxes', params.id);
  const rows = principal.world.messages.by('threadId', params.threadId).filter(({ inboxId }) => inboxId === inbox.id);
  if (rows.length === 0) throw outOfScope(context, withId('thread'), (world) => hasThread(world, params.threadId));
  const messages = limitBodies(rows, assume).map((row) => showMessage(principal.world, row, readBehaviour));
  return { body: { threadId: params.threadId, messageCount: messages.length, messages } };
};

function hasThread(world: World, threadId: string): boolean {
  return world.messages.by('threadId', threadId).length > 0;
}
