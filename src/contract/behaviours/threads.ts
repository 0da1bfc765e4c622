import { assumed, byReference, defineBehaviours, EVERY_SEND } from '../behaviour.ts';

/** Behaviours of threads. */
export const threadBehaviours = defineBehaviours(
  { section: '4.4', observableWith: 'key' },
  {
    'threads.shape': byReference(
      'What does reading a thread return?',
      '{ threadId, messageCount, messages }; messages are oldest first and include deleted messages',
      { operations: ['getThread'] },
    ),
    'threads.list': assumed(
      'Is there a list of threads, and what does it contain?',
      '{ threads: [{ threadId, inboxId, subject, messageCount, unreadCount, lastMessageAt }], pagination }, ordered ' +
        'by the latest message of each thread, or by the first message if messages.list.order is oldest-first; ' +
        'threads with only deleted messages are omitted',
      { operations: ['listThreads'] },
    ),
    'threads.inbound': byReference(
      'Which thread does an inbound message belong to?',
      'the thread of the message in In-Reply-To; without such a message, of a message in References; otherwise a new ' +
        'thread; only messages of the same inbox count',
    ),
    'threads.outbound': byReference(
      'Which thread does an outbound message belong to?',
      'a plain send and a forward start a new thread; a reply stays in the thread of the message that it answers, ' +
        'and names that message and up to 19 earlier messages in References',
      { operations: EVERY_SEND },
    ),
  },
);
