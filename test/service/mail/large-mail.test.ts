import { createMailbox, type FixtureInput } from 'agent-mailbox-mock';
import { startServer } from 'agent-mailbox-mock/server';
import { createTransport } from 'nodemailer';
import { describe, expect, test } from 'vitest';
import { sizeOfMailRow } from '../../../src/world/store/database.ts';
import { everywhere, interceptRequests, type Service } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';

interceptRequests();

const HELPDESK = `/v1/inboxes/${IDS.acme.inboxes.helpdesk}`;
const MAIL = { to: 'helpdesk@acme.test', from: 'dana@customer.test' };

/** A text that JSON writes six times as long. */
const control = (length: number) => '\u0001'.repeat(length);

function call(service: Service, method: string, path: string, json?: object) {
  return service.send(method, path, { key: service.mailbox.keys.acme.tenant, ...(json && { json }) });
}

/** What is stored, without what changes by itself. */
const stored = ({ mailbox }: Pick<Service, 'mailbox'>) =>
  mailbox.snapshot().tenants.map(({ messages, attachments, drafts }) => ({ messages, attachments, drafts }));

describe('a raw mail', () => {
  everywhere('is shown up to the limits of a composed mail, and stored whole', async (service) => {
    const many = Array.from({ length: 70 }, (_, index) => `to-${index}@customer.test`).join(',\r\n ');
    const head = [`From: ${MAIL.from}`, `To: ${many}`, `Subject: ${'s'.repeat(2_000)}`];
    const html = ['', '--b', 'Content-Type: text/html', '', 'h'.repeat(600_000)];
    const parts = Array.from({ length: 120 }, (_, index) => [
      '--b',
      `Content-Disposition: attachment; filename="${index}${'f'.repeat(300)}"`,
      '',
      'x',
    ]);
    const body = ['--b', '', `${'p'.repeat(499_999)}😀${'p'.repeat(99)}`, ...html, ...parts.flat(), '--b--', ''];
    const eml = new TextEncoder().encode(
      [...head, 'Content-Type: multipart/mixed; boundary=b', '', ...body].join('\r\n'),
    );
    const [arrived] = await service.mailbox.receiveMessage({ eml, to: MAIL.to });
    const { json } = await call(service, 'GET', `${HELPDESK}/messages/${arrived?.id}`);
    expect([json.subject, json.plainBody, json.htmlBody.length]).toEqual([
      's'.repeat(998),
      'p'.repeat(499_999),
      500_000,
    ]);
    expect(json.attachments).toHaveLength(100);
    expect(json.attachments[0].filename).toBe(`0${'f'.repeat(254)}`);
    const row = service.mailbox.snapshot().tenants[0]?.messages.find(({ id }) => id === arrived?.id);
    expect(row?.to).toHaveLength(50);
    const raw = await call(service, 'GET', `${HELPDESK}/messages/${arrived?.id}/raw`);
    expect(Buffer.from(raw.bytes).equals(eml)).toBe(true);
  });
});

describe('a list of large mails', () => {
  const behaviours = { 'messages.all.shape': 'messages' } as const;
  everywhere('has a bounded size and every row, and a single message is whole', { behaviours }, async (service) => {
    const text = control(300_000);
    const sent: (string | undefined)[] = [];
    for (let count = 0; count < 14; count += 1) {
      const [arrived] = await service.mailbox.receiveMessage({
        ...MAIL,
        subject: `Large ${count}`,
        plainBody: text,
        inReplyTo: '<login-1@customer.test>',
      });
      sent.push(arrived?.id);
    }
    const threadId = IDS.acme.threads.login;
    for (const path of [
      `${HELPDESK}/messages?limit=100`,
      '/v1/messages?limit=100',
      `${HELPDESK}/threads/${threadId}`,
    ]) {
      const { json, text: reply } = await call(service, 'GET', path);
      const large = json.messages.filter(({ id }: { id: string }) => sent.includes(id));
      const lengths = large.map(({ plainBody }: { plainBody: string }) => plainBody.length);
      expect(lengths.filter((length: number) => length === 1_000).length).toBeGreaterThan(3);
      expect(lengths.filter((length: number) => length === text.length).length).toBeGreaterThan(7);
      expect([lengths.length, reply.length < 17 * 1024 * 1024]).toEqual([14, true]);
    }
    for (const id of sent.slice(0, 1).concat(sent.slice(-1))) {
      expect((await call(service, 'GET', `${HELPDESK}/messages/${id}`)).json.plainBody).toBe(text);
    }
  });

  everywhere('has a bounded size for drafts too', async (service) => {
    const htmlBody = control(150_000);
    for (let count = 0; count < 25; count += 1) {
      expect((await call(service, 'POST', `${HELPDESK}/drafts`, { htmlBody, plainBody: 'short' })).status).toBe(201);
    }
    const { json, text } = await call(service, 'GET', `${HELPDESK}/drafts?limit=100`);
    const lengths = json.drafts.map((draft: { htmlBody: string | null }) => draft.htmlBody?.length ?? 0);
    expect(lengths.filter((length: number) => length === 1_000).length).toBeGreaterThan(3);
    expect(text.length).toBeLessThan(17 * 1024 * 1024);
  });

  everywhere('is shown whole if it is short', async (service) => {
    const text = 'x'.repeat(500_000);
    const [arrived] = await service.mailbox.receiveMessage({ ...MAIL, plainBody: text, htmlBody: text });
    const { json } = await call(service, 'GET', `${HELPDESK}/messages?limit=100`);
    const row = json.messages.find(({ id }: { id: string }) => id === arrived?.id);
    expect([row.plainBody === text, row.htmlBody === text]).toEqual([true, true]);
  });
});

/** A body of 100,000 bytes: nine of them fit into a mailbox of 1 MiB. */
const LARGE = 'x'.repeat(100_000);
const LIMIT = { maxMailBytes: 1024 * 1024 };

/** Calls `add` until the mailbox refuses; returns how many calls succeeded. */
async function fill(add: () => Promise<boolean>): Promise<number> {
  let count = 0;
  while (await add()) count += 1;
  return count;
}

/** Delivers a mail from outside; returns whether it was accepted. */
async function arrives({ mailbox }: Pick<Service, 'mailbox'>, more: object = {}): Promise<boolean> {
  return mailbox.receiveMessage({ ...MAIL, plainBody: LARGE, ...more }).then(
    () => true,
    ({ code }: { code: string }) => {
      expect(code).toBe('STORAGE_FULL');
      return false;
    },
  );
}

const SEND = { to: 'dana@customer.test', subject: 'Hi', plainBody: LARGE, verified: true };

describe('stored mail', () => {
  everywhere('that does not fit is refused, and nothing of it is stored', LIMIT, async (service) => {
    const count = await fill(() => arrives(service));
    expect(count).toBe(10);
    const before = stored(service);
    const draft = before[0]?.drafts[0];
    const refusals = [
      await call(service, 'POST', `${HELPDESK}/send`, SEND),
      await call(service, 'POST', `${HELPDESK}/drafts`, { plainBody: LARGE }),
      await call(service, 'PATCH', `/v1/inboxes/${draft?.inboxId}/drafts/${draft?.id}`, { htmlBody: LARGE }),
    ];
    for (const { status, json } of refusals) {
      expect([status, json.code]).toEqual([507, 'STORAGE_FULL']);
      expect(json.error).toMatch(
        /^The message does not fit in the storage: it needs 9\d(?:\.\d)? KiB, and [\d.]+ KiB of 1 MiB are free\. Reset .*\.$/,
      );
    }
    expect(stored(service)).toEqual(before);
    expect(await arrives(service, { plainBody: 'A small one still fits.' })).toBe(true);
  });

  everywhere('counts files, raw mail and each copy, of every tenant', LIMIT, async (service) => {
    const file = { filename: 'a.bin', content: new Uint8Array(600_000) };
    expect(await arrives(service, { plainBody: '', attachments: [file] })).toBe(true);
    expect(await arrives(service, { plainBody: '', attachments: [file] })).toBe(false);
    const both = { to: [MAIL.to, 'info@globex.test'], plainBody: 'x'.repeat(300_000) };
    expect(await arrives(service, both)).toBe(false);
    expect(await arrives(service, { ...both, to: 'info@globex.test' })).toBe(true);
    service.mailbox.reset();
    const eml = new TextEncoder().encode(`From: a@b.test\r\nTo: ${MAIL.to}\r\n\r\n${'x'.repeat(300_000)}`);
    const arrived = () =>
      service.mailbox.receiveMessage({ eml }).then(
        () => true,
        () => false,
      );
    expect(await fill(arrived)).toBe(1);
  });

  everywhere(
    'that is sent counts once more for each inbox of the emulator that receives it',
    LIMIT,
    async (service) => {
      const to = ['billing@acme.test', 'info@globex.test'];
      const send = async () => (await call(service, 'POST', `${HELPDESK}/send`, { ...SEND, to })).status === 200;
      expect(await fill(send)).toBe(3);
    },
  );

  everywhere('that is sent counts only what is stored of it, also in an answer', LIMIT, async (service) => {
    for (const text of [LARGE, 'x'.repeat(1_000), '']) await fill(() => arrives(service, { plainBody: text }));
    const original = (await call(service, 'GET', `${HELPDESK}/messages`)).json.messages[0];
    const plainBody = 'x'.repeat(500);
    const mail = { to: original.from, subject: `Re: ${original.subject}`, plainBody, verified: true };
    const sent = await call(service, 'POST', `${HELPDESK}/send`, mail);
    const { to, subject } = mail;
    const bytes = sizeOfMailRow({ to: [to], cc: [], bcc: [], replyTo: null, subject, plainBody, htmlBody: null });
    expect(sent.json.error).toContain(`it needs ${bytes} B,`);
    const answered = await call(service, 'POST', `${HELPDESK}/reply/${original.id}`, { plainBody });
    expect(answered.json).toEqual(sent.json);
  });

  everywhere('makes room when the mailbox is reset, or a workspace or a tenant is deleted', LIMIT, async (service) => {
    const { mailbox, send } = service;
    expect(await fill(() => arrives(service))).toBe(10);
    mailbox.reset();
    expect(await fill(() => arrives(service))).toBe(10);
    mailbox.reset();
    const outreach = { to: 'outreach@acme.test' };
    expect(await fill(() => arrives(service, outreach))).toBe(10);
    expect((await call(service, 'DELETE', `/v1/workspaces/${IDS.acme.workspaces.sales}`)).status).toBe(200);
    expect(await arrives(service)).toBe(true);
    mailbox.reset();
    expect(await fill(() => arrives(service, { to: 'info@globex.test' }))).toBe(10);
    expect((await send('DELETE', `/v1/tenants/${IDS.globex.tenant}`, { key: mailbox.keys.operator })).status).toBe(200);
    expect(await arrives(service)).toBe(true);
  });

  everywhere('makes room when a draft is emptied, deleted or sent', LIMIT, async (service) => {
    const create = () => call(service, 'POST', `${HELPDESK}/drafts`, { plainBody: LARGE, htmlBody: LARGE });
    const ids: string[] = [];
    const created = async () => {
      const { status, json } = await create();
      if (status === 201) ids.push(json.id);
      return status === 201;
    };
    expect(await fill(created)).toBe(5);
    expect(
      (await call(service, 'PATCH', `${HELPDESK}/drafts/${ids[0]}`, { plainBody: null, htmlBody: null })).status,
    ).toBe(200);
    expect(await fill(created)).toBe(1);
    expect((await call(service, 'DELETE', `${HELPDESK}/drafts/${ids[1]}`)).status).toBe(200);
    expect(await fill(created)).toBe(1);
  });

  test('is refused over SMTP with 452', async () => {
    await using server = await startServer({ port: 0, smtpPort: 0, ...LIMIT });
    const transport = createTransport({ host: '127.0.0.1', port: server.smtp?.port ?? 0, ignoreTLS: true });
    const before = stored(server);
    const sent = transport.sendMail({ ...MAIL, text: 'x'.repeat(900_000) });
    await expect(sent).rejects.toMatchObject({
      responseCode: 452,
      message: expect.stringContaining('4.3.1 The message does not fit'),
    });
    expect(stored(server)).toEqual(before);
    await transport.sendMail({ ...MAIL, text: 'small' });
    transport.close();
  });

  test.each([0, -1, 1.5, Number.NaN, '1' as never])('cannot be bounded by %s bytes', (maxMailBytes) => {
    expect(() => createMailbox({ maxMailBytes })).toThrow(
      'The option maxMailBytes must be a whole number of bytes above 0',
    );
  });

  test('of a fixture counts towards the limit, and must fit', () => {
    const messages = [{ from: 'a@b.test', subject: 'Hi', plainBody: 'x'.repeat(3_000) }];
    const fixtures = { tenants: { a: { workspaces: { w: { inboxes: { i: { messages } } } } } } } as FixtureInput;
    expect(() => createMailbox({ fixtures, maxMailBytes: 2_000 })).toThrow(
      /^The fixture has 3\.\d KiB of mail, and 2 KiB may be stored; allow more by --max-mail <size>, or maxMailBytes in code\.$/,
    );
    expect(() => createMailbox({ fixtures, maxMailBytes: 6_000 })).not.toThrow();
  });
});
