import { expect, test } from 'vitest';
import { readBounceReport } from '../../../src/service/mail/incoming/report-bounce.ts';
import type { AttachmentRow, MessageRow } from '../../../src/world/store/rows.ts';
import { type ImapTestServer, startImap } from '../../support/imap-server.ts';
import { type ImapTalk, readFetch, type Value } from '../../support/imap-talk.ts';
import { type CorpusMail, createMailCorpus } from '../../support/mail-corpus.ts';

const CORPUS = createMailCorpus();

/** The bare addresses of an address field of an ENVELOPE, without quotes and in lower case. */
function addressesOf(field: Value | undefined): string[] {
  const entries = Array.isArray(field) ? (field as Value[][]) : [];
  return entries
    .filter(([, , , domain]) => domain !== null)
    .map(([name, , local, domain]) => (domain === '' ? local || name : `${local}@${domain}`))
    .map((address) => String(address ?? '').toLowerCase())
    .filter((address) => address !== '');
}

/** The same of an address in display form. */
function bareOf(text: string): string {
  const address = /<([^<>]*)>$/.exec(text)?.[1] ?? text;
  return address.replace(/^"((?:[^"\\]|\\.)*)"/, (_, quoted: string) => quoted.replace(/\\(.)/g, '$1')).toLowerCase();
}

const isAscii = (text: string) => /^[\0-\x7f]*$/.test(text) && !text.includes('=?');

async function envelopeOf(talk: ImapTalk): Promise<Value[]> {
  await talk.ok('NOOP');
  const [line = ''] = (await talk.ok('FETCH * (ENVELOPE)')).filter((each) => each.includes(' FETCH '));
  return readFetch(line).ENVELOPE as Value[];
}

/** Lets a mail arrive, and compares it with what must hold. Returns the id of its thread. */
async function check(running: ImapTestServer, talk: ImapTalk, mail: CorpusMail, threadId: string | undefined) {
  const { title, bytes, holds } = mail;
  const { mailbox } = running.server;
  const [arrived] = await mailbox.receiveMessage({ eml: bytes, to: 'helpdesk@acme.test' });
  const shown = mailbox.messages({ direction: 'inbound' }).at(-1);
  if (!arrived || shown?.id !== arrived.id) throw new Error(`${title} has not arrived.`);
  const raw = await running.api('GET', `/messages/${arrived.id}/raw`);
  expect(Buffer.from(raw.bytes).equals(Buffer.from(bytes)), title).toBe(true);

  const { problems = [], noReply, texts = [], files, threadOf, failures, found, references: _, ...fields } = holds;
  expect(shown, title).toMatchObject(fields);
  for (const text of texts) expect(shown.plainBody, title).toContain(text);
  if (files)
    expect(
      shown.attachments.map(({ filename }) => filename),
      title,
    ).toEqual(files);
  expect(shown.problems ?? [], title).toEqual(problems.map((start) => expect.stringContaining(start)));
  if (threadOf !== undefined) expect(arrived.threadId, title).toBe(threadId);

  const reply = await running.api('POST', `/reply/${arrived.id}`, { plainBody: 'Yes.' });
  expect([reply.status, reply.text], title).toEqual(
    noReply === undefined
      ? [200, expect.anything()]
      : [400, expect.stringContaining(JSON.stringify(noReply).slice(1, -1))],
  );

  const [, , from, , , to, cc] = await envelopeOf(talk);
  // An ENVELOPE has all senders in From, and the bytes of names that are not ASCII.
  const senders = addressesOf(from);
  if (senders.length > 0 && isAscii(bareOf(shown.from))) expect(senders, title).toContain(bareOf(shown.from));
  expect(addressesOf(to).slice(0, 50).filter(isAscii), title).toEqual(shown.to.map(bareOf).filter(isAscii));
  expect(addressesOf(cc).filter(isAscii), title).toEqual(shown.cc.map(bareOf).filter(isAscii));
  for (const [key, addresses] of [
    ['TO', shown.to],
    ['CC', shown.cc],
    ['FROM', senders.length > 0 ? [shown.from] : []],
  ] as const) {
    const [first = ''] = addresses.map((each) => /<([^<>]*)>$/.exec(each)?.[1] ?? each).filter(isAscii);
    if (first !== '') await expectFound(talk, `${key} "${first.replace(/["\\]/g, '\\$&')}"`, title);
  }
  if (found !== undefined) await expectFound(talk, found, title);
  if (failures) expect(failuresOf(running, arrived.id), title).toEqual(failures);
  return arrived.threadId;
}

async function expectFound(talk: ImapTalk, key: string, title: string): Promise<void> {
  const [line = ''] = (await talk.ok(`SEARCH * ${key}`)).filter((each) => each.startsWith('SEARCH'));
  expect(line, `${title}: SEARCH ${key}`).not.toBe('SEARCH');
}

/** Returns what a delivery report says about recipients. */
function failuresOf({ server }: ImapTestServer, id: string) {
  const tenants = server.mailbox.snapshot().tenants;
  const message = tenants.flatMap(({ messages }) => messages).find((each) => each.id === id);
  const files = tenants.flatMap(({ attachments }) => attachments).filter(({ messageId }) => messageId === id);
  const withBytes = files.map((file) => ({ ...file, content: Buffer.from(file.content, 'base64') }));
  const raw = Buffer.from(message?.raw ?? '', 'base64');
  const row = { ...message, raw, headers: { 'Return-Path': '<>' } } as unknown as MessageRow;
  const report = readBounceReport(row, () => withBytes as unknown as AttachmentRow[]);
  return (report?.failures ?? []).map(({ recipient, statusCode }) => [recipient, statusCode]);
}

test('the corpus is the same each time, and has several hundred mails of each kind of oddity', () => {
  expect(createMailCorpus().map(({ bytes }) => Buffer.from(bytes).toString('base64'))).toEqual(
    CORPUS.map(({ bytes }) => Buffer.from(bytes).toString('base64')),
  );
  expect(new Set(CORPUS.map(({ title }) => `${title}`)).size).toBeGreaterThanOrEqual(300);
});

for (const kind of new Set(CORPUS.map((mail) => mail.kind))) {
  test(`each mail of the corpus of the kind ${kind} is read as its statements say, and the same by IMAP`, async () => {
    await using running = await startImap();
    const talk = await running.session('INBOX');
    const threads = new Map<string, string>();
    for (const mail of CORPUS.filter((each) => each.kind === kind)) {
      threads.set(mail.title, await check(running, talk, mail, threads.get(mail.holds.threadOf ?? '')));
    }
  }, 120_000);
}
