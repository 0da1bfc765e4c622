import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createMailbox, type EntryKind, type JournalEntry, type Mailbox } from 'agent-mailbox-mock';
import { expect, test } from 'vitest';
import { everywhere, interceptRequests } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';
import { senderTo } from '../../support/send.ts';

interceptRequests();

const TENANT = 'tk_acme_tenant_key';
const HELPDESK = 'ak_acme_helpdesk_key';
const INBOX = `/v1/inboxes/${IDS.acme.inboxes.helpdesk}`;
const DANA = 'dana@customer.test';

const kindsOf = (entries: readonly JournalEntry[]) => entries.map(({ kind }) => kind);

function send(mailbox: Mailbox, subject: string) {
  const json = { to: DANA, subject, plainBody: 'Hello!', verified: true };
  return senderTo(mailbox)('POST', `${INBOX}/send`, { key: HELPDESK, json });
}

/** Returns how much memory is in use after a full collection, in bytes. The tests that call it run alone: `sequential`. */
function memoryNow(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

everywhere('nothing that is deleted leaves the journal', async ({ mailbox, send: call }) => {
  const { json } = await call('POST', `${INBOX}/send`, {
    key: HELPDESK,
    json: { to: DANA, subject: 'Secret', verified: true },
  });
  await call('DELETE', `${INBOX}/messages/${json.id}`, { key: HELPDESK });
  const hook = { url: 'http://127.0.0.1:9/in', events: ['message.sent'] };
  const created = await call('POST', '/v1/webhooks', { key: TENANT, json: hook });
  await call('DELETE', `/v1/webhooks/${created.json.id}`, { key: TENANT });
  mailbox.removeMail(json.id);
  await call('DELETE', `/v1/inboxes/${IDS.acme.inboxes.helpdesk}`, { key: TENANT });
  const entries = mailbox.journal({ kinds: ['mail-sent', 'change', 'messages'] });
  const shown = entries.map(({ kind, data }) =>
    'object' in data ? `${data.action} ${data.object} by ${data.by}` : kind,
  );
  expect(shown.slice(0, 5)).toEqual([
    'mail-sent',
    'removed message by deleteMessage',
    'created webhook by createWebhook',
    'removed webhook by deleteWebhook',
    'messages',
  ]);
  expect(shown).toContain('changed inbox by deleteInbox');
  expect(shown).toContain('removed key by deleteInbox');
  expect(JSON.stringify(entries)).not.toMatch(/whsec_\w|ak_acme_helpdesk_key/);
});

test('a reset begins an epoch, and the former one can be read until the next', async () => {
  const mailbox = createMailbox();
  await send(mailbox, 'First');
  mailbox.reset();
  await send(mailbox, 'Second');
  const subjects = (epoch: 'present' | 'former') =>
    mailbox.journal({ kinds: ['mail-sent'], epoch }).map(({ data }) => data.mail.subject);
  expect([subjects('former'), subjects('present')]).toEqual([['First'], ['Second']]);
  mailbox.reset();
  expect([subjects('former'), subjects('present')]).toEqual([['Second'], []]);
  expect(mailbox.requests()).toEqual([]);
});

test('a closed sandbox leaves its entries to the mailbox', async () => {
  const mailbox = createMailbox();
  const sandbox = mailbox.createSandbox();
  await sandbox.receiveMessage({ to: `helpdesk@${sandbox.domain}`, from: DANA, subject: 'Kept' });
  const own = sandbox.journal();
  sandbox.close();
  const [entry] = mailbox.journal({ kinds: ['mail-received'] });
  expect([entry?.tenantId, entry?.data.mail.subject]).toEqual([sandbox.id, 'Kept']);
  expect(kindsOf(own)).toEqual(['mail-received']);
  mailbox.reset();
  expect(mailbox.journal({ kinds: ['mail-received'] })).toEqual([]);
});

test('a sandbox sees only its own entries', async () => {
  const mailbox = createMailbox();
  const [one, other] = [mailbox.createSandbox(), mailbox.createSandbox()];
  one.checkpoint('start');
  await other.receiveMessage({ to: `helpdesk@${other.domain}`, from: DANA });
  mailbox.clock.freeze('2026-03-01T09:00:00Z');
  expect(kindsOf(one.journal())).toEqual(['checkpoint', 'clock']);
  expect(kindsOf(other.journal())).toEqual(['mail-received', 'clock']);
});

test('cleared requests stay in the journal, and the list of requests starts after them', async () => {
  const mailbox = createMailbox();
  await send(mailbox, 'First');
  mailbox.clearRequests();
  await send(mailbox, 'Second');
  expect(mailbox.requests().map(({ id }) => id)).toEqual(['req_2']);
  expect(mailbox.journal({ kinds: ['request'] }).map(({ data }) => data.id)).toEqual(['req_1', 'req_2']);
  mailbox.restoreRequests();
  expect(mailbox.requests().map(({ id }) => id)).toEqual(['req_1', 'req_2']);
});

test('10,000 polls remove no mail, and the journal counts what it drops', async () => {
  const mailbox = createMailbox({ journalSize: 100 });
  const poll = senderTo(mailbox);
  await send(mailbox, 'Sent');
  for (let count = 0; count < 10_000; count += 1) await poll('GET', '/v1/health');
  expect(mailbox.journal({ kinds: ['mail-sent'] })).toHaveLength(1);
  const { 'mail-sent': mails, request } = mailbox.journalLosses();
  expect(mails).toBeUndefined();
  expect(request).toMatchObject({ count: 9_900, until: expect.stringMatching(/^\d{4}-/) });
});

test('with a journal of size 0, requests are counted as dropped, and deliveries, waits and mail work', async () => {
  const mailbox = createMailbox({ journalSize: 0, environment: { fetch: async () => new Response() } });
  await mailbox.addWebhook({ url: 'http://127.0.0.1:9/in', workspaceOf: 'helpdesk@acme.test' });
  const waiting = mailbox.waitForMessage({ to: DANA });
  await send(mailbox, 'Sent');
  expect((await waiting).subject).toBe('Sent');
  await mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: DANA });
  await mailbox.settled();
  expect(mailbox.deliveries({ state: 'delivered' })).toHaveLength(1);
  expect(mailbox.requests()).toEqual([]);
  expect(mailbox.journalLosses()).toMatchObject({ request: { count: 1 } });
});

test('the bytes of the oldest mails go first when the journal has too many bytes, and everything else of them stays', async () => {
  const memory = () => ({ heapBytes: 64 * 1024 * 1024, allBytes: Number.POSITIVE_INFINITY });
  const mailbox = createMailbox({ environment: { memory } });
  const eml = `From: ${DANA}\r\nSubject: Large\r\n\r\n${'x'.repeat(10)}\r\n`;
  const file = { filename: 'a.bin', contentType: 'application/octet-stream', content: btoa('x'.repeat(900_000)) };
  for (let count = 0; count < 8; count += 1) {
    await mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: DANA, subject: `${count}`, attachments: [file] });
    mailbox.clearMail();
  }
  await mailbox.receiveMessage({ to: 'helpdesk@acme.test', eml });
  const mails = mailbox.journal({ kinds: ['mail-received'] }).map(({ data }) => data);
  expect(mails.map(({ mail }) => mail.subject)).toEqual(['0', '1', '2', '3', '4', '5', '6', '7', 'Large']);
  const lacking = mails.map(({ lacksBytes = false }) => lacksBytes);
  expect(lacking).toEqual([...lacking].sort().reverse());
  expect([lacking[0], lacking.at(-1)]).toEqual([true, false]);
  expect(mails[0]?.mail.attachments).toMatchObject([{ filename: 'a.bin', sizeBytes: 900_000, content: '' }]);
  expect(mails[7]?.mail.attachments[0]?.content).toHaveLength(1_200_000);
});

everywhere('the mail lists follow from the journal alone, and no entry changes', async ({ mailbox, send: call }) => {
  const removed = new Set<string>();
  const seen = new Map<number, string>();
  const check = () => {
    const entries = mailbox.journal();
    for (const entry of entries) {
      if (entry.tenantId !== IDS.acme.tenant) continue;
      const text = JSON.stringify(entry);
      expect(seen.get(entry.number) ?? text).toBe(text);
      seen.set(entry.number, text);
    }
    const mails = entries.flatMap((entry) =>
      entry.kind === 'mail-received' || entry.kind === 'mail-sent' ? entry.data.mail.id : [],
    );
    for (const { kind, data } of entries) {
      if (kind === 'change' && data.object === 'message') {
        if (data.action === 'removed') removed.add(data.id);
        else removed.delete(data.id);
      }
      if (kind === 'messages') for (const id of data.messageIds) removed.add(id);
    }
    expect(mailbox.messages().map(({ id }) => id)).toEqual(mails.filter((id) => !removed.has(id)));
  };
  const sendOne = async (subject: string): Promise<string> => {
    const json = { to: [DANA, 'billing@acme.test'], subject, verified: true };
    return (await call('POST', `${INBOX}/send`, { key: HELPDESK, json })).json.id;
  };
  const one = await sendOne('One');
  check();
  await call('DELETE', `${INBOX}/messages/${one}`, { key: HELPDESK });
  check();
  await mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: DANA, subject: 'In' });
  const draft = await call('POST', `${INBOX}/drafts`, { key: HELPDESK, json: { to: DANA, subject: 'Draft' } });
  await call('POST', `${INBOX}/drafts/${draft.json.id}/send`, { key: HELPDESK });
  check();
  mailbox.removeMail(await sendOne('Two'));
  check();
  mailbox.clearMail({ inbox: IDS.acme.inboxes.billing });
  check();
  mailbox.reset();
  removed.clear();
  await sendOne('Three');
  check();
});

test('an unknown kind is refused with the kinds that there are', () => {
  const mailbox = createMailbox();
  expect(() => mailbox.journal({ kinds: ['mails' as EntryKind] })).toThrow(/^The query .*kinds.*mail-received/);
});

test('a request reads the messages that its reply shows, and not the other messages of their thread', async () => {
  const mailbox = createMailbox();
  const get = (path: string) => senderTo(mailbox)('GET', `${INBOX}${path}`, { key: HELPDESK });
  const receive = async (inReplyTo?: string) => {
    const mail = { to: 'helpdesk@acme.test', from: DANA, subject: 'Plan', ...(inReplyTo && { inReplyTo }) };
    const [received] = await mailbox.receiveMessage(mail);
    return mailbox.mail(received?.id ?? '').api;
  };
  const first = await receive();
  const second = await receive(String(first.messageIdHeader));
  expect(second.threadId).toBe(first.threadId);
  const readSoFar = () => mailbox.journal({ kinds: ['read'] }).flatMap(({ data }) => data.messageIds);
  await get('/messages?limit=1');
  expect(readSoFar()).toEqual([second.id]);
  await get(`/messages/${first.id}`);
  expect(readSoFar()).toEqual([second.id, first.id]);
  const third = await receive(String(second.messageIdHeader));
  await get(`/messages/${first.id}`);
  expect(readSoFar()).not.toContain(third.id);
  await get('/threads');
  expect(readSoFar()).toContain(third.id);
});

test.sequential('the first readings of mails do not keep the replies that named them', async () => {
  const mailbox = createMailbox({ journalSize: 1 });
  const plainBody = 'x'.repeat(500_000);
  for (const subject of ['Large', 'Large, too']) {
    await mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: DANA, subject, plainBody });
  }
  const list = () => senderTo(mailbox)('GET', `${INBOX}/messages?limit=100`, { key: HELPDESK });
  await list();
  const before = memoryNow();
  for (let count = 0; count < 60; count += 1) {
    await mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: DANA, subject: `Mail ${count}` });
    await list();
  }
  expect(mailbox.journal({ kinds: ['read'] })).toHaveLength(61);
  // Each reply has two texts of 500 kB. Everything else that is new in the heap is far less.
  expect(memoryNow() - before).toBeLessThan((60 * 2 * plainBody.length) / 2);
});

test.sequential('what a request has created does not keep the request when the journal drops it', async () => {
  const mailbox = createMailbox({ journalSize: 1 });
  const call = senderTo(mailbox);
  const json = { url: 'http://127.0.0.1:9/in', events: ['message.received'], unknown: 'x'.repeat(15_000) };
  const createAndDelete = async () => {
    const created = await call('POST', '/v1/webhooks', { key: TENANT, json });
    await call('DELETE', `/v1/webhooks/${created.json.id}`, { key: TENANT });
  };
  await createAndDelete();
  const before = memoryNow();
  for (let count = 0; count < 1_200; count += 1) await createAndDelete();
  expect(mailbox.journal({ kinds: ['change'] })).toHaveLength(2_402);
  expect(mailbox.journal({ kinds: ['request'] })).toHaveLength(1);
  // Each request has a body of 15 kB; the changes themselves take far less.
  expect(memoryNow() - before).toBeLessThan((1_200 * json.unknown.length) / 2);
});

test('the bytes of drafts count, so that many versions of a large one do not fill the memory', async () => {
  const memory = () => ({ heapBytes: 61_200_000, allBytes: 128_000_000 });
  const mailbox = createMailbox({ environment: { memory } });
  const call = senderTo(mailbox);
  const { json } = await call('POST', `${INBOX}/drafts`, { key: HELPDESK, json: { subject: 'One' } });
  for (let count = 0; count < 20; count += 1) {
    const plainBody = `${count}${'x'.repeat(400_000)}`;
    const reply = await call('PATCH', `${INBOX}/drafts/${json.id}`, { key: HELPDESK, json: { plainBody } });
    expect(reply.status, JSON.stringify(reply.json)).toBe(200);
  }
  const { length } = mailbox.journal({ kinds: ['change'] });
  expect(length).toBeLessThan(9);
  expect(mailbox.journalLosses().change?.count).toBe(21 - length);
});
