import 'agent-mailbox-mock/matchers';
import { createServer } from 'node:http';
import { createMailbox } from 'agent-mailbox-mock';
import { expect, test } from 'vitest';
import type { StoryStep } from '../../../src/control/verdicts/story.ts';
import { control } from '../../support/control.ts';
import { everywhere, interceptRequests, type Service } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';
import { senderTo } from '../../support/send.ts';
import { serve } from '../../support/serve.ts';

interceptRequests();

const TENANT = 'tk_acme_tenant_key';
const DANA = 'dana@customer.test';
const HELPDESK = 'helpdesk@acme.test';
const INBOX = `/v1/inboxes/${IDS.acme.inboxes.helpdesk}`;

/** What a story says with the two webhooks of the default fixture, which are not active. */
const NO_WEBHOOK = 'No webhook of the tenant could be told of it.';

/** Tells the story by the method in process, and by the control call over HTTP. */
async function explain(service: Service, id: string): Promise<{ lines: string[]; sent: string[]; steps: StoryStep[] }> {
  const run = () => service.mailbox.explain(id) as object;
  return (await control(service, `GET /messages/${id}/story`, undefined, run)).json;
}

everywhere('the story of a mail says whom it was told to, who read it, and what came of it', async (service) => {
  const { mailbox, send } = service;
  mailbox.clock.freeze('2026-03-01T09:00:00Z');
  const [{ id = '' } = {}] = await mailbox.receiveMessage({ from: DANA, to: HELPDESK, subject: 'Hello' });
  const arrived = `09:00:00 "Hello" from ${DANA} arrived at ${HELPDESK}.`;
  expect((await explain(service, id)).lines).toEqual([arrived, NO_WEBHOOK, 'No request of an agent came after it.']);
  await send('GET', '/v1/webhooks', { key: TENANT });
  expect((await explain(service, id)).lines.slice(-3)).toEqual([
    '1 request came after it, and none read it:',
    '  req_1, GET /v1/webhooks → 200',
    'Nothing was sent because of it.',
  ]);
  await send('GET', `${INBOX}/messages/${id}`, { key: TENANT });
  const reply = await send('POST', `${INBOX}/reply/${id}`, { key: TENANT, json: { plainBody: 'Thanks.' } });
  await send('DELETE', `${INBOX}/messages/${id}`, { key: TENANT });
  await send('DELETE', `${INBOX}/messages/${reply.json.id}`, { key: TENANT });
  const told = await explain(service, id);
  expect(told.lines.slice(-3)).toEqual([
    `It was read by req_2, GET ${INBOX}/messages/${id} → 200.`,
    `09:00:00 "Re: Hello" was sent to ${DANA} by req_3.`,
    'It was deleted by deleteMessage.',
  ]);
  expect(told.sent).toHaveLength(1);
  expect((await explain(service, told.sent[0] ?? '')).lines).toEqual([
    `09:00:00 "Re: Hello" was sent to ${DANA}.`,
    expect.stringMatching(/^It was sent by req_3, POST .* → 200\.$/),
    'It was deleted by deleteMessage.',
  ]);
});

everywhere(
  'the story in short says each step on the way to an answer, and which one did not go well',
  async (service) => {
    const { mailbox, send } = service;
    mailbox.clock.freeze('2026-03-01T09:00:00Z');
    const [{ id = '' } = {}] = await mailbox.receiveMessage({ from: DANA, to: HELPDESK, subject: 'Hello' });
    const steps = async () => (await explain(service, id)).steps.map(({ text, result }) => `${text}: ${result}`);
    const start = ['Arrived 09:00:00: good', 'no webhook: good'];
    expect(await steps()).toEqual([...start, 'never read: bad', 'no answer: bad']);
    await send('GET', `${INBOX}/messages/${id}`, { key: TENANT });
    expect(await steps()).toEqual([...start, 'read: good', 'no answer: bad']);
    await send('POST', `${INBOX}/reply/${id}`, { key: TENANT, json: { plainBody: 'Thanks.' } });
    expect(await steps()).toEqual([...start, 'read: good', 'mail sent 09:00:00: good']);
    const story = await explain(service, id);
    expect(story.steps.at(-1)?.ids).toEqual(story.sent);
    const [sent = ''] = story.sent;
    expect((await explain(service, sent)).steps).toEqual([]);
  },
);

test('the story in short counts the webhooks that got a mail and those that fail', async () => {
  const fetch = async (url: unknown) => new Response(null, { status: String(url).includes('good') ? 200 : 503 });
  const mailbox = createMailbox({ environment: { fetch: async (request) => fetch(new Request(request).url) } });
  for (const name of ['good', 'bad', 'worse']) {
    await mailbox.addWebhook({ url: `http://127.0.0.1:9/${name}`, workspaceOf: HELPDESK });
  }
  mailbox.clock.freeze('2026-03-01T09:00:00Z');
  const [mail] = await mailbox.receiveMessage({ from: DANA, to: HELPDESK, subject: 'Hello' });
  await mailbox.settled();
  const step = mailbox.explain(mail as { id: string }).steps[1];
  expect(step).toMatchObject({ text: '1 of 3 webhooks delivered, 2 failing', result: 'bad' });
  expect(step?.ids).toHaveLength(3);
});

test('the story says why each webhook was not called', async () => {
  const mailbox = createMailbox({ environment: { fetch: async () => new Response() } });
  const add = (changes: object) => mailbox.addWebhook({ url: 'http://127.0.0.1:9/x?secret=1', ...changes } as never);
  await add({ workspaceOf: HELPDESK, events: ['message.sent'], url: 'http://login:pass@127.0.0.1:9/sent' });
  await add({ workspace: IDS.acme.workspaces.sales, url: 'http://127.0.0.1:9/sales' });
  const called = await add({ workspaceOf: HELPDESK });
  const [{ id = '' } = {}] = await mailbox.receiveMessage({ from: DANA, to: HELPDESK, subject: 'Hello' });
  await mailbox.settled();
  await add({ workspaceOf: HELPDESK, url: 'http://127.0.0.1:9/late' });
  const { lines, webhooks } = mailbox.explain({ id });
  expect(lines.slice(1)).toEqual([
    'The webhook http://127.0.0.1:9/sent was not called: it listens only to message.sent.',
    'The webhook http://127.0.0.1:9/sales was not called: it belongs to another workspace.',
    expect.stringMatching(/^The webhook http:\/\/127\.0\.0\.1:9\/late was not called: it was created later\.$/),
    expect.stringMatching(/^\S+ The webhook http:\/\/127\.0\.0\.1:9\/x answered 200\.$/),
    'No request of an agent came after it.',
  ]);
  expect(webhooks.find(({ webhookId }) => webhookId === called.id)).toMatchObject({
    url: 'http://127.0.0.1:9/x',
    deliveries: [expect.any(String)],
    skipped: null,
  });
});

test('the story does not say that a webhook was not called if its delivery is no longer known', async () => {
  const mailbox = createMailbox({ journalSize: 20, environment: { fetch: async () => new Response() } });
  const webhook = await mailbox.addWebhook({
    url: 'http://127.0.0.1:9/in',
    workspaceOf: HELPDESK,
    events: ['message.received'],
  });
  const [{ id = '' } = {}] = await mailbox.receiveMessage({ from: DANA, to: HELPDESK, subject: 'Hello' });
  await mailbox.settled();
  const others = { webhookId: webhook.id, id: 'evt_1' };
  for (let count = 0; count < 10_010; count += 1) mailbox.trigger('message.received', others);
  await mailbox.settled({ timeout: '25s' });
  const { lines, webhooks } = mailbox.explain({ id });
  expect(webhooks.find(({ webhookId }) => webhookId === webhook.id)?.skipped).toMatch(/no longer/);
  expect(lines.filter((line) => line.includes('127.0.0.1:9/in'))).toEqual([
    expect.stringMatching(/no longer (?:in the log|known)\.$/),
  ]);
});

test('the story tells of a webhook that a client has made inactive, not of one that never was active', async () => {
  const mailbox = createMailbox({ environment: { fetch: async () => new Response() } });
  const { id } = await mailbox.addWebhook({ url: 'http://127.0.0.1:9/in', workspaceOf: HELPDESK });
  await mailbox.client(TENANT).updateWebhook(id, { isActive: false });
  const [mail] = await mailbox.receiveMessage({ from: DANA, to: HELPDESK, subject: 'Hello' });
  const { lines, webhooks } = mailbox.explain(mail as { id: string });
  expect(lines.filter((line) => line.includes('webhook'))).toEqual([
    'The webhook http://127.0.0.1:9/in was not called: it is not active.',
  ]);
  expect(webhooks.map(({ skipped }) => skipped)).toEqual(Array(3).fill('it is not active'));
});

test('the story says that a clock is frozen while the next attempt waits', async () => {
  const mailbox = createMailbox({ environment: { fetch: async () => new Response(null, { status: 503 }) } });
  await mailbox.addWebhook({ url: 'http://127.0.0.1:9/in', workspaceOf: HELPDESK });
  mailbox.clock.freeze('2026-03-01T09:00:00Z');
  const [mail] = await mailbox.receiveMessage({ from: DANA, to: HELPDESK, subject: 'Hello' });
  await mailbox.settled();
  expect(mailbox.explain(mail as { id: string }).lines.at(-1)).toBe(
    'The next attempt is due at 09:00:05, in 5s, by a clock that is frozen.',
  );
});

test('a receiver that refuses the timestamp is told with its answer and its clock, and when the next attempt is', async () => {
  const date = new Date(Date.now() - 2 * 3_600_000).toUTCString();
  await using receiver = await serve((_, response) => {
    response.writeHead(401, { Date: date }).end('timestamp too new');
  });
  const mailbox = createMailbox();
  await mailbox.addWebhook({ url: receiver.url, workspaceOf: HELPDESK });
  const [mail] = await mailbox.receiveMessage({ from: DANA, to: HELPDESK, subject: 'Hello' });
  await mailbox.settled();
  expect(mailbox.explain(mail as { id: string }).lines.slice(-3)).toEqual([
    expect.stringMatching(
      /answered 401 \("timestamp too new"\); its clock is (?:2h|1h59m\d+s|2h\S*) behind the timestamp/,
    ),
    'No request of an agent came after it.',
    expect.stringMatching(/^The next attempt is due at \d\d:\d\d:\d\d, in [\d.]+m?s\.$/),
  ]);
});

test('a receiver that cannot be reached is told with its error', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  const mailbox = createMailbox();
  await mailbox.addWebhook({ url: `http://127.0.0.1:${port}/in`, workspaceOf: HELPDESK });
  const [mail] = await mailbox.receiveMessage({ from: DANA, to: HELPDESK });
  await mailbox.settled();
  expect(mailbox.explain(mail as { id: string }).lines.join('\n')).toMatch(/\/in failed: .*ECONNREFUSED/);
});

/** Throws an error that has an address in its message. */
function failAsReceiver(): never {
  throw new RangeError('no handler for dana@customer.test');
}

const THREW = [
  expect.stringMatching(/^\S+ The webhook http:\/\/\S+ threw RangeError: no handler for dana@customer\.test$/),
  expect.stringMatching(/^ {2}at failAsReceiver \(.*explain\.test\.ts:\d+:\d+\)$/),
];

test('a receiver that throws in place of fetch is told with its message and its stack', async () => {
  const mailbox = createMailbox({ environment: { fetch: async () => failAsReceiver() } });
  await mailbox.addWebhook({ url: 'http://127.0.0.1:9/in', workspaceOf: HELPDESK });
  const [mail] = await mailbox.receiveMessage({ from: DANA, to: HELPDESK });
  await mailbox.settled();
  const { lines } = mailbox.explain(mail as { id: string });
  expect(lines).toEqual(expect.arrayContaining(THREW));
  expect(lines.join('\n')).not.toMatch(/node_modules|node:internal/);
  expect(mailbox.deliveries()[0]?.attempts[0]).not.toHaveProperty('thrown');
});

test('a receiver that answers with the JSON of an error has not thrown', async () => {
  await using receiver = await serve((_, response) => {
    response.writeHead(500).end('{"name":"Error","message":"busy"}');
  });
  const mailbox = createMailbox();
  await mailbox.addWebhook({ url: receiver.url, workspaceOf: HELPDESK });
  const [mail] = await mailbox.receiveMessage({ from: DANA, to: HELPDESK });
  await mailbox.settled();
  expect(mailbox.explain(mail as { id: string }).lines.join('\n')).toMatch(/answered 500 \("\{.*busy/);
});

test('a request that brings the traceparent of a delivery back claims it, and no verdict rests on that', async () => {
  const sent: string[] = [];
  const mailbox = createMailbox({
    behaviours: { 'deliveries.trace': 'header' },
    environment: {
      async fetch(_, { headers }) {
        sent.push(new Headers(headers).get('traceparent') ?? '');
        return new Response(null, { status: 500 });
      },
    },
  });
  await mailbox.addWebhook({ url: 'http://127.0.0.1:9/in', workspaceOf: HELPDESK });
  const [{ id = '' } = {}] = await mailbox.receiveMessage({ from: DANA, to: HELPDESK });
  await mailbox.settled();
  const headers = { 'X-API-Key': TENANT, traceparent: `00-${sent[0]?.split('-')[1]}-00f067aa0ba902b7-01` };
  await mailbox.fetch(`${mailbox.baseUrl}/v1/me`, { headers });
  expect(mailbox.explain(id).lines.join('\n')).toContain(
    'req_1, GET /v1/me → 200 claims by its traceparent that a delivery of this mail led to it.',
  );
  expect(() => expect(mailbox).toHaveIgnored({ id })).toThrow('No agent got an event of');
});

test('the story of a mail of the fixture begins with that', () => {
  const mailbox = createMailbox();
  const { lines } = mailbox.explain(IDS.acme.messages.invoice);
  expect(lines[0]).toMatch(/ was at billing@acme\.test from the start\.$/);
  expect(lines).toContain('No request of an agent came after it.');
});

test('the story says what the journal has dropped, and has at most 20 lines', async () => {
  const mailbox = createMailbox({ journalSize: 5 });
  const send = senderTo(mailbox);
  const [{ id = '' } = {}] = await mailbox.receiveMessage({ from: DANA, to: HELPDESK });
  for (let count = 0; count < 8; count += 1) await send('GET', '/v1/health');
  for (let count = 0; count < 8; count += 1) await send('GET', '/v1/me', { key: TENANT });
  expect(mailbox.explain(id).lines.at(-1)).toBe('6 requests since then may be missing here.');
  for (let count = 0; count < 30; count += 1) {
    await send('POST', `${INBOX}/reply/${id}`, { key: TENANT, json: { plainBody: 'Thanks.' } });
  }
  const { lines } = mailbox.explain(id);
  expect([lines.length, lines.at(-1)]).toEqual([20, '…']);
});

test('an unknown mail, and what is no mail, are refused', () => {
  const mailbox = createMailbox();
  expect(() => mailbox.explain(IDS.nobody)).toThrow('The journal has no mail with this id.');
  expect(() => mailbox.explain(undefined as never)).toThrow('must be a mail with an id, or the id of a mail');
});

everywhere(
  'lists of requests and HAR say how many earlier requests are no longer kept',
  { journalSize: 3 },
  async (service) => {
    const { mailbox, send } = service;
    for (let count = 0; count < 5; count += 1) await send('GET', '/v1/webhooks', { key: TENANT });
    expect(mailbox.journalLosses()).toMatchObject({ request: { count: 2 } });
    if (service.url === mailbox.baseUrl) return;
    const list = await (await fetch(`${service.url}/__mock/requests`)).json();
    expect([list.requests.length, list.dropped.count]).toEqual([3, 2]);
    const { log } = await (await fetch(`${service.url}/__mock/requests?format=har`)).json();
    expect(log.comment).toBe('2 earlier requests are no longer kept.');
  },
);

/** What a story says of requests that show less than a text of the mail. */
const LESS_THAN_READ = [
  [
    'GET',
    '/v1/messages?limit=5',
    {},
    'It was listed by req_1, GET /v1/messages → 200, which showed its subject and a piece of its text.',
  ],
  ['GET', `${INBOX}/threads`, {}, `It was listed by req_1, GET ${INBOX}/threads → 200, which showed its subject.`],
  [
    'GET',
    `${INBOX}/messages/{id}/attachments`,
    {},
    `It was listed by req_1, GET ${INBOX}/messages/{id}/attachments → 200, which showed the names of its files.`,
  ],
  [
    'HEAD',
    `${INBOX}/messages/{id}`,
    {},
    `It was named by req_1, HEAD ${INBOX}/messages/{id} → 200, which showed nothing of it.`,
  ],
  [
    'PATCH',
    `${INBOX}/messages/{id}`,
    { json: { isRead: true } },
    `It was named by req_1, PATCH ${INBOX}/messages/{id} → 200, which showed nothing of it.`,
  ],
  ['GET', '/v1/messages/folders/counts', {}, undefined],
] as const;

for (const [method, path, options, line] of LESS_THAN_READ) {
  everywhere(`the story does not call it reading: ${method} ${path}`, async (service) => {
    const { mailbox, send } = service;
    const attachments = [{ filename: 'a.txt', content: btoa('a') }];
    const [{ id = '' } = {}] = await mailbox.receiveMessage({
      from: DANA,
      to: HELPDESK,
      subject: 'Hi',
      attachments,
    } as never);
    await send(method, path.replace('{id}', id), { key: TENANT, ...options });
    const { lines } = await explain(service, id);
    const seen = lines.filter((each) => /^It was (?:read|listed|named)/.test(each));
    expect(seen).toEqual(line === undefined ? [] : [line.replaceAll('{id}', id)]);
    expect(lines).toContain('1 request came after it, and none read it:');
    expect(lines).toContain('Nothing was sent because of it.');
    await send('GET', `${INBOX}/messages/${id}/raw`, { key: TENANT });
    expect((await explain(service, id)).lines).toContain(
      `It was read by req_2, GET ${INBOX}/messages/${id}/raw → 200.`,
    );
  });
}

test('the story tells of a download of a file alone, and of an answer that was refused', async () => {
  const mailbox = createMailbox();
  const attachments = [{ filename: 'a.txt', content: btoa('a') }];
  const [{ id = '' } = {}] = await mailbox.receiveMessage({ from: DANA, to: HELPDESK, attachments } as never);
  const [file] = (mailbox.mail(id).api as never as { attachments: { id: string }[] }).attachments;
  const path = `${INBOX}/messages/${id}/attachments/${file?.id}`;
  await senderTo(mailbox)('GET', path, { key: TENANT });
  await senderTo(mailbox)('POST', `${INBOX}/reply/${id}`, { key: TENANT, json: { plainBody: 5 } });
  expect(mailbox.explain(id).lines.slice(2)).toEqual([
    `Only a file of it was read, by req_1, GET ${path} → 200.`,
    '2 requests came after it, and none read its text:',
    `  req_1, GET ${path} → 200`,
    expect.stringMatching(/^ {2}req_2, POST .* → 400 \(.*\)$/),
    expect.stringMatching(/^An answer to it was refused: req_2, POST .* → 400 \(.*\)\.$/),
    'Nothing was sent because of it.',
  ]);
});

test('the story says what the journal no longer shows after a restore, and when it has dropped requests', async () => {
  const mailbox = createMailbox();
  const [{ id = '' } = {}] = await mailbox.receiveMessage({ from: DANA, to: HELPDESK, subject: 'Kept' });
  await senderTo(mailbox)('GET', `${INBOX}/messages/${id}`, { key: TENANT });
  mailbox.checkpoint('kept');
  mailbox.restore('kept');
  expect(mailbox.explain(id).lines).toEqual([
    `"Kept" from ${DANA} was at ${HELPDESK} when the state was last reset or restored.`,
    'The journal no longer shows what came before.',
    'No request of an agent came since then.',
  ]);

  const small = createMailbox({ journalSize: 1 });
  const [mail] = await small.receiveMessage({ from: DANA, to: HELPDESK, subject: 'Small' });
  for (let count = 0; count < 3; count += 1) await senderTo(small)('GET', '/v1/webhooks', { key: TENANT });
  expect(small.explain(mail as { id: string }).lines).toContain('At least 1 request came after it, and none read it:');

  const none = createMailbox({ journalSize: 0 });
  const [unseen] = await none.receiveMessage({ from: DANA, to: HELPDESK, subject: 'None' });
  await senderTo(none)('GET', '/v1/webhooks', { key: TENANT });
  expect(none.explain(unseen as { id: string }).lines).toContain(
    'The journal no longer shows which requests came after it.',
  );
});

test('the story does not say that no webhook could be told if the one that was told is gone', async () => {
  const mailbox = createMailbox({ environment: { fetch: async () => new Response() } });
  const told = await mailbox.addWebhook({ url: 'http://127.0.0.1:9/in', workspaceOf: HELPDESK });
  const [{ id = '' } = {}] = await mailbox.receiveMessage({ from: DANA, to: HELPDESK, subject: 'Hello' });
  await mailbox.settled();
  await mailbox.client(TENANT).deleteWebhook(told.id);
  const { lines } = mailbox.explain(id);
  expect(lines).not.toContain(NO_WEBHOOK);
  expect(lines.some((line) => line.includes('answered 200'))).toBe(true);

  const other = await mailbox.addWebhook({
    url: 'http://127.0.0.1:9/in',
    workspaceOf: HELPDESK,
    events: ['message.sent'],
  });
  const [later] = await mailbox.receiveMessage({ from: DANA, to: HELPDESK, subject: 'Later' });
  await mailbox.client(TENANT).deleteWebhook(other.id);
  expect(mailbox.explain(later as { id: string }).lines).toContain('No webhook that still exists could be told of it.');

  const sandbox = mailbox.createSandbox();
  const [inSandbox] = await sandbox.receiveMessage({ from: DANA, to: Object.values(sandbox.logins)[0]?.user ?? '' });
  sandbox.close();
  expect(mailbox.explain(inSandbox as { id: string }).lines).toContain(
    'Its tenant was removed, so the journal no longer shows which webhooks there were.',
  );
});
