import fc from 'fast-check';
import { describe, test } from 'vitest';
import { IN_FOLDER } from '../../../../src/contract/mail-folders.ts';
import { createDatabase, type Database } from '../../../../src/world/store/database.ts';
import {
  type GroupedListName,
  MESSAGE_LISTS,
  MESSAGE_TIMES,
  type MessageListName,
  type MessageTime,
} from '../../../../src/world/store/indexes/message-index.ts';
import type { MessageRow } from '../../../../src/world/store/rows.ts';

const INBOX_IDS = ['one', 'two', 'three'];
const THREAD_IDS = ['a', 'b', 'c'];
const TIMES = [1, 2, 3, 4].map((day) => `2026-01-0${day}T09:00:00.000Z`);

const time = fc.constantFrom(...TIMES);
const marks = {
  isRead: fc.boolean(),
  isStarred: fc.boolean(),
  isArchived: fc.boolean(),
  deletedAt: fc.option(time),
  bouncedAt: fc.option(time),
};
const message = fc.record({
  ...marks,
  inboxId: fc.constantFrom(...INBOX_IDS),
  threadId: fc.constantFrom(...THREAD_IDS),
  direction: fc.constantFrom('inbound' as const, 'outbound' as const),
  receivedAt: time,
});
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ insert: message }) },
  { weight: 3, arbitrary: fc.record({ at: fc.nat(), update: fc.record(marks, { requiredKeys: [] }) }) },
  { weight: 1, arbitrary: fc.record({ remove: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ keep: fc.boolean() }) },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;
const steps = fc.array(step, { maxLength: 80, size: 'max' });
const page = fc.tuple(fc.nat({ max: 30 }), fc.nat({ max: 30 })).map(([from, length]) => [from, from + length] as const);

describe('after any changes of the messages', () => {
  test('each list has the same page as a scan of all messages', ({ expect }) => {
    const inboxes = fc.subarray(INBOX_IDS);
    const list = fc.constantFrom(...(Object.keys(MESSAGE_LISTS) as MessageListName[]));
    const isSame = fc.property(steps, inboxes, list, page, (changes, inboxIds, name, [from, to]) => {
      const { messages, messageIndex } = perform(changes);
      const expected = messages.all().filter((row) => inboxIds.includes(row.inboxId) && MESSAGE_LISTS[name](row));
      const found = messageIndex.list(inboxIds, name);
      expect(found.slice(from, to)).toEqual(expected.slice(from, to));
      expect(found.length).toBe(expected.length);
    });
    fc.assert(isSame, { numRuns: 100 });
  });

  test('each list grouped by thread has the same page as a scan of all messages', ({ expect }) => {
    const inboxes = fc.subarray(INBOX_IDS);
    const list = fc.constantFrom(...(Object.keys(IN_FOLDER) as GroupedListName[]));
    const isSame = fc.property(steps, inboxes, list, page, (changes, inboxIds, name, [from, to]) => {
      const { messages, messageIndex } = perform(changes);
      const inList = messages.all().filter((row) => inboxIds.includes(row.inboxId) && IN_FOLDER[name](row));
      const expected = inList.filter((row) => inList.findLast((other) => isInThreadOf(row, other)) === row);
      const found = messageIndex.latestOfThreads(inboxIds, name);
      expect(found.slice(from, to)).toEqual(expected.slice(from, to));
      expect(found.length).toBe(expected.length);
    });
    fc.assert(isSame, { numRuns: 100 });
  });

  test('the threads of an inbox are the same as those that a scan finds, in both orders', ({ expect }) => {
    const isSame = fc.property(steps, fc.constantFrom(...INBOX_IDS), page, (changes, inboxId, [from, to]) => {
      const { messages, messageIndex } = perform(changes);
      const groups = THREAD_IDS.map((threadId) =>
        messages.all().filter((row) => row.inboxId === inboxId && row.threadId === threadId),
      ).filter((rows) => rows.some(({ deletedAt }) => deletedAt === null));
      for (const [order, end] of [
        ['first', 0],
        ['last', -1],
      ] as const) {
        const places = groups.map((rows) => ({ rows, place: messages.all().indexOf(rows.at(end) as MessageRow) }));
        const expected = places.toSorted((one, other) => one.place - other.place).map(({ rows }) => rows);
        const found = messageIndex.threads(inboxId, order);
        expect(found.length).toBe(expected.length);
        expect(found.slice(from, to).map((thread) => thread.messages())).toEqual(expected.slice(from, to));
      }
      for (const [{ threadId } = { threadId: '' }, ...rest] of groups) {
        const thread = messageIndex.thread(inboxId, threadId);
        const unread = thread?.messages().filter(({ isRead, deletedAt }) => !isRead && deletedAt === null);
        expect(thread).toMatchObject({ messageCount: rest.length + 1, unreadCount: unread?.length });
        expect(messageIndex.inboxOfThread(threadId)).toBeDefined();
      }
    });
    fc.assert(isSame, { numRuns: 100 });
  });

  test('each count of times is that of a scan of all messages', ({ expect }) => {
    const name = fc.constantFrom(...(Object.keys(MESSAGE_TIMES) as MessageTime[]));
    const span = fc
      .tuple(time, time)
      .map(([one, other]) => (one < other ? { from: one, to: other } : { from: other, to: one }));
    const isSame = fc.property(steps, fc.subarray(INBOX_IDS), name, span, (changes, inboxIds, kind, { from, to }) => {
      const { messages, messageIndex } = perform(changes);
      const times = messages
        .all()
        .flatMap((row) => (inboxIds.includes(row.inboxId) ? (MESSAGE_TIMES[kind](row) ?? []) : []));
      const expected = times.filter((each) => each >= from && each <= to).length;
      expect(messageIndex.countTimes(inboxIds, kind, { from, to })).toBe(expected);
    });
    fc.assert(isSame, { numRuns: 100 });
  });
});

test('a thread without messages is not found', ({ expect }) => {
  const { messages, messageIndex } = createDatabase();
  insert(messages, { inboxId: 'one', threadId: 'a' });
  for (const { id } of messages.all()) messages.remove(id);
  expect(messageIndex.thread('one', 'a')).toBeUndefined();
  expect(messageIndex.inboxOfThread('a')).toBeUndefined();
  expect(messageIndex.threads('one', 'first').length).toBe(0);
});

function isInThreadOf(one: MessageRow, other: MessageRow): boolean {
  return one.inboxId === other.inboxId && one.threadId === other.threadId;
}

/** Performs the steps on a new database; a place in the list of messages counts from its start again behind its end. */
function perform(changes: readonly Step[]): Database {
  const database = createDatabase();
  const { messages } = database;
  const idAt = (place: number) => messages.all()[place % Math.max(messages.all().length, 1)]?.id ?? '';
  let kept = messages.all();
  for (const change of changes) {
    if ('insert' in change) insert(messages, change.insert);
    if ('update' in change && messages.get(idAt(change.at))) messages.update(idAt(change.at), change.update);
    if ('remove' in change) messages.remove(idAt(change.remove));
    if ('keep' in change && change.keep) kept = messages.all();
    if ('keep' in change && !change.keep) messages.restore(kept);
  }
  return database;
}

function insert(messages: Database['messages'], fields: Partial<MessageRow>): void {
  messages.insert({
    id: crypto.randomUUID(),
    inboxId: 'one',
    threadId: 'a',
    direction: 'inbound',
    from: 'dana@customer.test',
    fromAddress: 'dana@customer.test',
    to: ['helpdesk@acme.test'],
    cc: [],
    bcc: [],
    replyTo: null,
    subject: 'A question',
    plainBody: 'How does it work?',
    htmlBody: null,
    isRead: false,
    isStarred: false,
    isArchived: false,
    deletedAt: null,
    bouncedAt: null,
    messageIdHeader: '<1@customer.test>',
    inReplyTo: null,
    references: [],
    headers: null,
    raw: null,
    receivedAt: '2026-01-01T09:00:00.000Z',
    ...fields,
  });
}
