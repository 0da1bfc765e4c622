import { defineBehaviours } from '../behaviour.ts';

/** Threads. */
export const threadBehaviours = defineBehaviours({
  'threads.shape': {
    question: 'What is a thread?',
    section: '4.4',
    assumption: '{ threadId, messageCount, messages }, oldest first, deleted messages included',
    origin: 'reference',
  },
  'threads.list': {
    question: 'Is there a list of threads, and what is in it?',
    section: '4.4',
    assumption:
      '{ threads: [{ threadId, inboxId, subject, messageCount, unreadCount, lastMessageAt }], pagination }, in the order of their latest messages, or of their first where messages.list.order is oldest-first; those with nothing but deleted messages are left out',
    origin: 'assumed',
  },
  'threads.inbound': {
    question: 'To which thread does mail that comes in belong?',
    section: '4.4',
    assumption: 'that of the message in In-Reply-To, else of any in References, else a new one; within the inbox',
    origin: 'reference',
  },
  'threads.outbound': {
    question: 'To which thread does mail that goes out belong?',
    section: '4.4',
    assumption:
      'a plain send and a forward start one; a reply stays in that of its message, and names it and up to 19 before it in References',
    origin: 'reference',
  },
});
