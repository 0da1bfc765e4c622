import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { type BehaviourOptions, createMailbox, type Mailbox } from 'agent-mailbox-mock';
import { createReceiver, type Receiver, type ReceiverAnswer } from 'agent-mailbox-mock/receiver';
import { startServer } from 'agent-mailbox-mock/server';
import { http } from 'msw';
import { setupServer } from 'msw/node';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { ADDRESS } from '../../support/inbox-clients.ts';
import { senderTo } from '../../support/send.ts';
import { createWebhook } from '../../support/webhooks.ts';

const msw = setupServer();
beforeAll(() => msw.listen({ onUnhandledRequest: 'bypass' }));
afterAll(() => msw.close());

let count = 0;

/** A mailbox, and how a receiver gets an address at which the mailbox finds it. */
interface Setting extends AsyncDisposable {
  readonly mailbox: Mailbox;
  place(receiver: Receiver): Promise<string>;
}

/** A mailbox in this process, and receivers behind msw handlers for public URLs. */
async function openInProcess(behaviours: BehaviourOptions): Promise<Setting> {
  count += 1;
  const mailbox = createMailbox({ behaviours, baseUrl: `https://n${count}.mailbox.test` });
  msw.use(...mailbox.handlers);
  return {
    mailbox,
    async place(receiver) {
      count += 1;
      const url = `https://hooks${count}.example/in`;
      msw.use(http.post(url, ({ request }) => receiver.fetch(request)));
      return url;
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

/** A server with a mailbox, and receivers that are servers too. */
async function openServers(behaviours: BehaviourOptions): Promise<Setting> {
  const server = await startServer({ port: 0, behaviours });
  return {
    mailbox: server.mailbox,
    place: async (receiver) => `${await receiver.listen()}/in`,
    [Symbol.asyncDispose]: () => server.close(),
  };
}

/** A webhook of Acme that leads to a receiver. */
async function hook({ mailbox, place }: Setting, receiver: Receiver) {
  return createWebhook({ mailbox, send: senderTo(mailbox) }, await place(receiver));
}

const receiveMail = ({ mailbox }: Setting) =>
  mailbox.receiveMessage({ from: ADDRESS.dana, to: ADDRESS.helpdesk, subject: 'Grüße 😀' });

describe.for([
  ['behind an msw handler for a public URL', openInProcess],
  ['as a server', openServers],
] as const)('a receiver %s', ([, open]) => {
  test('verifies and records each request, and answers 200', async ({ expect }) => {
    await using setting = await open({});
    await using receiver = createReceiver();
    const { id, secret } = await hook(setting, receiver);
    receiver.secret = secret;
    const [arrived] = await receiveMail(setting);
    const [request] = await receiver.received(1);
    expect(request).toMatchObject({
      path: '/in',
      headers: { 'content-type': 'application/json', 'webhook-id': request?.json.id },
      json: { event: 'message.received', messageId: arrived?.id, subject: 'Grüße 😀' },
      verified: true,
      problem: null,
      answer: 200,
    });
    expect(request?.body).toBe(JSON.stringify(request?.json));
    await setting.mailbox.settled();
    expect(setting.mailbox.deliveries({ webhookId: id })).toMatchObject([
      { state: 'delivered', attempts: [{ requestBody: request?.body }] },
    ]);
  });

  test('answers 401 to a wrong secret, and keeps its script for requests that verify', async ({ expect }) => {
    await using setting = await open({});
    await using receiver = createReceiver({ answers: [{ status: 202, body: 'taken' }] });
    const { id, secret } = await hook(setting, receiver);
    receiver.secret = `whsec_${btoa('another secret of 32 bytes......')}`;
    await receiveMail(setting);
    await setting.mailbox.settled();
    expect(receiver.requests).toMatchObject([
      { verified: false, problem: 'No matching signature found', answer: 401, json: { subject: 'Grüße 😀' } },
    ]);
    receiver.secret = secret;
    await setting.mailbox.clock.advance('5s');
    expect(receiver.requests[1]).toMatchObject({ verified: true, problem: null, answer: { status: 202 } });
    expect(setting.mailbox.deliveries({ webhookId: id })).toMatchObject([
      { state: 'delivered', attempts: [{ status: 401 }, { status: 202, responseBody: 'taken' }] },
    ]);
  });

  test('answers by its script with an error, a timeout and a success', async ({ expect }) => {
    await using setting = await open({ 'deliveries.timeout': '1s' });
    const { mailbox } = setting;
    mailbox.clock.freeze();
    await using receiver = createReceiver({ answers: [500, 'timeout'] });
    const { id, secret } = await hook(setting, receiver);
    receiver.secret = secret;
    receiver.answer(200, 503);
    await receiveMail(setting);
    await mailbox.settled();
    await mailbox.clock.advance('5s');
    await mailbox.clock.advance('5m');
    expect(mailbox.deliveries({ webhookId: id })).toMatchObject([
      { state: 'delivered', attempts: [{ status: 500 }, { status: null }, { status: 200 }] },
    ]);
    expect(receiver.requests.map(({ answer, verified }) => [answer, verified])).toEqual([
      [500, true],
      ['timeout', true],
      [200, true],
    ]);
    const [next] = mailbox.trigger('message.received', { webhookId: id });
    await mailbox.settled();
    expect(mailbox.delivery(next?.id ?? '').attempts[0]?.status).toBe(503);
  });

  test('answers with a status, headers and a body', async ({ expect }) => {
    await using setting = await open({});
    await using receiver = createReceiver();
    const { id } = await hook(setting, receiver);
    for (const [answer, status, headers, body] of [
      [204, 204, {}, ''],
      [{ status: 201 }, 201, {}, ''],
      [{ status: 200, headers: { 'X-Note': 'yes' }, body: 'Grüße' }, 200, { 'x-note': 'yes' }, 'Grüße'],
      [{ status: 429, headers: { 'Retry-After': '60' }, body: '{}' }, 429, { 'retry-after': '60' }, '{}'],
    ] as const) {
      receiver.answer(answer);
      const [fired] = setting.mailbox.trigger('message.received', { webhookId: id });
      await setting.mailbox.settled();
      const [attempt] = setting.mailbox.delivery(fired?.id ?? '').attempts;
      expect(attempt).toMatchObject({ status, responseBody: body, responseHeaders: headers });
    }
  });

  test('verifies by any of several secrets, and verifies nothing without one', async ({ expect }) => {
    await using setting = await open({});
    await using receiver = createReceiver();
    const one = await hook(setting, receiver);
    const two = await hook(setting, receiver);
    const three = await hook(setting, receiver);
    await receiveMail(setting);
    await setting.mailbox.settled();
    expect(receiver.requests.map(({ verified, problem, answer }) => [verified, problem, answer])).toEqual(
      Array.from({ length: 3 }, () => [undefined, null, 200]),
    );
    receiver.secret = [one.secret, two.secret];
    await receiveMail(setting);
    await setting.mailbox.settled();
    expect(receiver.requests.slice(3).map(({ verified }) => verified)).toHaveLength(3);
    const statusOf = (webhookId: string) =>
      setting.mailbox
        .deliveries({ webhookId })
        .at(-1)
        ?.attempts.map(({ status }) => status);
    expect([one, two, three].map(({ id }) => statusOf(id))).toEqual([[200], [200], [401]]);
  });
});

const SECRET = `whsec_${btoa('0123456789abcdefghijklmnopqrstuv')}`;
const NOW = new Date('2026-03-01T09:00:00.000Z');

/** A request as a sender signs it; headers that are set to undefined are left out. */
function sign(body: string, { at = NOW, path = '/in?x=1', ...headers }: Record<string, unknown> & { at?: Date } = {}) {
  const all = {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(SECRET).sign('evt_1', at, body),
    ...headers,
  };
  const fields = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  return new Request(`https://receiver.test${path}`, { method: 'POST', headers: fields as [string, string][], body });
}

const createAt = (now = NOW, options: object = {}) => createReceiver({ secret: SECRET, now: () => now, ...options });
const MINUTE = 60_000;

test.for<[title: string, request: () => Request, problem: string | null]>([
  ['right', () => sign('{}'), null],
  ['of five minutes ago', () => sign('{}', { at: new Date(NOW.getTime() - 5 * MINUTE) }), null],
  ['of five minutes ahead', () => sign('{}', { at: new Date(NOW.getTime() + 5 * MINUTE) }), null],
  ['older', () => sign('{}', { at: new Date(NOW.getTime() - 5 * MINUTE - 1_000) }), 'is more than 5 minutes from'],
  ['further ahead', () => sign('{}', { at: new Date(NOW.getTime() + 5 * MINUTE + 1_000) }), 'is more than 5 minutes'],
  ['with a timestamp that is none', () => sign('{}', { 'webhook-timestamp': 'soon' }), 'soon is more than 5 minutes'],
  ['without an id', () => sign('{}', { 'webhook-id': undefined }), 'Missing required headers'],
  ['without a timestamp', () => sign('{}', { 'webhook-timestamp': undefined }), 'Missing required headers'],
  ['without a signature', () => sign('{}', { 'webhook-signature': undefined }), 'Missing required headers'],
  ['with another id', () => sign('{}', { 'webhook-id': 'evt_2' }), 'No matching signature found'],
  ['with another signature', () => sign('{}', { 'webhook-signature': 'v1,AAAA' }), 'No matching signature found'],
  ['with a signature of another version', () => sign('{}', { 'webhook-signature': 'v2,AAAA' }), 'No matching'],
])('a request that is %s is told so', async ([, request, problem], { expect }) => {
  const receiver = createAt();
  const { status } = await receiver.fetch(request());
  expect(status).toBe(problem === null ? 200 : 401);
  const expected = problem === null ? null : expect.stringContaining(problem);
  expect(receiver.requests).toMatchObject([{ verified: problem === null, problem: expected, path: '/in?x=1' }]);
});

test('one valid signature of several is enough', async ({ expect }) => {
  const receiver = createAt();
  const right = new Webhook(SECRET).sign('evt_1', NOW, '{}');
  for (const signature of [`v1,AAAA ${right}`, `${right} v1,AAAA`, `v2,AAAA ${right}`]) {
    await receiver.fetch(sign('{}', { 'webhook-signature': signature }));
  }
  expect(receiver.requests.map(({ verified }) => verified)).toEqual([true, true, true]);
});

test('a receiver without the option now compares timestamps with real time', async ({ expect }) => {
  const receiver = createReceiver({ secret: SECRET });
  await receiver.fetch(sign('{}', { at: new Date() }));
  await receiver.fetch(sign('{}', { at: new Date(Date.now() - 10 * MINUTE) }));
  expect(receiver.requests.map(({ problem }) => problem)).toEqual([
    null,
    expect.stringMatching(/^Message timestamp too old; if the behaviour deliveries.timestamp .* is clock, /),
  ]);
});

test('an invalid secret is refused, as an option and when it is set', ({ expect }) => {
  for (const secret of ['', 'secret', 'whsec_???', [], ['whsec_c2VjcmV0', 5], null, 5]) {
    const said = /^The secret must be that of a webhook, whsec_ followed by base64, or a list of such secrets, not /;
    expect(() => createReceiver({ secret: secret as string })).toThrow(said);
    const receiver = createReceiver();
    expect(() => {
      receiver.secret = secret as string;
    }).toThrow(said);
    expect(receiver.secret).toBeUndefined();
  }
});

test('an impossible answer is refused, and the script is unchanged', async ({ expect }) => {
  const wrong: unknown[] = ['Timeout', 'ok', null, {}, { status: '200' }, 99, 600, 200.5];
  wrong.push({ status: 204, body: 'x' }, { status: 200, headers: { 'not a name': 'x' } });
  const said = /^An answer must be a status from 200 to 599, 'timeout', or \{ status, headers, body \}/;
  for (const answer of wrong as ReceiverAnswer[]) {
    expect(() => createReceiver({ answers: [200, answer] })).toThrow(said);
    const receiver = createReceiver({ answers: [503] });
    expect(() => receiver.answer(500, answer)).toThrow(said);
    expect([(await receiver.fetch(sign('{}'))).status, (await receiver.fetch(sign('{}'))).status]).toEqual([503, 200]);
  }
});

test('a body that is not JSON is kept as text, an empty one too', async ({ expect }) => {
  const receiver = createReceiver();
  await receiver.fetch(sign('{"half'));
  await receiver.fetch(new Request('https://receiver.test/'));
  expect(receiver.requests).toMatchObject([
    { body: '{"half', json: undefined },
    { body: '', json: undefined, path: '/' },
  ]);
});

test('a receiver accepts any path, method and size', async ({ expect }) => {
  await using receiver = createReceiver();
  const url = await receiver.listen();
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  await fetch(url);
  await fetch(`${url}/a/b?c=%20d`, { method: 'PUT', body: 'x'.repeat(2_000_000), headers: { 'X-Name': 'yes' } });
  expect(receiver.requests.map(({ path, body }) => [path, body.length])).toEqual([
    ['/', 0],
    ['/a/b?c=%20d', 2_000_000],
  ]);
  expect(receiver.requests[1]?.headers).toMatchObject({ 'x-name': 'yes', 'content-length': '2000000' });
});

test('received resolves at once if there are enough requests, and otherwise waits', async ({ expect }) => {
  const receiver = createReceiver();
  expect(await receiver.received(0)).toEqual([]);
  const [one, two] = [receiver.received(1), receiver.received(2)];
  await receiver.fetch(sign('"a"'));
  expect((await one).map(({ json }) => json)).toEqual(['a']);
  await receiver.fetch(sign('"b"'));
  expect((await two).map(({ json }) => json)).toEqual(['a', 'b']);
  expect(await receiver.received(1)).toHaveLength(2);
});

test('received rejects after its timeout, with the number of requests that came', async ({ expect }) => {
  const receiver = createReceiver();
  await receiver.fetch(sign('{}'));
  await expect(receiver.received(3, 10)).rejects.toThrow('1 of 3 requests came within 10 ms.');
});

test('a receiver closes hanging connections, and cannot be reached afterwards', async ({ expect }) => {
  const receiver = createReceiver({ answers: ['timeout', 'timeout'] });
  const url = await receiver.listen();
  const hanging = [fetch(url, { method: 'POST', body: 'a' }), fetch(url)].map((call) =>
    call.then(
      () => 'answered',
      () => 'broken off',
    ),
  );
  await receiver.received(2);
  await receiver.close();
  expect(await Promise.all(hanging)).toEqual(['broken off', 'broken off']);
  await expect(fetch(url)).rejects.toThrow();
  await receiver.close();
  expect(receiver.requests).toHaveLength(2);
});

test('a receiver leaves it to its clients to end a connection, and ends it when it closes', async ({ expect }) => {
  const receiver = createReceiver();
  const url = await receiver.listen();
  using agent = Object.assign(new Agent({ keepAlive: true }), { [Symbol.dispose]: () => agent.destroy() });
  const [response] = await once(get(url, { agent }), 'response');
  const { socket } = response;
  // A receiver that would end it after a while says so.
  expect(response.headers).not.toHaveProperty('keep-alive');
  expect(response.headers.connection).toBe('keep-alive');
  response.resume();
  const closed = once(socket, 'close');
  await receiver.close();
  await closed;
});

test('listen resolves with the URL, and can be called again after close', async ({ expect }) => {
  await using receiver = createReceiver();
  await receiver.close();
  const url = await receiver.listen();
  expect(await receiver.listen()).toBe(url);
  await receiver.close();
  const again = await receiver.listen();
  expect((await fetch(again)).status).toBe(200);
});

test('two concurrent calls of listen start one server', async ({ expect }) => {
  const receiver = createReceiver();
  const [url, same] = await Promise.all([receiver.listen(), receiver.listen()]);
  expect(url).toBe(same);
  await receiver.close();
  await expect(fetch(url)).rejects.toThrow();
});

test('a timeout answer through fetch ends when the caller aborts', async ({ expect }) => {
  const receiver = createReceiver({ answers: ['timeout', 'timeout'] });
  const caller = new AbortController();
  const hanging = receiver.fetch(new Request('https://receiver.test/', { signal: caller.signal }));
  caller.abort();
  expect((await hanging).status).toBe(504);
  const aborted = new Request('https://receiver.test/', { signal: AbortSignal.abort() });
  expect((await receiver.fetch(aborted)).status).toBe(504);
});

test('listen rejects on a port in use, and can then be called with a free one', async ({ expect }) => {
  await using first = createReceiver();
  const { port } = new URL(await first.listen());
  const second = createReceiver();
  await expect(second.listen(Number(port))).rejects.toMatchObject({ code: 'EADDRINUSE' });
  await second.close();
  expect(await second.listen()).not.toBe(await first.listen());
  await second.close();
});
