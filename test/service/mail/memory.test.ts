import { createMailbox } from 'agent-mailbox-mock';
import { expect, test } from 'vitest';
import { buildMailbox } from '../../../src/mailbox/mailbox.ts';

const KIB = 1024;
const TO = { to: 'helpdesk@acme.test', from: 'dana@customer.test' };

/** The memory of a process; mail may have 1 MiB of it. */
const HEAP = { heapBytes: 4 * KIB * KIB, allBytes: Number.POSITIVE_INFINITY };
const CONTAINER = { heapBytes: Number.POSITIVE_INFINITY, allBytes: 8 * KIB * KIB };

const rawMail = (kibibytes: number) =>
  new TextEncoder().encode(`From: ${TO.from}\r\nTo: ${TO.to}\r\n\r\n${'x'.repeat(kibibytes * KIB)}`);
const file = (kibibytes: number) => ({
  ...TO,
  attachments: [{ filename: 'a', content: new Uint8Array(kibibytes * KIB) }],
});

function createSmall(memory = HEAP, options: { readonly maxMailBytes?: number } = {}) {
  const mailbox = createMailbox({ ...options, environment: { memory: () => memory } });
  const arrives = (kibibytes: number) =>
    mailbox.receiveMessage(file(kibibytes)).then(
      () => 'stored',
      ({ code }: { code: string }) => code,
    );
  return { mailbox, arrives };
}

test.each([HEAP, CONTAINER])('stored mail is limited by the memory of the process: %o', async (memory) => {
  const { mailbox, arrives } = createSmall(memory, { maxMailBytes: 1e12 });
  expect([await arrives(600), await arrives(600), await arrives(300)]).toEqual(['stored', 'STORAGE_FULL', 'stored']);
  await expect(mailbox.receiveMessage(file(600))).rejects.toThrow(
    / of 1 MiB are free\. Reset .*more memory, as by NODE_/,
  );
});

test('the option limits stored mail if there is memory for more', async () => {
  const { mailbox, arrives } = createSmall(HEAP, { maxMailBytes: 500 * KIB });
  expect(await arrives(600)).toBe('STORAGE_FULL');
  await expect(mailbox.receiveMessage(file(600))).rejects.toThrow(/ of 500 KiB are free\. Reset .* --max-mail <size>/);
});

test('a text with characters that need two bytes counts twice', async () => {
  const { mailbox } = createSmall();
  await mailbox.receiveMessage({ ...TO, plainBody: 'x'.repeat(490_000) });
  await expect(mailbox.receiveMessage({ ...TO, plainBody: '漢'.repeat(490_000) })).rejects.toThrow('it needs 957');
});

test('mail that only a checkpoint has counts until the checkpoint is removed', async () => {
  const { mailbox, arrives } = createSmall();
  await arrives(400);
  mailbox.checkpoint('one');
  mailbox.reset();
  await arrives(400);
  mailbox.checkpoint('two');
  mailbox.reset();
  expect(await arrives(400)).toBe('STORAGE_FULL');
  mailbox.removeCheckpoint('one');
  expect(await arrives(400)).toBe('stored');
});

test('mail that checkpoints share with the present state and each other counts once', async () => {
  const { mailbox, arrives } = createSmall();
  await arrives(400);
  for (const name of ['one', 'two', 'three']) mailbox.checkpoint(name);
  const { inboxId, id } = mailbox.messages()[0] ?? {};
  const path = `${mailbox.baseUrl}/v1/inboxes/${inboxId}/messages/${id}`;
  await mailbox.fetch(new Request(path, { headers: { 'X-API-Key': mailbox.keys.acme.tenant } }));
  mailbox.checkpoint('read');
  expect(await arrives(400)).toBe('stored');
  mailbox.restore('one');
  expect([await arrives(400), await arrives(400)]).toEqual(['stored', 'STORAGE_FULL']);
});

test('the mail of checkpoints of a sandbox stops counting when the sandbox is closed', async () => {
  const { mailbox, arrives } = createSmall();
  const sandbox = mailbox.createSandbox();
  await sandbox.receiveMessage({ ...file(600), to: `helpdesk@${sandbox.domain}` });
  sandbox.checkpoint('one');
  sandbox.reset();
  expect(await arrives(600)).toBe('STORAGE_FULL');
  sandbox.close();
  expect(await arrives(600)).toBe('stored');
});

test('every inbox and checkpoint shares the bytes of a mail, which no reader can change', async () => {
  const { mailbox, stateParts } = buildMailbox({});
  const { state } = stateParts;
  await mailbox.receiveMessage({ eml: rawMail(100), to: [TO.to, 'info@globex.test'] });
  const { worlds } = state.save();
  const rows = [...worlds.tenants, ...state.save().worlds.tenants].flatMap(({ messages }) => messages);
  const bytes = rows.flatMap(({ raw }) => raw ?? []);
  expect([bytes.length, new Set(bytes).size]).toEqual([4, 1]);
  const [arrived] = mailbox.messages();
  mailbox.mailSource(String(arrived?.id)).fill(0);
  expect(bytes[0]).toEqual(rawMail(100));
});

test('a snapshot, an export and a difference have bytes as base64', async () => {
  const mailbox = createMailbox();
  mailbox.checkpoint('empty');
  const [arrived] = await mailbox.receiveMessage({ eml: rawMail(1) });
  const raw = Buffer.from(rawMail(1)).toString('base64');
  expect(mailbox.snapshot().tenants[0]?.messages.at(-1)?.raw).toBe(raw);
  expect(JSON.stringify(mailbox.export())).toContain(raw);
  expect(mailbox.diff('empty', 'now').added.messages?.[String(arrived?.id)]?.raw).toBe(raw);
  const copy = createMailbox({ fixtures: mailbox.export() });
  expect(copy.snapshot()).toEqual(mailbox.snapshot());
});

test('deliveries that wait are dropped before they need more memory than there is', async () => {
  const memory = () => HEAP;
  const mailbox = createMailbox({ environment: { memory, fetch: () => Promise.reject(new Error('refused')) } });
  const url = 'https://receiver.test/hook';
  const json = JSON.stringify({ url, events: ['message.received'] });
  const headers = { 'X-API-Key': mailbox.keys.acme.tenant, 'Content-Type': 'application/json' };
  await mailbox.fetch(new Request(`${mailbox.baseUrl}/v1/webhooks`, { method: 'POST', headers, body: json }));
  for (let count = 0; count < 10; count += 1) mailbox.trigger('message.received', { plainBody: 'x'.repeat(100_000) });
  await expect.poll(() => mailbox.losses().dropped).toBeGreaterThan(5);
});
