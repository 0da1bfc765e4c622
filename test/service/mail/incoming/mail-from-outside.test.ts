import type { IncomingMessage, Mailbox } from 'agent-mailbox-mock';
import { createMailbox } from 'agent-mailbox-mock';
import { type MailboxServer, startServer } from 'agent-mailbox-mock/server';
import MailComposer from 'nodemailer/lib/mail-composer';
import { describe, expect, test } from 'vitest';
import { sendControl } from '../../../support/control.ts';
import { everywhere, interceptRequests } from '../../../support/everywhere.ts';
import { IDS } from '../../../support/ids.ts';
import { ADDRESS, openInboxClients } from '../../../support/inbox-clients.ts';
import { parseTwice } from '../../../support/parse-mail.ts';

interceptRequests();

const MAIL = { to: ADDRESS.helpdesk, from: 'Dana Reyes <dana@customer.test>' };
const EVERY_BYTE = Uint8Array.from({ length: 256 }, (_, byte) => byte);
const ATTACHED = Buffer.from(EVERY_BYTE).toString('base64');

/** Hands a mail in: to the mailbox itself, or over the control plane of its server. */
type HandIn = (message: unknown) => Promise<{ error?: string; code?: string; messages?: Arrived[] }>;
type Arrived = Awaited<ReturnType<Mailbox['receiveMessage']>>[number];

const WAYS: [way: string, open: () => Promise<{ mailbox: Mailbox; handIn: HandIn } & AsyncDisposable>][] = [
  [
    'in process',
    async () => {
      const mailbox = createMailbox();
      return {
        mailbox,
        handIn: (message) =>
          mailbox.receiveMessage(message as IncomingMessage).then(
            (messages) => ({ messages: [...messages] }),
            ({ message: error, code }) => ({ error, code }),
          ),
        [Symbol.asyncDispose]: async () => {},
      };
    },
  ],
  [
    'http',
    async () => {
      const server = await startServer({ port: 0 });
      return {
        mailbox: server.mailbox,
        handIn: async (message) => (await postTo(server, message)).json,
        [Symbol.asyncDispose]: () => server.close(),
      };
    },
  ],
];

function postTo({ url }: MailboxServer, json: unknown, path = '/__mock/messages') {
  return sendControl(url + path, 'POST', { json });
}

/** A mail as another program writes it. */
async function writeEml(changes: object = {}): Promise<Uint8Array> {
  const mail = {
    from: 'Zoë Ängström <zoe@customer.test>',
    to: 'helpdesk@acme.test',
    subject: 'Größenänderung 😀',
    text: 'Grüße,\nZoë',
    html: '<p>Grüße</p>',
    messageId: '<size-1@customer.test>',
    date: '2026-01-06T08:12:03.000Z',
    headers: { 'X-Ticket': '42' },
    attachments: [{ filename: 'Bestellung für 漢字.png', content: Buffer.from(EVERY_BYTE), contentType: 'image/png' }],
    ...changes,
  };
  return new Uint8Array(await new MailComposer(mail).compile().build());
}

const WITH_NAMES = { behaviours: { 'messages.addresses': 'display' } } as const;

describe('mail from outside', () => {
  everywhere('arrives with all its parts', WITH_NAMES, async (service) => {
    const { helpdesk } = openInboxClients(service);
    const [arrived] = await service.mailbox.receiveMessage({
      ...MAIL,
      cc: 'Kim <kim@visitor.test>',
      replyTo: 'desk@customer.test',
      subject: 'Cannot log in: größer',
      plainBody: 'Hello!',
      htmlBody: '<p>Hello!</p>',
      messageId: '<fresh-1@customer.test>',
      headers: { 'X-Ticket': '42', 'X-Greeting': 'Grüße' },
      attachments: [
        { filename: 'a.bin', content: EVERY_BYTE },
        { filename: 'b.bin', content: ATTACHED, contentType: 'image/png' },
        { filename: 'c.txt', text: 'größer', contentType: 'text/plain' },
      ],
    });
    const message = await helpdesk.latest();
    expect(message).toMatchObject({
      id: arrived?.id,
      inboxId: helpdesk.id,
      threadId: arrived?.threadId,
      direction: 'inbound',
      from: MAIL.from,
      to: MAIL.to,
      cc: ['Kim <kim@visitor.test>'],
      bcc: [],
      subject: 'Cannot log in: größer',
      plainBody: 'Hello!',
      htmlBody: '<p>Hello!</p>',
      isRead: false,
      messageIdHeader: '<fresh-1@customer.test>',
      inReplyTo: null,
    });
    expect(arrived?.tenantId).toBe(IDS.acme.tenant);

    const files = await Promise.all(
      message.attachments.map(({ id }: { id: string }) =>
        helpdesk.call('GET', `/messages/${message.id}/attachments/${id}`),
      ),
    );
    expect(files.map(({ bytes }) => [...bytes])).toEqual([
      [...EVERY_BYTE],
      [...EVERY_BYTE],
      [...new TextEncoder().encode('größer')],
    ]);
    expect(files.map(({ headers }) => headers.get('content-type')?.split(';')[0])).toEqual([
      'application/octet-stream',
      'image/png',
      'text/plain',
    ]);

    const raw = await helpdesk.call('GET', `/messages/${message.id}/raw`);
    expect(raw.text).toMatch(/^X-Ticket: 42\r$/m);
    expect(raw.text).toMatch(/^X-Greeting: =\?UTF-8\?B\?R3LDvMOfZQ==\?=\r$/m);
    const parsed = (await parseTwice(raw.bytes)).mailparser;
    expect(parsed).toMatchObject({ subject: 'Cannot log in: größer', replyTo: [{ address: 'desk@customer.test' }] });
    expect(parsed.attachments.map(({ bytes }) => bytes.length)).toEqual([256, 256, 8]);
  });

  everywhere('continues the thread of the message that it answers, and a reply goes to its sender', async (service) => {
    const { helpdesk } = openInboxClients(service);
    const sent = await helpdesk.mail('kim@visitor.test');
    const [first] = await service.mailbox.receiveMessage({
      to: helpdesk.address,
      from: 'kim@visitor.test',
      inReplyTo: sent.messageId,
      messageId: '<kim-1@visitor.test>',
    });
    expect(first?.threadId).toBe(sent.threadId);
    const [second] = await service.mailbox.receiveMessage({
      to: helpdesk.address,
      from: 'kim@visitor.test',
      references: ['<unknown@visitor.test>', '<kim-1@visitor.test>'],
    });
    expect(second?.threadId).toBe(sent.threadId);
    const [fresh] = await service.mailbox.receiveMessage({ to: helpdesk.address, from: 'kim@visitor.test' });
    expect(fresh?.threadId).not.toBe(sent.threadId);

    const reply = await helpdesk.call('POST', `/reply/${second?.id}`, { plainBody: 'Yes.' });
    expect([reply.status, reply.json.threadId]).toEqual([200, sent.threadId]);
    const { messages } = (await helpdesk.call('GET', `/threads/${sent.threadId}`)).json;
    expect(messages.at(-1)).toMatchObject({ to: 'kim@visitor.test' });
  });

  everywhere('arrives once in each inbox among its recipients, of any tenant', WITH_NAMES, async (service) => {
    const { helpdesk, billing, info } = openInboxClients(service);
    const to = [
      helpdesk.address,
      `Desk <${helpdesk.address.toUpperCase()}>`,
      'helpdesk+orders@acme.test',
      info.address,
    ];
    const arrived = await service.mailbox.receiveMessage({ ...MAIL, to, cc: billing.address });
    expect(arrived.map(({ inboxId, tenantId }) => [inboxId, tenantId])).toEqual([
      [helpdesk.id, IDS.acme.tenant],
      [info.id, IDS.globex.tenant],
    ]);
    for (const inboxClient of [helpdesk, info]) {
      const ids = (await inboxClient.list('?limit=100')).map(({ id }) => id);
      expect(ids.filter((id) => arrived.some((each) => each.id === id))).toHaveLength(1);
      expect((await inboxClient.latest()).to).toBe(to.join(', '));
    }
  });

  everywhere('is returned byte for byte by /raw if it came as a whole', WITH_NAMES, async (service) => {
    const { helpdesk } = openInboxClients(service);
    const eml = await writeEml({ inReplyTo: '<login-1@customer.test>' });
    const [arrived] = await service.mailbox.receiveMessage({ eml });
    const message = await helpdesk.latest();
    expect(message).toMatchObject({
      id: arrived?.id,
      threadId: IDS.acme.threads.login,
      from: 'Zoë Ängström <zoe@customer.test>',
      to: 'helpdesk@acme.test',
      subject: 'Größenänderung 😀',
      htmlBody: expect.stringMatching(/^<p>Grüße<\/p>\s*$/),
      messageIdHeader: '<size-1@customer.test>',
      inReplyTo: '<login-1@customer.test>',
      attachments: [{ filename: 'Bestellung für 漢字.png', contentType: 'image/png' }],
    });
    expect(message.plainBody.trim()).toBe('Grüße,\nZoë');
    expect((await helpdesk.call('GET', `/messages/${message.id}/raw`)).bytes).toEqual(eml);
    const [{ id }] = message.attachments;
    const file = await helpdesk.call('GET', `/messages/${message.id}/attachments/${id}`);
    expect(file.bytes).toEqual(EVERY_BYTE);
  });

  everywhere('is for the inboxes in its header, or for the recipients that the call names', async (service) => {
    const { helpdesk, billing, info } = openInboxClients(service);
    const eml = await writeEml({ to: [helpdesk.address, ADDRESS.dana], cc: 'billing+42@acme.test' });
    const byHead = await service.mailbox.receiveMessage({ eml });
    expect(byHead.map(({ inboxId }) => inboxId)).toEqual([helpdesk.id, billing.id]);
    const byCall = await service.mailbox.receiveMessage({ eml, to: info.address });
    expect(byCall.map(({ inboxId }) => inboxId)).toEqual([info.id]);
  });

  everywhere('makes its sender a verified recipient of the inbox', async (service) => {
    const { helpdesk } = openInboxClients(service);
    const write = () => helpdesk.call('POST', '/send', { to: ADDRESS.stranger, subject: 'Hi', plainBody: 'Hi' });
    expect((await write()).status).toBe(403);
    await service.mailbox.receiveMessage({ to: helpdesk.address, from: ADDRESS.stranger });
    expect((await write()).status).toBe(200);
  });

  everywhere('reads malicious mail without harm', async (service) => {
    const { helpdesk } = openInboxClients(service);
    const lines = [
      'From: =?utf-8?Q?Eve=0D=0ABcc:_x@evil.test?= <eve@evil.test>',
      `To: ${helpdesk.address}`,
      'Subject: =?utf-8?Q?Hi=0D=0ABcc:_x@evil.test?=',
      'Message-ID: no id',
      'In-Reply-To: <a@evil.test> <b@evil.test>',
      'Content-Type: multipart/mixed; boundary=x',
      '',
      '--x',
      'Content-Type: te xt/html"\u0007; charset=none',
      'Content-Disposition: attachment; filename="../../etc/passwd"',
      '',
      '<script>',
    ];
    await service.mailbox.receiveMessage({ eml: new TextEncoder().encode(lines.join('\r\n')) });
    const message = await helpdesk.latest();
    expect(message).toMatchObject({ subject: 'Hi Bcc: x@evil.test', inReplyTo: '<a@evil.test>' });
    expect(message.messageIdHeader).toMatch(/^<[\w-]+@mailbox\.test>$/);
    const file = await helpdesk.call('GET', `/messages/${message.id}/attachments/${message.attachments[0].id}`);
    expect(file.status).toBe(200);
    const reply = await helpdesk.call('POST', `/reply/${message.id}`, { plainBody: 'No.' });
    expect(reply.status).toBe(200);
  });
});

describe.each(WAYS)('a mail that is handed in (%s)', (_, open) => {
  test('resolves with where it arrived', async () => {
    await using service = await open();
    const { messages } = await service.handIn({ ...MAIL, to: [MAIL.to, ADDRESS.info], tenant: undefined });
    const rows = service.mailbox.snapshot().tenants.map((tenant) => tenant.messages.at(-1));
    expect(messages).toEqual([
      { ...pick(rows[0]), inboxId: IDS.acme.inboxes.helpdesk, tenantId: IDS.acme.tenant },
      { ...pick(rows[1]), inboxId: IDS.globex.inboxes.info, tenantId: IDS.globex.tenant },
    ]);
  });

  test('may be a raw mail in base64, for one tenant only', async () => {
    await using service = await open();
    const eml = Buffer.from(await writeEml()).toString('base64');
    const { messages } = await service.handIn({ eml, tenant: IDS.acme.tenant.toUpperCase() });
    expect(messages).toHaveLength(1);
    expect(service.mailbox.snapshot().tenants[0]?.messages.at(-1)?.raw).toBe(eml);
  });

  const NOBODY = '00000000-0000-4000-8000-000000000000';
  const NAMES_HERE = 'has unknown fields: "text" (did you mean plainBody?), "html" (did you mean htmlBody?).';
  const big = 'A'.repeat((11 * 1024 * 1024 * 4) / 3 - (((11 * 1024 * 1024 * 4) / 3) % 4));

  test.each<[title: string, message: () => unknown, code: string, said: string]>([
    ['nothing', () => ({}), 'VALIDATION_ERROR', 'The message is not valid: to is required; from is required.'],
    ['no recipient', () => ({ ...MAIL, to: [] }), 'VALIDATION_ERROR', 'to must name at least one address.'],
    ['no address', () => ({ ...MAIL, to: 'x' }), 'VALIDATION_ERROR', 'to must be an e-mail address such as'],
    ['no sender', () => ({ to: MAIL.to, from: '' }), 'VALIDATION_ERROR', 'from must be an e-mail address such as'],
    ['an unknown field', () => ({ ...MAIL, body: 'x' }), 'VALIDATION_ERROR', '"body" (did you mean plainBody?).'],
    ['the names of other libraries', () => ({ ...MAIL, text: 'x', html: 'x' }), 'VALIDATION_ERROR', NAMES_HERE],
    [
      'a misspelt field of an attachment',
      () => ({ ...MAIL, attachments: [{ filname: 'a', text: 'b' }] }),
      'VALIDATION_ERROR',
      'attachments[0] has unknown fields: "filname" (did you mean filename?).',
    ],
    ['a text that is none', () => ({ ...MAIL, plainBody: 5 }), 'VALIDATION_ERROR', 'plainBody must be a string.'],
    [
      'a subject of two lines',
      () => ({ ...MAIL, subject: 'a\r\nBcc: x' }),
      'VALIDATION_ERROR',
      'must be a single line.',
    ],
    [
      'a header that another field is for',
      () => ({ ...MAIL, headers: { Subject: 'x' } }),
      'VALIDATION_ERROR',
      'The message is not valid: headers.Subject must not be set as a header; use the field of the message for it.',
    ],
    [
      'a header without a name',
      () => ({ ...MAIL, headers: { 'X:': 'x' } }),
      'VALIDATION_ERROR',
      'headers.X: must have a name of letters, digits and -',
    ],
    [
      'a header of two lines',
      () => ({ ...MAIL, headers: { 'X-A': 'a\nb' } }),
      'VALIDATION_ERROR',
      'headers.X-A must be',
    ],
    [
      'a Message-ID that is none',
      () => ({ ...MAIL, inReplyTo: 'x' }),
      'VALIDATION_ERROR',
      'must be a Message-ID such as',
    ],
    [
      'references that are no list',
      () => ({ ...MAIL, references: '<a@b.test>' }),
      'VALIDATION_ERROR',
      'references must be an array of Message-IDs.',
    ],
    [
      'files that are no list',
      () => ({ ...MAIL, attachments: 'a.txt' }),
      'VALIDATION_ERROR',
      'attachments must be an array of files.',
    ],
    [
      'headers that are a list',
      () => ({ ...MAIL, headers: ['X-A: a'] }),
      'VALIDATION_ERROR',
      'headers must be an object of headers.',
    ],
    [
      'a file that is no base64',
      () => ({ ...MAIL, attachments: [{ filename: 'a', content: '%' }] }),
      'VALIDATION_ERROR',
      'The message is not valid: attachments[0].content must be base64.',
    ],
    [
      'a file with nothing in it',
      () => ({ ...MAIL, attachments: [{ filename: 'a' }] }),
      'VALIDATION_ERROR',
      'attachments[0] must have content or text.',
    ],
    ['an eml that is no base64', () => ({ eml: 'From: x' }), 'VALIDATION_ERROR', 'eml must be base64.'],
    ['an eml that is a number', () => ({ eml: 5 }), 'VALIDATION_ERROR', 'eml must be base64.'],
    ['an empty eml', () => ({ eml: '' }), 'VALIDATION_ERROR', 'The message has no recipient.'],
    ['an eml and parts', () => ({ eml: '', text: 'x' }), 'VALIDATION_ERROR', 'has unknown fields: "text".'],
    [
      'an eml for nobody',
      () => ({ eml: btoa('From: a@customer.test\r\n\r\nx') }),
      'VALIDATION_ERROR',
      'The message has no recipient.',
    ],
    [
      'an eml for strangers',
      () => ({ eml: btoa('From: a@customer.test\r\nTo: b@customer.test\r\n\r\nx') }),
      'NOT_FOUND',
      'There is no inbox with the address b@customer.test.',
    ],
    [
      'an unknown recipient among others',
      () => ({ ...MAIL, to: [MAIL.to, 'no@acme.test', ADDRESS.dana] }),
      'NOT_FOUND',
      'There is no inbox with the address no@acme.test, dana@customer.test.',
    ],
    [
      'a simulator',
      () => ({ ...MAIL, to: 'bounce@simulator.test' }),
      'NOT_FOUND',
      'There is no inbox with the address',
    ],
    ['an unknown tenant', () => ({ ...MAIL, tenant: NOBODY }), 'NOT_FOUND', 'There is no tenant with this id.'],
    ['a tenant that is none', () => ({ ...MAIL, tenant: 'acme' }), 'VALIDATION_ERROR', 'must be the UUID of a tenant.'],
    [
      'an inbox of another tenant',
      () => ({ ...MAIL, tenant: IDS.globex.tenant }),
      'NOT_FOUND',
      'There is no inbox with the address helpdesk@acme.test.',
    ],
    [
      'files of more than 10 MiB',
      () => ({ ...MAIL, attachments: [{ filename: 'a', content: big }] }),
      'PAYLOAD_TOO_LARGE',
      'The message is larger than 10 MiB.',
    ],
    ['an eml of more than 10 MiB', () => ({ eml: big }), 'PAYLOAD_TOO_LARGE', 'The message is larger than 10 MiB.'],
    [
      'parts within parts without end',
      () => ({ eml: btoa(nest(300)) }),
      'VALIDATION_ERROR',
      'The message cannot be parsed: its headers are too large or its parts are nested too deeply.',
    ],
  ])('is refused with %s, and nothing arrives', async (_title, message, code, said) => {
    await using service = await open();
    const before = service.mailbox.snapshot();
    const refused = await service.handIn(message());
    expect(refused).toEqual({ code, error: expect.stringContaining(said) });
    expect(refused.error).toMatch(/^[^\n]+\.$/);
    expect(service.mailbox.snapshot()).toEqual(before);
  });
});

/** A mail whose parts are parts of parts. */
function nest(depth: number): string {
  const parts = Array.from({ length: depth }, (_, at) => [
    `${at === 0 ? '' : `--b${at - 1}\r\n`}Content-Type: multipart/mixed; boundary=b${at}`,
    '',
    '',
  ]);
  return `From: a@customer.test\r\nTo: ${MAIL.to}\r\n${parts.flat().join('\r\n')}`;
}

function pick(row: { id: string; threadId: string } | undefined) {
  return { id: row?.id, threadId: row?.threadId };
}

test.each([null, undefined, 5, 'mail', []])('a mail that is %j is refused', async (message) => {
  await expect(createMailbox().receiveMessage(message as never)).rejects.toMatchObject({
    name: 'ApiError',
    code: 'VALIDATION_ERROR',
    message: 'The message must be an object with to and from, or with eml.',
  });
});

test('a body of more than 20 MiB is refused before it is read', async () => {
  await using server = await startServer({ port: 0 });
  const reply = await sendControl(`${server.url}/__mock/messages`, 'POST', {
    body: `{"eml":"${'A'.repeat(20 * 1024 * 1024)}"}`,
    headers: { 'Content-Type': 'application/json' },
  });
  expect([reply.status, reply.json]).toEqual([
    413,
    { error: 'The body is larger than 20 MiB.', code: 'PAYLOAD_TOO_LARGE' },
  ]);
});

test('a body that is not JSON is refused over HTTP', async () => {
  await using server = await startServer({ port: 0 });
  for (const [options, status] of [
    [{ body: '{', headers: { 'Content-Type': 'application/json' } }, 400],
    [{ json: [] }, 400],
    [{ json: null }, 400],
    [{}, 400],
  ] as const) {
    const reply = await sendControl(`${server.url}/__mock/messages`, 'POST', options);
    expect([reply.status, reply.json.code]).toEqual([status, 'VALIDATION_ERROR']);
  }
});

test('a mail of 10 MiB arrives whole', async () => {
  await using server = await startServer({ port: 0 });
  const content = Buffer.alloc(10 * 1024 * 1024, EVERY_BYTE).toString('base64');
  const reply = await postTo(server, { ...MAIL, attachments: [{ filename: 'a', content }] });
  expect(reply.status).toBe(200);
  const stored = server.mailbox.snapshot().tenants[0]?.attachments.at(-1)?.content;
  expect(stored === content).toBe(true);
});
