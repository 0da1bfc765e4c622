import { describe, expect, test } from 'vitest';
import { findThread } from '../../../src/service/mail/incoming/accept-message.ts';
import { createEnvironment } from '../../../src/world/environment.ts';
import type { MessageRow } from '../../../src/world/store/rows.ts';
import { createWorld, Shared } from '../../../src/world/store/world.ts';
import { everywhere, interceptRequests } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';
import { ADDRESS, openInboxClients } from '../../support/inbox-clients.ts';

interceptRequests();

const { messages: MESSAGES, threads: THREADS } = IDS.acme;

const LOGIN = {
  threadId: THREADS.login,
  inboxId: IDS.acme.inboxes.helpdesk,
  subject: 'Cannot log in',
  messageCount: 3,
  unreadCount: 1,
  lastMessageAt: '2026-01-06T09:02:17.000Z',
};

const TENANT = { id: 'acme', name: 'Acme', createdAt: '2026-01-05T09:00:00.000Z' };

/** Creates a message of a thread, with a Message-ID made from its name. */
const messageIn = (threadId: string, messageIdHeader = `<${threadId}>`): MessageRow => ({
  id: threadId,
  inboxId: 'inbox',
  threadId,
  direction: 'inbound',
  from: 'dana@customer.test',
  fromAddress: 'dana@customer.test',
  to: [],
  cc: [],
  bcc: [],
  replyTo: null,
  subject: '',
  plainBody: '',
  htmlBody: null,
  isRead: false,
  isStarred: false,
  isArchived: false,
  deletedAt: null,
  bouncedAt: null,
  messageIdHeader,
  inReplyTo: null,
  references: [],
  headers: null,
  raw: null,
  receivedAt: '2026-01-06T08:12:03.000Z',
});

describe('threads', () => {
  test('include replies of the same inbox by In-Reply-To, or else by the latest of References', ({ expect }) => {
    const world = createWorld(TENANT, new Shared(), createEnvironment());
    for (const threadId of ['one', 'two', 'three']) world.messages.insert(messageIn(threadId));
    world.messages.insert({ ...messageIn('elsewhere'), inboxId: 'other' });
    const threadOf = (inReplyTo: string | null, ...references: string[]) =>
      findThread(world, 'inbox', { inReplyTo, references });
    expect(threadOf('<one>', '<two>', '<three>')).toBe('one');
    expect(threadOf('<unknown>', '<two>', '<three>', '<unknown>')).toBe('three');
    expect(threadOf(null, '<two>', '<elsewhere>')).toBe('two');
    expect(threadOf('<elsewhere>')).toBe(undefined);
    expect(threadOf(null)).toBe(undefined);
  });

  everywhere('show all their messages, oldest first', async (world) => {
    const { helpdesk } = openInboxClients(world);
    const { status, json } = await helpdesk.call('GET', `/threads/${THREADS.login}`);
    expect(status).toBe(200);
    expect(Object.keys(json)).toEqual(['threadId', 'messageCount', 'messages']);
    expect([json.threadId, json.messageCount]).toEqual([THREADS.login, 3]);
    expect(json.messages).toEqual(await helpdesk.list());
  });

  everywhere('stay unread when they are shown', async (world) => {
    const { helpdesk } = openInboxClients(world);
    await helpdesk.call('GET', `/threads/${THREADS.login}`);
    expect((await helpdesk.call('GET', '/threads')).json.threads).toEqual([LOGIN]);
  });

  everywhere('are listed with a summary of their messages', async (world) => {
    const { helpdesk } = openInboxClients(world);
    const sent = await helpdesk.mail(ADDRESS.dana, { subject: 'Another' });
    const { status, json } = await helpdesk.call('GET', '/threads');
    expect([status, json]).toEqual([
      200,
      {
        threads: [
          {
            threadId: sent.threadId,
            inboxId: helpdesk.id,
            subject: 'Another',
            messageCount: 1,
            unreadCount: 0,
            lastMessageAt: (await helpdesk.list()).at(-1).receivedAt,
          },
          LOGIN,
        ],
        pagination: { total: 2, limit: 50, offset: 0 },
      },
    ]);
  });

  everywhere('keep their subject and update their counts as they grow', async (world) => {
    const { helpdesk } = openInboxClients(world);
    await helpdesk.call('GET', `/messages/${MESSAGES.thanks}`);
    await helpdesk.call('POST', `/reply/${MESSAGES.thanks}`, { plainBody: 'Bye!' });
    const [thread] = (await helpdesk.call('GET', '/threads')).json.threads;
    const lastMessageAt = (await helpdesk.list()).at(-1).receivedAt;
    expect(thread).toEqual({ ...LOGIN, messageCount: 4, unreadCount: 0, lastMessageAt });
  });

  everywhere('move to the top of the list when a message is added at their end', async (world) => {
    const { helpdesk } = openInboxClients(world);
    await helpdesk.mail(ADDRESS.dana, { subject: 'Another' });
    const { id } = (await helpdesk.call('POST', `/reply/${MESSAGES.thanks}`, { plainBody: 'Bye!' })).json;
    const { threads } = (await helpdesk.call('GET', '/threads')).json;
    expect(threads.map(({ subject }: { subject: string }) => subject)).toEqual(['Cannot log in', 'Another']);
    const thread = await helpdesk.call('GET', `/threads/${THREADS.login}`);
    expect(thread.json.messages.at(-1).id).toBe(id);
  });

  everywhere('are paginated', async (world) => {
    const { helpdesk } = openInboxClients(world);
    const subjects = ['One', 'Two', 'Three'];
    for (const subject of subjects) await helpdesk.mail(ADDRESS.dana, { subject });
    const { json } = await helpdesk.call('GET', '/threads?limit=2&offset=1');
    expect(json.threads.map(({ subject }: { subject: string }) => subject)).toEqual(['Two', 'One']);
    expect(json.pagination).toEqual({ total: 4, limit: 2, offset: 1 });
  });

  everywhere('are not listed when all their messages are deleted, but are still found by id', async (world) => {
    const { helpdesk } = openInboxClients(world);
    const list = async () => (await helpdesk.call('GET', '/threads')).json;
    await helpdesk.call('DELETE', `/messages/${MESSAGES.thanks}`);
    expect((await list()).threads).toEqual([{ ...LOGIN, unreadCount: 0 }]);
    await helpdesk.call('DELETE', `/messages/${MESSAGES.cannotLogIn}`);
    await helpdesk.call('DELETE', `/messages/${MESSAGES.linkSent}`);
    expect(await list()).toEqual({ threads: [], pagination: { total: 0, limit: 50, offset: 0 } });
    expect((await helpdesk.call('GET', `/threads/${THREADS.login}`)).json.messageCount).toBe(3);
  });

  everywhere('are found in their own inbox only', async (world) => {
    const { helpdesk, billing } = openInboxClients(world);
    for (const [inboxClient, id] of [
      [billing, THREADS.login],
      [helpdesk, IDS.globex.threads.hours],
      [helpdesk, IDS.nobody],
    ] as const) {
      const { status, json } = await inboxClient.call('GET', `/threads/${id}`);
      expect([status, json.error]).toEqual([404, 'There is no thread with this id.']);
    }
    const { status } = await helpdesk.call('GET', `/threads/${THREADS.login.toUpperCase()}`);
    expect(status).toBe(200);
  });
});
