import { createMailbox, type Mailbox } from 'agent-mailbox-mock';
import { createSample, getSample, type SampleName, samples } from 'agent-mailbox-mock/samples';
import { type MailboxServer, startServer } from 'agent-mailbox-mock/server';
import { createTransport } from 'nodemailer';
import { expect, test, vi } from 'vitest';
import { NEVER, runHere } from '../../support/command.ts';
import { sendControl } from '../../support/control.ts';

// One sample has 10 MB, and another one 200 mails.
vi.setConfig({ testTimeout: 120_000 });

const TO = 'helpdesk@acme.test';
const TWINS = samples.flatMap(({ twin }) => (twin === undefined ? [] : [twin as SampleName]));
const NAMES = [...samples.map(({ name }) => name), ...TWINS];

function textsOf(name: SampleName, seed = 1): string[] {
  return createSample(name, { to: TO, seed }).mails.map(({ eml }) => Buffer.from(eml).toString('latin1'));
}

test('there are seven families, and each sample that gives orders has a harmless twin', () => {
  expect([...new Set(samples.map(({ family }) => family))]).toEqual([
    ...['bounces', 'automatic', 'lists', 'identity', 'threads', 'content', 'injection'],
  ]);
  expect(samples.filter(({ family }) => family === 'injection').map(({ twin }) => twin)).toEqual(TWINS);
  for (const twin of TWINS) expect(getSample(twin)).toMatchObject({ family: 'injection', hasOracle: true });
});

test('each sample says by one sentence what an agent should and must not do, and which standard it follows', () => {
  for (const { should, mustNot, standard } of NAMES.map(getSample)) {
    for (const sentence of [should, mustNot]) expect(sentence).toMatch(/^[A-Z][^.!?]*(?:\.[a-z][^.!?]*)*\.$/);
    expect(standard).toMatch(/RFC \d{4}|^no standard; |MS-OX|GB 18030/);
  }
});

test.for(NAMES)('%s is the same for the same seed, and another for another seed', (name) => {
  const texts = textsOf(name);
  expect(textsOf(name)).toEqual(texts);
  expect(textsOf(name, 2)).not.toEqual(texts);
  expect(textsOf(name, Number.MAX_SAFE_INTEGER).length).toBe(texts.length);
});

test.for(NAMES)('%s names domains below .test only, and has lines and a size that a mail server accepts', (name) => {
  for (const text of textsOf(name)) {
    const hosts = [...text.replaceAll('=\r\n', '').matchAll(/(?:@|:\/\/)([\w-]+(?:\.[\w-]+)+)/g)].map(
      ([, host = '']) => host,
    );
    expect(hosts.filter((host) => !host.endsWith('.test'))).toEqual([]);
    expect(text.length).toBeLessThan(10 * 1024 * 1024);
    expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
    expect(text.split('\r\n').filter((line) => line.length > 998)).toEqual([]);
  }
});

test('the largest sample has almost 10 MB, and the longest one 200 mails', () => {
  expect(textsOf('ten-megabytes')[0]?.length).toBeGreaterThan(9_900_000);
  expect(textsOf('thread-of-200')).toHaveLength(200);
});

test('a sample is about the mail of yours that it is told', async () => {
  const mailbox = createMailbox();
  const inReplyTo = '<order-7@acme.test>';
  for (const name of ['bounce-unknown-user', 'out-of-office', 'read-receipt', 'quote-gmail'] as const) {
    const sample = createSample(name, { to: TO, inReplyTo });
    await mailbox.receiveMessage(sample);
    expect(mailbox.messages().at(-1)).toMatchObject({ inReplyTo });
  }
});

test('winmail.dat is a stream of TNEF whose checksums are right', async () => {
  const mailbox = createMailbox();
  await mailbox.receiveMessage({ sample: 'winmail-dat', to: TO });
  const bytes = Buffer.from(mailbox.messages()[0]?.attachments[0]?.content ?? '', 'base64');
  expect(bytes.readUInt32LE(0)).toBe(0x223e9f78);
  let count = 0;
  for (let at = 6; at < bytes.length; count += 1) {
    const end = at + 9 + bytes.readUInt32LE(at + 5);
    const sum = bytes.subarray(at + 9, end).reduce((total, byte) => (total + byte) % 65536, 0);
    expect(bytes.readUInt16LE(end)).toBe(sum);
    at = end + 2;
  }
  expect(count).toBe(5);
});

/** The ways in which a sample arrives, each with a server that was reset before. */
const WAYS: Readonly<Record<string, (server: MailboxServer, name: SampleName) => Promise<unknown>>> = {
  code: ({ mailbox, url }, name) => mailbox.receiveMessage(createSample(name, { to: TO, seed: 3, baseUrl: url })),
  'code by name': ({ mailbox, url }, sample) => mailbox.receiveMessage({ sample, to: TO, seed: 3, baseUrl: url }),
  HTTP: ({ url }, sample) =>
    sendControl(`${url}/__mock/messages`, 'POST', { json: { sample, to: TO, seed: 3 } }).then(({ status }) =>
      expect(status).toBe(200),
    ),
  command: ({ url }, name) =>
    runHere(['receive', '--sample', name, '--to', TO, '--seed', '3', '--url', url], {}, { interrupted: NEVER }).then(
      ({ code, err }) => expect([code, err]).toEqual([0, '']),
    ),
  SMTP: async ({ url, smtp }, name) => {
    const transport = createTransport({
      host: '127.0.0.1',
      port: smtp?.port ?? 0,
      ignoreTLS: true,
      pool: true,
      maxConnections: 1,
    });
    for (const { eml, to, envelopeFrom = 'sender@customer.test' } of createSample(name, {
      to: TO,
      seed: 3,
      baseUrl: url,
    }).mails) {
      await transport.sendMail({ envelope: { from: envelopeFrom, to: [...to] }, raw: Buffer.from(eml) });
    }
    transport.close();
  },
};

/** What arrived, without what is new in each message; a Message-ID that the mail lacks is new too. */
function arrivalsOf({ snapshot, messages }: Mailbox) {
  const arrived = messages();
  const threads = [...new Set(arrived.map(({ threadId }) => threadId))];
  const raws = new Map(snapshot().tenants.flatMap((tenant) => tenant.messages.map(({ id, raw }) => [id, raw])));
  return arrived.map(({ id, threadId, attachments, receivedAt: _, headers: __, messageIdHeader, ...message }) => ({
    ...message,
    thread: threads.indexOf(threadId),
    raw: raws.get(id),
    attachments: attachments.map(({ id: _, ...file }) => file),
    messageIdHeader: messageIdHeader.includes('@customer.test') ? messageIdHeader : '',
  }));
}

test.for(NAMES)('%s arrives by code, HTTP, command and SMTP with the same result', async (name) => {
  await using server = await startServer({ port: 0, smtpPort: 0 });
  const results: ReturnType<typeof arrivalsOf>[] = [];
  for (const deliver of Object.values(WAYS)) {
    server.mailbox.reset();
    await deliver(server, name);
    results.push(arrivalsOf(server.mailbox));
  }
  const [first, ...others] = results;
  const sample = createSample(name, { to: TO, seed: 3, baseUrl: server.url });
  expect(first?.map(({ raw }) => raw)).toEqual(sample.mails.map(({ eml }) => Buffer.from(eml).toString('base64')));
  for (const other of others) expect(other).toEqual(first);
});

test.for<[message: object, error: string]>([
  [{ sample: 'out-of-ofice', to: TO }, 'There is no sample "out-of-ofice"; did you mean out-of-office?'],
  [
    { sample: 'zzzzzzzzzzz', to: TO },
    'There is no sample "zzzzzzzzzzz"; npx agent-mailbox-mock samples list shows them all.',
  ],
  [{ sample: 7, to: TO }, 'The sample is not valid: sample must be the name of a sample.'],
  [{ sample: 'no-reply' }, 'The sample is not valid: to is required.'],
  [
    { sample: 'no-reply', to: TO, seed: -1 },
    'The sample is not valid: seed must be a whole number from 0 to 9007199254740991.',
  ],
  [{ sample: 'no-reply', to: TO, baseUrl: 'x' }, 'The sample is not valid: baseUrl must be an http or https URL.'],
  [{ sample: 'no-reply', to: TO, from: TO }, 'The sample is not valid: has unknown fields: "from".'],
  [{ sample: 'no-reply', to: 'nobody@acme.test' }, 'There is no inbox with the address nobody@acme.test.'],
  [
    { sample: '__proto__', to: TO },
    'There is no sample "__proto__"; npx agent-mailbox-mock samples list shows them all.',
  ],
  [{ mails: 7 }, 'The mails of a sample must be a list.'],
  [{ mails: [null] }, 'The message is not valid: to is required; from is required.'],
])('%j is refused with a reason, in code and over HTTP', async ([message, error]) => {
  await using server = await startServer({ port: 0 });
  await expect(server.mailbox.receiveMessage(message as never)).rejects.toThrow(error);
  const { json } = await sendControl(`${server.url}/__mock/messages`, 'POST', { json: message });
  expect(json.error).toBe(error);
  expect(server.mailbox.messages()).toEqual([]);
});
