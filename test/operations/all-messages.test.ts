import { describe, expect } from 'vitest';
import { everywhere, interceptRequests, type World } from '../support/everywhere.ts';
import { IDS } from '../support/ids.ts';

interceptRequests();

const { helpdesk, billing, outreach } = IDS.acme.inboxes;
const { cannotLogIn, linkSent, thanks, invoice, talk } = IDS.acme.messages;
const FOLDERS = ['inbox', 'sent', 'starred', 'archived', 'trash'] as const;

/** Message bodies and the expected snippets. */
const SNIPPETS: [title: string, mail: { text?: string; html?: string }, snippet: string][] = [
  ['a text is its beginning on one line', { text: ' Hi,\r\n\r\n\tsee\u00a0below. ' }, 'Hi, see below.'],
  ['a long text is its first 160 characters', { text: 'ab '.repeat(100) }, 'ab '.repeat(54).slice(0, 160).trim()],
  ['a long word is cut', { text: 'x'.repeat(5000) }, 'x'.repeat(160)],
  ['a text of emoji is not cut inside an emoji', { text: '😀'.repeat(200) }, '😀'.repeat(160)],
  ['a text with HTML is taken from the text', { text: 'Plain.', html: '<p>Rich.</p>' }, 'Plain.'],
  [
    'HTML is its text, without styles, scripts, comments and tags',
    {
      text: ' ',
      html: '<html><head><title>No</title><style>p { color: red }</style></head><!-- no --><p>1 &lt; 2 &amp;&#32;&#x1F600;&nbsp;<b>yes</b><script>no()</script>',
    },
    '1 < 2 & 😀 yes',
  ],
  ['HTML whose tags do not end is short', { html: `Hi<style>${'<style'.repeat(50_000)}` }, 'Hi'],
  ['a mail without text is empty', {}, ''],
];

const asTenant = ({ mailbox }: World) => ({ key: mailbox.keys.acme.tenant });
const list = (world: World, query = {}, key = world.mailbox.keys.acme.tenant) =>
  world.send('GET', '/v1/messages', { key, query });
const ids = async (world: World, query = {}, key?: string): Promise<string[]> =>
  (await list(world, query, key)).json.messages.map(({ id }: { id: string }) => id);
const count = async (world: World, query = {}, key = world.mailbox.keys.acme.tenant) =>
  (await world.send('GET', '/v1/messages/folders/counts', { key, query })).json;
const patch = (world: World, inbox: string, id: string, json: object) =>
  world.send('PATCH', `/v1/inboxes/${inbox}/messages/${id}`, { ...asTenant(world), json });

/** Stars, archives and deletes messages: one stays unread in the inbox, one is starred and archived, three are deleted. */
async function sortMail(world: World): Promise<void> {
  await patch(world, helpdesk, cannotLogIn, { isStarred: true, isRead: false });
  await patch(world, helpdesk, linkSent, { isArchived: true, isStarred: true });
  await patch(world, billing, invoice, { isArchived: true });
  await patch(world, outreach, talk, { isStarred: true });
  for (const [inbox, id] of [
    [helpdesk, thanks],
    [billing, invoice],
    [outreach, talk],
  ]) {
    await world.send('DELETE', `/v1/inboxes/${inbox}/messages/${id}`, asTenant(world));
  }
}

describe('all messages', () => {
  everywhere('the list has every message in reach that is not deleted, newest first', async (world) => {
    expect(await ids(world)).toEqual([talk, invoice, thanks, linkSent, cannotLogIn]);
    await world.send('DELETE', `/v1/inboxes/${billing}/messages/${invoice}`, asTenant(world));
    const { json } = await list(world);
    expect(json.pagination).toEqual({ total: 4, limit: 50, offset: 0 });
    expect(await ids(world)).toEqual([talk, thanks, linkSent, cannotLogIn]);
  });

  everywhere('a row has a summary of a message, its inbox and its thread', async (world) => {
    const { json } = await list(world, { limit: 1, offset: 2 });
    expect(json.messages).toEqual([
      {
        id: thanks,
        inboxId: helpdesk,
        inboxUsername: 'helpdesk',
        inboxDomain: 'acme.test',
        direction: 'inbound',
        from: 'Dana Reyes <dana@customer.test>',
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

  everywhere('a row counts its whole thread, but no deleted message as unread', async (world) => {
    const row = async () => (await list(world, { folder: 'inbox', inboxId: helpdesk })).json.messages.at(-1);
    expect(await row()).toMatchObject({ id: cannotLogIn, threadCount: 3, threadUnreadCount: 1 });
    await world.send('DELETE', `/v1/inboxes/${helpdesk}/messages/${thanks}`, asTenant(world));
    expect(await row()).toMatchObject({ id: cannotLogIn, threadCount: 3, threadUnreadCount: 0 });
  });

  for (const [title, mail, snippet] of SNIPPETS) {
    everywhere(`the snippet of ${title}`, async (world) => {
      await world.mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'dana@customer.test', ...mail });
      expect((await list(world, { limit: 1 })).json.messages[0].snippet).toBe(snippet);
    });
  }

  everywhere('each folder has its messages', async (world) => {
    await sortMail(world);
    const found = await Promise.all(FOLDERS.map(async (folder) => [folder, await ids(world, { folder })]));
    expect(Object.fromEntries(found)).toEqual({
      inbox: [cannotLogIn],
      sent: [],
      starred: [linkSent, cannotLogIn],
      archived: [linkSent],
      trash: [talk, invoice, thanks],
    });
  });

  everywhere('the counts agree with the totals of the folders, for every key and every inbox', async (world) => {
    await sortMail(world);
    const { tenant, workspaces, inboxes } = world.mailbox.keys.acme;
    const views: [key: string, query: object][] = [
      [tenant, {}],
      [workspaces.support, {}],
      [workspaces.sales, {}],
      [inboxes.helpdesk, {}],
      ...[helpdesk, billing, outreach].map((inboxId): [string, object] => [tenant, { inboxId }]),
    ];
    for (const [key, query] of views) {
      const totals = FOLDERS.map(
        async (folder) => (await list(world, { ...query, folder }, key)).json.pagination.total,
      );
      const { inbox, ...counts } = await count(world, query, key);
      expect([inbox.total, ...FOLDERS.slice(1).map((folder) => counts[folder].total)]).toEqual(
        await Promise.all(totals),
      );
      const { messages } = (await list(world, { ...query, folder: 'inbox' }, key)).json;
      expect(inbox.unread).toBe(messages.filter(({ isRead }: { isRead: boolean }) => !isRead).length);
    }
    expect(await count(world)).toEqual({
      inbox: { unread: 1, total: 1 },
      sent: { total: 0 },
      starred: { total: 2 },
      archived: { total: 1 },
      trash: { total: 3 },
    });
  });

  everywhere('reading a message lowers the unread count', async (world) => {
    expect((await count(world)).inbox).toEqual({ unread: 2, total: 3 });
    await world.send('GET', `/v1/inboxes/${helpdesk}/messages/${thanks}`, asTenant(world));
    expect((await count(world)).inbox).toEqual({ unread: 1, total: 3 });
    await patch(world, helpdesk, thanks, { isRead: false });
    expect((await count(world)).inbox).toEqual({ unread: 2, total: 3 });
  });

  everywhere('listing messages does not mark them read', async (world) => {
    await list(world);
    expect((await count(world)).inbox.unread).toBe(2);
  });

  everywhere('group=thread has the latest message of each thread and the number of its messages', async (world) => {
    const rows = async (query = {}) =>
      (await list(world, { group: 'thread', ...query })).json.messages.map(
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
    expect((await list(world, { group: 'thread' })).json.pagination.total).toBe(3);
    const thread = `/v1/inboxes/${helpdesk}/threads/${IDS.acme.threads.login}`;
    expect((await world.send('GET', thread, asTenant(world))).json.messageCount).toBe(3);
  });

  everywhere(
    'under messages.all.shape=messages a row is a complete message, with a messageCount for a thread',
    { behaviours: { 'messages.all.shape': 'messages' } },
    async (world) => {
      const { json } = await list(world, { inboxId: helpdesk });
      const own = await world.send('GET', `/v1/inboxes/${helpdesk}/messages`, asTenant(world));
      expect(json.messages).toEqual(own.json.messages);
      const grouped = await list(world, { inboxId: helpdesk, group: 'thread' });
      expect(grouped.json.messages).toEqual([{ ...own.json.messages[0], messageCount: 3 }]);
    },
  );

  everywhere('all pages together are the whole list', async (world) => {
    const whole = (await list(world)).json.messages;
    for (const limit of [1, 2, 3, 5, 200]) {
      const pages = [];
      for (let offset = 0; offset < 6; offset += limit) {
        const { json } = await list(world, { limit, offset });
        expect(json.pagination).toEqual({ total: 5, limit, offset });
        pages.push(...json.messages);
      }
      expect(pages).toEqual(whole);
    }
    expect((await list(world, { offset: 5 })).json.messages).toEqual([]);
    expect((await list(world, { offset: 1_000_000_000 })).json.pagination.total).toBe(5);
  });

  everywhere('threads and folders are paginated too', async (world) => {
    expect(await ids(world, { group: 'thread', limit: 1, offset: 1 })).toEqual([invoice]);
    expect(await ids(world, { folder: 'inbox', limit: 2, offset: 1 })).toEqual([thanks, cannotLogIn]);
  });

  everywhere('inboxId narrows the list to one inbox in reach, and finds no other', async (world) => {
    const { tenant, workspaces, inboxes } = world.mailbox.keys.acme;
    expect(await ids(world, { inboxId: billing.toUpperCase() })).toEqual([invoice]);
    const refused: [key: string, inboxId: string][] = [
      [tenant, IDS.globex.inboxes.info],
      [tenant, IDS.nobody],
      [workspaces.support, outreach],
      [inboxes.helpdesk, billing],
    ];
    for (const [key, inboxId] of refused) {
      for (const path of ['/v1/messages', '/v1/messages/folders/counts']) {
        const { status, json } = await world.send('GET', path, { key, query: { inboxId } });
        expect([status, json.error]).toEqual([404, 'There is no inbox with this id.']);
      }
    }
    expect(await ids(world, { inboxId: helpdesk }, inboxes.helpdesk)).toEqual([thanks, linkSent, cannotLogIn]);
    expect(await ids(world, { inboxId: billing }, workspaces.support)).toEqual([invoice]);
  });

  everywhere('mail between two inboxes of the tenant is in the list of both', async (world) => {
    const json = { to: 'outreach@acme.test', subject: 'To a colleague', verified: true };
    await world.send('POST', `/v1/inboxes/${helpdesk}/send`, { ...asTenant(world), json });
    const rows = (await list(world, { limit: 2 })).json.messages;
    expect(rows.map(({ inboxId, direction }: Record<string, string>) => [inboxId, direction])).toEqual([
      [outreach, 'inbound'],
      [helpdesk, 'outbound'],
    ]);
    expect(await count(world)).toMatchObject({ inbox: { unread: 3, total: 4 }, sent: { total: 3 } });
    expect((await list(world, { group: 'thread' })).json.pagination.total).toBe(5);
  });

  everywhere('a tenant without messages has empty lists and counts of 0', async (world) => {
    const { json } = await world.send('POST', '/v1/tenants', {
      key: world.mailbox.keys.operator,
      json: { name: 'New' },
    });
    expect((await list(world, {}, json.apiKey)).json).toEqual({
      messages: [],
      pagination: { total: 0, limit: 50, offset: 0 },
    });
    expect(await count(world, {}, json.apiKey)).toEqual({
      inbox: { unread: 0, total: 0 },
      sent: { total: 0 },
      starred: { total: 0 },
      archived: { total: 0 },
      trash: { total: 0 },
    });
  });
});
