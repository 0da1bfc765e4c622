import { createMailbox } from 'agent-mailbox-mock';
import { describe, expect, test } from 'vitest';
import { everywhere, interceptRequests, type Reply, type Service } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';
import { ADDRESS, openInboxClients } from '../../support/inbox-clients.ts';
import { createReply } from '../../support/send.ts';

interceptRequests();

const { messages: MESSAGES, threads: THREADS, attachments: ATTACHMENTS } = IDS.acme;

const idsOf = (rows: { id: string }[]) => rows.map(({ id }) => id);

const counts = async ({ send, mailbox }: Service) =>
  (await send('GET', '/v1/messages/folders/counts', { key: mailbox.keys.acme.inboxes.helpdesk })).json;

/** Requests the attachments of the only message of a mailbox. */
async function fetchFiles(attachments: object[]): Promise<Reply[]> {
  const mailbox = createMailbox({
    fixtures: {
      tenants: {
        acme: {
          workspaces: { main: { inboxes: { desk: { messages: [{ from: 'dana@customer.test', attachments }] } } } },
        },
      },
    },
  });
  const [tenant] = mailbox.snapshot().tenants;
  const headers = { 'X-API-Key': mailbox.keys.acme.tenant };
  const of = `/v1/inboxes/${tenant?.inboxes[0]?.id}/messages/${tenant?.messages[0]?.id}/attachments`;
  const get = async (path: string) => {
    const response = await mailbox.fetch(new Request(mailbox.baseUrl + path, { headers }));
    return createReply(response.status, response.headers, new Uint8Array(await response.arrayBuffer()));
  };
  const { attachments: files } = (await get(of)).json;
  return Promise.all(files.map(({ id }: { id: string }) => get(`${of}/${id}`)));
}

/** File names and the expected Content-Disposition headers. */
const FILE_NAMES: [filename: string, disposition: string][] = [
  ['notes.txt', 'attachment; filename="notes.txt"'],
  ['two words.txt', 'attachment; filename="two words.txt"'],
  ["it's; a=b.txt", `attachment; filename="it's; a=b.txt"`],
  ['a"b.txt', `attachment; filename="a_b.txt"; filename*=UTF-8''a%22b.txt`],
  ['a\\b.txt', `attachment; filename="a_b.txt"; filename*=UTF-8''a%5Cb.txt`],
  ['100%é.txt', `attachment; filename="100%_.txt"; filename*=UTF-8''100%25%C3%A9.txt`],
  ["l'été (1).txt", `attachment; filename="l'_t_ (1).txt"; filename*=UTF-8''l%27%C3%A9t%C3%A9%20%281%29.txt`],
  ['報告.pdf', `attachment; filename="__.pdf"; filename*=UTF-8''%E5%A0%B1%E5%91%8A.pdf`],
  ['😀.png', `attachment; filename="__.png"; filename*=UTF-8''%F0%9F%98%80.png`],
];

describe('messages', () => {
  everywhere('are listed newest first with the pagination', async (service) => {
    const { helpdesk } = openInboxClients(service);
    const { json } = await helpdesk.call('GET', '/messages');
    expect(idsOf(json.messages)).toEqual([MESSAGES.thanks, MESSAGES.linkSent, MESSAGES.cannotLogIn]);
    expect(json.pagination).toEqual({ total: 3, limit: 50, offset: 0 });
  });

  everywhere('are listed by order of arrival, newest first, even after the clock was set back', async (service) => {
    const { helpdesk } = openInboxClients(service);
    service.mailbox.clock.freeze('2020-01-01T00:00:00.000Z');
    const { id } = await helpdesk.mail(ADDRESS.dana);
    const { json } = await helpdesk.call('GET', '/messages?limit=2');
    expect(idsOf(json.messages)).toEqual([id, MESSAGES.thanks]);
  });

  test('of a fixture are listed by their times, whatever their order in the file', async ({ expect }) => {
    const message = (day: number) => ({
      from: 'dana@customer.test',
      subject: `Day ${day}`,
      receivedAt: `2026-01-0${day}T09:00:00.000Z`,
    });
    const mailbox = createMailbox({
      fixtures: {
        tenants: { acme: { workspaces: { main: { inboxes: { desk: { messages: [2, 9, 1, 5].map(message) } } } } } },
      },
    });
    const headers = { 'X-API-Key': mailbox.keys.acme.tenant };
    const reply = await mailbox.fetch(new Request(`${mailbox.baseUrl}/v1/messages`, { headers }));
    const { messages } = (await reply.json()) as { messages: { subject: string }[] };
    expect(messages.map(({ subject }) => subject)).toEqual(['Day 9', 'Day 5', 'Day 2', 'Day 1']);
  });

  everywhere('have every field that the contract names, with its value', async (service) => {
    const { helpdesk } = openInboxClients(service);
    const { json } = await helpdesk.call('GET', `/messages/${MESSAGES.cannotLogIn}`);
    expect(json).toEqual({
      id: MESSAGES.cannotLogIn,
      direction: 'inbound',
      from: 'dana@customer.test',
      to: 'helpdesk@acme.test',
      subject: 'Cannot log in',
      plainBody: 'Since this morning the login page says that my password has expired.',
      htmlBody: null,
      isRead: true,
      threadId: THREADS.login,
      messageIdHeader: '<login-1@customer.test>',
      inReplyTo: null,
      receivedAt: '2026-01-06T08:12:03.000Z',
      attachments: [
        { id: ATTACHMENTS.loginError, filename: 'login-error.txt', contentType: 'text/plain', sizeBytes: 132 },
      ],
      inboxId: IDS.acme.inboxes.helpdesk,
      cc: [],
      bcc: [],
      isStarred: false,
      isArchived: false,
    });
  });

  everywhere('are listed by direction, with the total of that direction', async (service) => {
    const { helpdesk } = openInboxClients(service);
    const inbound = await helpdesk.call('GET', '/messages?direction=inbound');
    const outbound = await helpdesk.call('GET', '/messages?direction=outbound');
    expect(idsOf(inbound.json.messages)).toEqual([MESSAGES.thanks, MESSAGES.cannotLogIn]);
    expect(inbound.json.pagination.total).toBe(2);
    expect(idsOf(outbound.json.messages)).toEqual([MESSAGES.linkSent]);
    expect(outbound.json.pagination.total).toBe(1);
  });

  everywhere('refuse an unknown direction, in one sentence', async (service) => {
    const { status, json } = await openInboxClients(service).helpdesk.call('GET', '/messages?direction=sideways');
    expect([status, json]).toEqual([
      400,
      { error: 'The query is not valid: direction must be inbound or outbound.', code: 'VALIDATION_ERROR' },
    ]);
  });

  everywhere('that arrive are on the first page, and shift the others', async (service) => {
    const { helpdesk, info } = openInboxClients(service);
    const sent = await info.mail(helpdesk.address);
    const page = async (offset: number) => (await helpdesk.call('GET', `/messages?limit=2&offset=${offset}`)).json;
    const [first, second] = [await page(0), await page(2)];
    expect(first.messages[0].messageIdHeader).toBe(sent.messageId);
    expect(idsOf([first.messages[1], ...second.messages])).toEqual([
      MESSAGES.thanks,
      MESSAGES.linkSent,
      MESSAGES.cannotLogIn,
    ]);
    expect(second.pagination).toEqual({ total: 4, limit: 2, offset: 2 });
  });

  everywhere(
    'stay on their page when more arrive, under messages.list.order=oldest-first',
    { behaviours: { 'messages.list.order': 'oldest-first' } },
    async (service) => {
      const { helpdesk, info } = openInboxClients(service);
      const first = await helpdesk.call('GET', '/messages?limit=2&offset=0');
      const sent = await info.mail(helpdesk.address);
      const second = await helpdesk.call('GET', '/messages?limit=2&offset=2');
      const again = await helpdesk.call('GET', '/messages?limit=2&offset=0');
      expect(again.json.messages).toEqual(first.json.messages);
      expect(second.json.messages.map((row: { messageIdHeader: string }) => row.messageIdHeader)).toEqual([
        '<login-3@customer.test>',
        sent.messageId,
      ]);
      expect(second.json.pagination).toEqual({ total: 4, limit: 2, offset: 2 });
    },
  );

  everywhere('return an empty page after the last one', async (service) => {
    const { json } = await openInboxClients(service).helpdesk.call('GET', '/messages?offset=3');
    expect(json).toEqual({ messages: [], pagination: { total: 3, limit: 50, offset: 3 } });
  });

  everywhere('are marked as read when read, in lists and counts too', async (service) => {
    const { helpdesk } = openInboxClients(service);
    const isRead = async () => (await helpdesk.list()).find(({ id }) => id === MESSAGES.thanks).isRead;
    expect([await isRead(), (await counts(service)).inbox]).toEqual([false, { unread: 1, total: 2 }]);
    expect((await helpdesk.call('GET', `/messages/${MESSAGES.thanks}`)).json.isRead).toBe(true);
    expect([await isRead(), (await counts(service)).inbox]).toEqual([true, { unread: 0, total: 2 }]);
  });

  everywhere('stay unread when only listed, read raw, or by their attachments', async (service) => {
    const { billing } = openInboxClients(service);
    for (const path of ['', `/${MESSAGES.invoice}/raw`, `/${MESSAGES.invoice}/attachments`]) {
      expect((await billing.call('GET', `/messages${path}`)).status).toBe(200);
    }
    expect((await billing.list())[0].isRead).toBe(false);
  });

  everywhere('are changed field by field, and back', async (service) => {
    const { helpdesk } = openInboxClients(service);
    const path = `/messages/${MESSAGES.cannotLogIn}`;
    const flags = async () => {
      const { isRead, isStarred, isArchived } = (await helpdesk.list())[0];
      return [isRead, isStarred, isArchived];
    };
    const { status, json } = await helpdesk.call('PATCH', path, { isStarred: true });
    expect([status, json]).toEqual([200, { updated: true, id: MESSAGES.cannotLogIn }]);
    expect(await flags()).toEqual([true, true, false]);
    await helpdesk.call('PATCH', path, { isRead: false, isArchived: true });
    expect(await flags()).toEqual([false, true, true]);
    expect(await counts(service)).toEqual({
      inbox: { unread: 1, total: 1 },
      sent: { total: 1 },
      starred: { total: 1 },
      archived: { total: 1 },
      trash: { total: 0 },
    });
    await helpdesk.call('PATCH', path, { isRead: true, isStarred: false, isArchived: false });
    expect(await flags()).toEqual([true, false, false]);
    expect((await helpdesk.call('PATCH', path, {})).status).toBe(200);
    expect(await flags()).toEqual([true, false, false]);
  });

  everywhere('refuse a mark that is not a boolean', async (service) => {
    const { status, json } = await openInboxClients(service).helpdesk.call('PATCH', `/messages/${MESSAGES.thanks}`, {
      isRead: 'yes',
    });
    expect([status, json.error]).toEqual([400, 'The body is not valid: isRead must be true or false.']);
  });

  everywhere('are removed from lists, totals and counts when deleted, and return 404 by id', async (service) => {
    const { helpdesk } = openInboxClients(service);
    const path = `/messages/${MESSAGES.thanks}`;
    const deleted = await helpdesk.call('DELETE', path);
    expect([deleted.status, deleted.json]).toEqual([200, { deleted: true, id: MESSAGES.thanks }]);
    const { json } = await helpdesk.call('GET', '/messages');
    expect(idsOf(json.messages)).toEqual([MESSAGES.linkSent, MESSAGES.cannotLogIn]);
    expect(json.pagination.total).toBe(2);
    expect(await counts(service)).toEqual({
      inbox: { unread: 0, total: 1 },
      sent: { total: 1 },
      starred: { total: 0 },
      archived: { total: 0 },
      trash: { total: 1 },
    });
    for (const at of [path, `${path}/raw`, `${path}/attachments`]) {
      const reply = await helpdesk.call('GET', at);
      expect([at, reply.status, reply.json.error]).toEqual([at, 404, 'There is no message with this id.']);
    }
  });

  everywhere('can be changed in the trash, and stay there', async (service) => {
    const { helpdesk } = openInboxClients(service);
    const path = `/messages/${MESSAGES.thanks}`;
    await helpdesk.call('DELETE', path);
    const { status, json } = await helpdesk.call('PATCH', path, { isRead: true, isStarred: true });
    expect([status, json]).toEqual([200, { updated: true, id: MESSAGES.thanks }]);
    const trash = await service.send('GET', '/v1/messages?folder=trash', { key: helpdesk.key });
    expect(trash.json.messages).toMatchObject([{ id: MESSAGES.thanks, isRead: true, isStarred: true }]);
    expect((await counts(service)).starred).toEqual({ total: 0 });
    expect((await helpdesk.call('GET', path)).status).toBe(404);
  });

  everywhere('can be answered and forwarded in the trash, and stay there', async (service) => {
    const { helpdesk } = openInboxClients(service);
    await helpdesk.call('DELETE', `/messages/${MESSAGES.thanks}`);
    for (const [path, body] of [
      [`/reply/${MESSAGES.thanks}`, { plainBody: 'Good.' }],
      [`/reply-all/${MESSAGES.thanks}`, { plainBody: 'Good.' }],
      [`/forward/${MESSAGES.thanks}`, { to: 'a@b.test' }],
    ] as const) {
      const { status, json } = await helpdesk.call('POST', path, body);
      const sent = (await helpdesk.call('GET', `/messages/${json.id}`)).json;
      expect([path, status, sent.threadId === THREADS.login]).toEqual([path, 200, !path.startsWith('/forward')]);
    }
    const draft = await helpdesk.call('POST', '/drafts', { replyToMessageId: MESSAGES.thanks });
    expect((await helpdesk.call('POST', `/drafts/${draft.json.id}/send`)).json.threadId).toBe(THREADS.login);
    expect((await helpdesk.call('GET', `/threads/${THREADS.login}`)).json.messageCount).toBe(6);
    expect(await counts(service)).toMatchObject({ inbox: { total: 1 }, sent: { total: 5 }, trash: { total: 1 } });
  });

  everywhere(
    'are removed for good when deleted in the trash, also from thread, drafts and metrics',
    async (service) => {
      const { helpdesk } = openInboxClients(service);
      const path = `/messages/${MESSAGES.cannotLogIn}`;
      const received = async () =>
        (await service.send('GET', '/v1/metrics', { key: helpdesk.key, query: { from: '2026-01-01' } })).json.counts
          .received;
      const draft = await helpdesk.call('POST', '/drafts', { replyToMessageId: MESSAGES.cannotLogIn });
      await helpdesk.call('DELETE', path);
      expect(await received()).toBe(2);
      const { status, json } = await helpdesk.call('DELETE', path);
      expect([status, json]).toEqual([200, { deleted: true, id: MESSAGES.cannotLogIn }]);
      expect(await received()).toBe(1);
      expect((await helpdesk.call('GET', `/drafts/${draft.json.id}`)).json.replyToMessageId).toBe(null);
      const thread = (await helpdesk.call('GET', `/threads/${THREADS.login}`)).json;
      expect([thread.messageCount, idsOf(thread.messages)]).toEqual([2, [MESSAGES.linkSent, MESSAGES.thanks]]);
      expect((await helpdesk.call('GET', '/threads')).json.threads).toMatchObject([
        { threadId: THREADS.login, subject: 'Re: Cannot log in', messageCount: 2, unreadCount: 1 },
      ]);
      expect(idsOf(await helpdesk.list())).toEqual([MESSAGES.linkSent, MESSAGES.thanks]);
      const trash = await service.send('GET', '/v1/messages?folder=trash', { key: helpdesk.key });
      expect(trash.json).toMatchObject({ messages: [], pagination: { total: 0 } });
      expect(await counts(service)).toMatchObject({ inbox: { unread: 1, total: 1 }, trash: { total: 0 } });
      const state = service.mailbox.snapshot().tenants[0];
      expect(state?.attachments.filter(({ messageId }) => messageId === MESSAGES.cannotLogIn)).toEqual([]);
      for (const [method, at, body] of [
        ['DELETE', path],
        ['PATCH', path, { isRead: true }],
        ['POST', `/reply/${MESSAGES.cannotLogIn}`, {}],
      ] as const) {
        expect((await helpdesk.call(method, at, body)).status).toBe(404);
      }
    },
  );

  everywhere('that are the last of their thread take it with them when removed for good', async (service) => {
    const { billing } = openInboxClients(service);
    const thread = `/threads/${THREADS.invoice}`;
    await billing.call('DELETE', `/messages/${MESSAGES.invoice}`);
    expect((await billing.call('GET', thread)).status).toBe(200);
    await billing.call('DELETE', `/messages/${MESSAGES.invoice}`);
    expect((await billing.call('GET', thread)).status).toBe(404);
    expect(createMailbox({ fixtures: service.mailbox.export() }).snapshot().tenants[0]?.messages).toHaveLength(4);
  });

  everywhere('stay in their thread and in the trash when deleted', async (service) => {
    const { helpdesk } = openInboxClients(service);
    await helpdesk.call('DELETE', `/messages/${MESSAGES.linkSent}`);
    const thread = await helpdesk.call('GET', `/threads/${THREADS.login}`);
    expect(idsOf(thread.json.messages)).toEqual([MESSAGES.cannotLogIn, MESSAGES.linkSent, MESSAGES.thanks]);
    expect(thread.json.messageCount).toBe(3);
    const trash = await service.send('GET', '/v1/messages?folder=trash', { key: helpdesk.key });
    expect(idsOf(trash.json.messages)).toEqual([MESSAGES.linkSent]);
  });

  everywhere('are found in their own inbox only', async (service) => {
    const { helpdesk, billing } = openInboxClients(service);
    for (const path of ['', '/raw', '/attachments', `/attachments/${ATTACHMENTS.order}`]) {
      expect((await helpdesk.call('GET', `/messages/${MESSAGES.invoice}${path}`)).status).toBe(404);
    }
    expect((await billing.call('GET', `/messages/${MESSAGES.invoice}`)).status).toBe(200);
  });

  everywhere('list their attachments, and return their bytes unchanged', async (service) => {
    const { billing } = openInboxClients(service);
    const path = `/messages/${MESSAGES.invoice}/attachments`;
    const { json } = await billing.call('GET', path);
    expect(json).toEqual({
      attachments: [
        { id: ATTACHMENTS.order, filename: 'Bestellung für 1042.png', contentType: 'image/png', sizeBytes: 69 },
      ],
    });
    const { status, bytes, headers } = await billing.call('GET', `${path}/${ATTACHMENTS.order}`);
    expect([status, headers.get('content-type'), headers.get('content-length')]).toEqual([200, 'image/png', '69']);
    expect([...bytes.subarray(0, 8)]).toEqual([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
    expect(bytes.byteLength).toBe(69);
    expect(headers.get('content-disposition')).toBe(
      'attachment; filename="Bestellung f_r 1042.png"; filename*=UTF-8\'\'Bestellung%20f%C3%BCr%201042.png',
    );
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  test.for(FILE_NAMES)('return the file %s as %s', async ([filename, disposition], { expect }) => {
    const [reply] = await fetchFiles([{ filename, text: 'x' }]);
    expect(reply?.headers.get('content-disposition')).toBe(disposition);
  });

  test('return every byte value, and files of any size', async ({ expect }) => {
    const files = [
      new Uint8Array(0),
      Uint8Array.from({ length: 256 }, (_, byte) => byte),
      new Uint8Array(102_400).fill(7),
    ];
    const replies = await fetchFiles(
      files.map((bytes, index) => ({ filename: `${index}.bin`, content: Buffer.from(bytes).toString('base64') })),
    );
    expect(replies.map(({ bytes }) => bytes)).toEqual(files);
  });

  everywhere('return an attachment under its own message only', async (service) => {
    const { helpdesk } = openInboxClients(service);
    const { status, json } = await helpdesk.call(
      'GET',
      `/messages/${MESSAGES.thanks}/attachments/${ATTACHMENTS.loginError}`,
    );
    expect([status, json.error]).toEqual([404, 'There is no attachment with this id.']);
    expect((await helpdesk.call('GET', `/messages/${MESSAGES.thanks}/attachments`)).json).toEqual({ attachments: [] });
  });

  everywhere('are read raw as message/rfc822', async (service) => {
    const { outreach } = openInboxClients(service);
    const { status, text, headers } = await outreach.call('GET', `/messages/${MESSAGES.talk}/raw`);
    expect([status, headers.get('content-type')]).toEqual([200, 'message/rfc822']);
    expect(text).toBe(
      [
        'From: Acme Outreach <outreach@acme.test>',
        'To: lee@prospect.test',
        'Subject: Shall we talk?',
        'Date: Thu, 08 Jan 2026 10:05:00 +0000',
        'Message-ID: <talk-1@acme.test>',
        'MIME-Version: 1.0',
        'Content-Type: text/plain; charset=utf-8',
        'Content-Transfer-Encoding: quoted-printable',
        '',
        'Would Thursday suit you for a short call?',
      ].join('\r\n'),
    );
  });
});
