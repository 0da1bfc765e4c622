import { describe, expect } from 'vitest';
import { everywhere, interceptRequests, type Service } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';

interceptRequests();

const { helpdesk, billing, outreach } = IDS.acme.inboxes;
const { cannotLogIn, linkSent, thanks, invoice, talk } = IDS.acme.messages;
const FOLDERS = ['inbox', 'sent', 'starred', 'archived', 'trash'] as const;

/** Message bodies and the expected snippets. */
const SNIPPETS: [title: string, mail: { plainBody?: string; htmlBody?: string }, snippet: string][] = [
  ['a text is its beginning on one line', { plainBody: ' Hi,\r\n\r\n\tsee\u00a0below. ' }, 'Hi, see below.'],
  ['a long text is its first 160 characters', { plainBody: 'ab '.repeat(100) }, 'ab '.repeat(54).slice(0, 160).trim()],
  ['a long word is cut', { plainBody: 'x'.repeat(5000) }, 'x'.repeat(160)],
  ['a text of emoji is not cut inside an emoji', { plainBody: '😀'.repeat(200) }, '😀'.repeat(160)],
  ['a text with HTML is taken from the text', { plainBody: 'Plain.', htmlBody: '<p>Rich.</p>' }, 'Plain.'],
  [
    'HTML is its text, without styles, scripts, comments and tags',
    {
      plainBody: ' ',
      htmlBody:
        '<html><head><title>No</title><style>p { color: red }</style></head><!-- no --><p>1 &lt; 2 &amp;&#32;&#x1F600;&nbsp;<b>yes</b><script>no()</script>',
    },
    '1 < 2 & 😀 yes',
  ],
  ['HTML whose tags do not end is short', { htmlBody: `Hi<style>${'<style'.repeat(50_000)}` }, 'Hi'],
  ['a mail without text is empty', {}, ''],
];

const asTenant = ({ mailbox }: Service) => ({ key: mailbox.keys.acme.tenant });
const list = (service: Service, query = {}, key = service.mailbox.keys.acme.tenant) =>
  service.send('GET', '/v1/messages', { key, query });
const ids = async (service: Service, query = {}, key?: string): Promise<string[]> =>
  (await list(service, query, key)).json.messages.map(({ id }: { id: string }) => id);
const count = async (service: Service, query = {}, key = service.mailbox.keys.acme.tenant) =>
  (await service.send('GET', '/v1/messages/folders/counts', { key, query })).json;
const patch = (service: Service, inbox: string, id: string, json: object) =>
  service.send('PATCH', `/v1/inboxes/${inbox}/messages/${id}`, { ...asTenant(service), json });

/** Stars, archives and deletes messages: one stays unread in the inbox, one is starred and archived, three are deleted. */
async function sortMail(service: Service): Promise<void> {
  await patch(service, helpdesk, cannotLogIn, { isStarred: true, isRead: false });
  await patch(service, helpdesk, linkSent, { isArchived: true, isStarred: true });
  await patch(service, billing, invoice, { isArchived: true });
  await patch(service, outreach, talk, { isStarred: true });
  for (const [inbox, id] of [
    [helpdesk, thanks],
    [billing, invoice],
    [outreach, talk],
  ]) {
    await service.send('DELETE', `/v1/inboxes/${inbox}/messages/${id}`, asTenant(service));
  }
}

describe('all messages', () => {
  everywhere('the list has every message in scope that is not deleted, newest first', async (service) => {
    expect(await ids(service)).toEqual([talk, invoice, thanks, linkSent, cannotLogIn]);
    await service.send('DELETE', `/v1/inboxes/${billing}/messages/${invoice}`, asTenant(service));
    const { json } = await list(service);
    expect(json.pagination).toEqual({ total: 4, limit: 50, offset: 0 });
    expect(await ids(service)).toEqual([talk, thanks, linkSent, cannotLogIn]);
  });

  everywhere('a row has a summary of a message, its inbox and its thread', async (service) => {
    const { json } = await list(service, { limit: 1, offset: 2 });
    expect(json.messages).toEqual([
      {
        id: thanks,
        inboxId: helpdesk,
        inboxUsername: 'helpdesk',
        inboxDomain: 'acme.test',
        direction: 'inbound',
        from: 'dana@customer.test',
        to: 'helpdesk@acme.test',
        subject: 'Re: Cannot log in',
        snippet: 'That worked, thank you!',
        isRead: false,
        isStarred: false,
        isArchived: false,
        receivedAt: '2026-01-06T09:02:17.000Z',
        threadId: IDS.acme.threads.login,
        threadCount: 3,
        threadUnreadCount: 1,
      },
    ]);
  });

  everywhere('a row counts its whole thread, but no deleted message as unread', async (service) => {
    const row = async () => (await list(service, { folder: 'inbox', inboxId: helpdesk })).json.messages.at(-1);
    expect(await row()).toMatchObject({ id: cannotLogIn, threadCount: 3, threadUnreadCount: 1 });
    await service.send('DELETE', `/v1/inboxes/${helpdesk}/messages/${thanks}`, asTenant(service));
    expect(await row()).toMatchObject({ id: cannotLogIn, threadCount: 3, threadUnreadCount: 0 });
  });

  for (const [title, mail, snippet] of SNIPPETS) {
    everywhere(`the snippet of ${title}`, async (service) => {
      await service.mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'dana@customer.test', ...mail });
      expect((await list(service, { limit: 1 })).json.messages[0].snippet).toBe(snippet);
    });
  }

  everywhere('each folder has its messages', async (service) => {
    await sortMail(service);
    const found = await Promise.all(FOLDERS.map(async (folder) => [folder, await ids(service, { folder })]));
    expect(Object.fromEntries(found)).toEqual({
      inbox: [cannotLogIn],
      sent: [],
      starred: [linkSent, cannotLogIn],
      archived: [linkSent],
      trash: [talk, invoice, thanks],
    });
  });

  everywhere('the counts agree with the totals of the folders, for every key and every inbox', async (service) => {
    await sortMail(service);
    const { tenant, workspaces, inboxes } = service.mailbox.keys.acme;
    const views: [key: string, query: object][] = [
      [tenant, {}],
      [workspaces.support, {}],
      [workspaces.sales, {}],
      [inboxes.helpdesk, {}],
      ...[helpdesk, billing, outreach].map((inboxId): [string, object] => [tenant, { inboxId }]),
    ];
    for (const [key, query] of views) {
      const totals = FOLDERS.map(
        async (folder) => (await list(service, { ...query, folder }, key)).json.pagination.total,
      );
      const { inbox, ...counts } = await count(service, query, key);
      expect([inbox.total, ...FOLDERS.slice(1).map((folder) => counts[folder].total)]).toEqual(
        await Promise.all(totals),
      );
      const { messages } = (await list(service, { ...query, folder: 'inbox' }, key)).json;
      expect(inbox.unread).toBe(messages.filter(({ isRead }: { isRead: boolean }) => !isRead).length);
    }
    expect(await count(service)).toEqual({
      inbox: { unread: 1, total: 1 },
      sent: { total: 0 },
      starred: { total: 2 },
      archived: { total: 1 },
      trash: { total: 3 },
    });
  });

  everywhere('reading a message lowers the unread count', async (service) => {
    expect((await count(service)).inbox).toEqual({ unread: 2, total: 3 });
    await service.send('GET', `/v1/inboxes/${helpdesk}/messages/${thanks}`, asTenant(service));
    expect((await count(service)).inbox).toEqual({ unread: 1, total: 3 });
    await patch(service, helpdesk, thanks, { isRead: false });
    expect((await count(service)).inbox).toEqual({ unread: 2, total: 3 });
  });

  everywhere('listing messages does not mark them read', async (service) => {
    await list(service);
    expect((await count(service)).inbox.unread).toBe(2);
  });

  everywhere('group=thread has the latest message of each thread and the number of its messages', async (service) => {
    const rows = async (query = {}) =>
      (await list(service, { group: 'thread', ...query })).json.messages.map(
        ({ id, threadCount }: { id: string; threadCount: number }) => [id, threadCount],
      );
    expect(await rows()).toEqual([
      [talk, 1],
      [invoice, 1],
      [thanks, 3],
    ]);
    expect(await rows({ folder: 'sent' })).toEqual([
      [talk, 1],
      [linkSent, 3],
    ]);
    expect(await rows({ inboxId: billing })).toEqual([[invoice, 1]]);
    expect((await list(service, { group: 'thread' })).json.pagination.total).toBe(3);
    const thread = `/v1/inboxes/${helpdesk}/threads/${IDS.acme.threads.login}`;
    expect((await service.send('GET', thread, asTenant(service))).json.messageCount).toBe(3);
  });

  everywhere(
    'under messages.all.shape=messages a row is a complete message, with a messageCount for a thread',
    { behaviours: { 'messages.all.shape': 'messages' } },
    async (service) => {
      const { json } = await list(service, { inboxId: helpdesk });
      const own = await service.send('GET', `/v1/inboxes/${helpdesk}/messages`, asTenant(service));
      expect(json.messages).toEqual(own.json.messages);
      const grouped = await list(service, { inboxId: helpdesk, group: 'thread' });
      expect(grouped.json.messages).toEqual([{ ...own.json.messages[0], messageCount: 3 }]);
    },
  );

  everywhere('all pages together are the whole list', async (service) => {
    const whole = (await list(service)).json.messages;
    for (const limit of [1, 2, 3, 5, 200]) {
      const pages = [];
      for (let offset = 0; offset < 6; offset += limit) {
        const { json } = await list(service, { limit, offset });
        expect(json.pagination).toEqual({ total: 5, limit, offset });
        pages.push(...json.messages);
      }
      expect(pages).toEqual(whole);
    }
    expect((await list(service, { offset: 5 })).json.messages).toEqual([]);
    expect((await list(service, { offset: 1_000_000_000 })).json.pagination.total).toBe(5);
  });

  everywhere('threads and folders are paginated too', async (service) => {
    expect(await ids(service, { group: 'thread', limit: 1, offset: 1 })).toEqual([invoice]);
    expect(await ids(service, { folder: 'inbox', limit: 2, offset: 1 })).toEqual([thanks, cannotLogIn]);
  });

  everywhere('inboxId narrows the list to one inbox in scope, and finds no other', async (service) => {
    const { tenant, workspaces, inboxes } = service.mailbox.keys.acme;
    expect(await ids(service, { inboxId: billing.toUpperCase() })).toEqual([invoice]);
    const refused: [key: string, inboxId: string][] = [
      [tenant, IDS.globex.inboxes.info],
      [tenant, IDS.nobody],
      [workspaces.support, outreach],
      [inboxes.helpdesk, billing],
    ];
    for (const [key, inboxId] of refused) {
      for (const path of ['/v1/messages', '/v1/messages/folders/counts']) {
        const { status, json } = await service.send('GET', path, { key, query: { inboxId } });
        expect([status, json.error]).toEqual([404, 'There is no inbox with this id.']);
      }
    }
    expect(await ids(service, { inboxId: helpdesk }, inboxes.helpdesk)).toEqual([thanks, linkSent, cannotLogIn]);
    expect(await ids(service, { inboxId: billing }, workspaces.support)).toEqual([invoice]);
  });

  everywhere('mail between two inboxes of the tenant is in the list of both', async (service) => {
    const json = { to: 'outreach@acme.test', subject: 'To a colleague', verified: true };
    await service.send('POST', `/v1/inboxes/${helpdesk}/send`, { ...asTenant(service), json });
    const rows = (await list(service, { limit: 2 })).json.messages;
    expect(rows.map(({ inboxId, direction }: Record<string, string>) => [inboxId, direction])).toEqual([
      [outreach, 'inbound'],
      [helpdesk, 'outbound'],
    ]);
    expect(await count(service)).toMatchObject({ inbox: { unread: 3, total: 4 }, sent: { total: 3 } });
    expect((await list(service, { group: 'thread' })).json.pagination.total).toBe(5);
  });

  everywhere('a tenant without messages has empty lists and counts of 0', async (service) => {
    const { json } = await service.send('POST', '/v1/tenants', {
      key: service.mailbox.keys.operator,
      json: { name: 'New' },
    });
    expect((await list(service, {}, json.apiKey)).json).toEqual({
      messages: [],
      pagination: { total: 0, limit: 50, offset: 0 },
    });
    expect(await count(service, {}, json.apiKey)).toEqual({
      inbox: { unread: 0, total: 0 },
      sent: { total: 0 },
      starred: { total: 0 },
      archived: { total: 0 },
      trash: { total: 0 },
    });
  });
});
