import { once } from 'node:events';
import { startServer } from 'agent-mailbox-mock/server';
import { expect, test } from 'vitest';
import { MAX_FRAME_BYTES } from '../../../src/contract/stream-protocol.ts';
import { createHttpServer } from '../../../src/server/http/http-server.ts';
import { createBareApp } from '../../support/bare-app.ts';
import { checkReply } from '../../support/check-reply.ts';
import { eventually } from '../../support/eventually.ts';
import { IDS } from '../../support/ids.ts';
import { withoutTimeOfDay, withoutTimes } from '../../support/log.ts';
import { exchange, openConnection, type RawReply, request, watchForCrashes, within } from '../../support/raw-http.ts';
import {
  expectServed,
  frameOf,
  KEY,
  listen,
  openRawStream,
  type Served,
  upgrade,
  withKey,
} from '../../support/served-streams.ts';
import { openSocket, type Refused, refusalOf } from '../../support/stream-client.ts';
import { KEYS } from '../../support/streams.ts';

watchForCrashes();

const { helpdesk, billing } = IDS.acme.inboxes;

function expectError(server: Served, reply: RawReply, status: number, code: string): void {
  checkReply(server.mailbox, 'GET', '/', reply);
  expect([reply.status, reply.json]).toEqual([status, { error: expect.any(String), code }]);
}

const shortly = ({ status, json }: Refused) => [status, json.code];

test('a stream that is refused has the error body instead of the upgrade', async () => {
  await using server = await startServer({ port: 0 });
  const refuse = async (path: string, headers = {}) => await refusalOf(openSocket(server.url + path, headers));
  const missing = await refuse('/v1/ws');
  expect(missing.json).toEqual({ error: expect.stringContaining('?api_key=<key>'), code: 'UNAUTHORIZED' });
  expect([missing.status, missing.headers.get('content-type'), missing.headers.get('www-authenticate')]).toEqual([
    401,
    'application/json',
    'Bearer',
  ]);
  expect(shortly(await refuse('/v1/ws?api_key=nonsense'))).toEqual([401, 'UNAUTHORIZED']);
  expect(shortly(await refuse('/v1/ws', { 'X-API-Key': KEYS.operator }))).toEqual([403, 'FORBIDDEN']);
  expect(shortly(await refuse(`/v1/inboxes/${IDS.nobody}/ws`, withKey()))).toEqual([404, 'NOT_FOUND']);
  expect(shortly(await refuse(`/v1/inboxes/${IDS.globex.inboxes.info}/ws`, withKey()))).toEqual([404, 'NOT_FOUND']);
  await expectServed(server);
});

test.each(['/v1/nowhere', '/v1/ws/', '/v1/ws/x', '/ws', '/', '/__mock/ws', '/v1/inboxes/ws'])(
  'an upgrade to %s, which is no stream, is not there',
  async (path) => {
    await using server = await startServer({ port: 0 });
    expect(shortly(await refusalOf(openSocket(server.url + path, withKey())))).toEqual([404, 'NOT_FOUND']);
  },
);

test('an upgrade request for an operation is handled as a plain request', async () => {
  await using server = await startServer({ port: 0 });
  const { status, json } = await refusalOf(openSocket(`${server.url}/v1/webhooks`, withKey()));
  expect([status, json.webhooks.length]).toEqual([200, 2]);
  expect((await refusalOf(openSocket(`${server.url}/__mock/health`))).status).toBe(200);
});

test.each(['/v1/x/../ws', '/v1/./ws', '/v1/%2e/ws', '/v1/ws?', '/v1/ws?x=1&api_key=y'])(
  'an upgrade to %s is one to the stream',
  async (path) => {
    await using server = await startServer({ port: 0 });
    const reply = await exchange(server, request(`GET ${path}`, [KEY, ...upgrade()]));
    expect([reply.status, reply.headers.get('sec-websocket-accept')]).toEqual([101, 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=']);
  },
);

test.each(['https://evil.example', 'null', 'http://localhost.evil.example', 'file://', '', 'http://127.0.0.1.evil'])(
  'a page of the origin "%s" may not open a stream, whatever key it has',
  async (Origin) => {
    await using server = await startServer({ port: 0 });
    for (const path of ['/v1/ws', `/v1/inboxes/${helpdesk}/ws`, `/v1/ws?api_key=${KEYS.acme.tenant}`]) {
      for (const headers of [[KEY], []]) {
        const reply = await exchange(server, request(`GET ${path}`, [...headers, ...upgrade({ Origin })]));
        expectError(server, reply, 403, 'FOREIGN_ORIGIN');
        expect(reply.headers.get('access-control-allow-origin')).toBeNull();
      }
    }
  },
);

test.each(['http://localhost:3000', 'http://127.0.0.1', 'https://app.localhost', 'http://[::1]:5173'])(
  'a page of the loopback origin %s may open a stream',
  async (Origin) => {
    await using server = await startServer({ port: 0 });
    await using client = await listen(server, withKey({ Origin }));
    server.mailbox.trigger('message.received', { inboxId: billing });
    expect(await client.next()).toMatchObject({ message: { inbox_id: billing } });
  },
);

test('a page of an origin that is allowed may open a stream, and others still may not', async () => {
  await using server = await startServer({ port: 0, corsOrigins: ['https://front.example'] });
  await using client = await listen(server, withKey({ Origin: 'https://front.example' }));
  expect(await client.news()).toEqual([]);
  const foreign = openSocket(`${server.url}/v1/ws`, withKey({ Origin: 'https://back.example' }));
  expect(shortly(await refusalOf(foreign))).toEqual([403, 'FOREIGN_ORIGIN']);
  await using open = await startServer({ port: 0, corsOrigins: ['*'] });
  await using anybody = await listen(open, withKey({ Origin: 'https://back.example' }));
  expect(await anybody.news()).toEqual([]);
});

test.each(['evil.example', 'localhost.evil.example', '0.0.0.0', 'user@localhost'])(
  'a stream at the foreign Host "%s" is refused',
  async (host) => {
    await using server = await startServer({ port: 0 });
    const reply = await exchange(server, request('GET /v1/ws', [KEY, `Host: ${host}`, ...upgrade()]));
    expectError(server, reply, 403, 'HOST_NOT_ALLOWED');
  },
);

test('a stream at a Host that is allowed is opened', async () => {
  await using server = await startServer({ port: 0, allowHosts: ['mailbox.internal'] });
  const reply = await exchange(server, request('GET /v1/ws', [KEY, 'Host: mailbox.internal', ...upgrade()]));
  expect(reply.status).toBe(101);
});

test.each([
  ['no Sec-WebSocket-Key', { 'Sec-WebSocket-Key': undefined }],
  ['a Sec-WebSocket-Key that is none', { 'Sec-WebSocket-Key': 'short' }],
  ['no Sec-WebSocket-Version', { 'Sec-WebSocket-Version': undefined }],
  ['a Sec-WebSocket-Version that there is not', { 'Sec-WebSocket-Version': '99' }],
])('an upgrade with %s is refused with the error body, and logged', async (_, fields) => {
  const log: string[] = [];
  await using server = await startServer({ port: 0, log: (line) => log.push(line) });
  await using connection = await openConnection(server);
  await connection.send(request('GET /v1/ws', [KEY, ...upgrade(fields)]));
  const raw = await connection.reply();
  expectError(server, raw, 400, 'VALIDATION_ERROR');
  connection.socket.end();
  await connection.over();
  expect(log.map(withoutTimes)).toEqual(['stream 400 GET /v1/ws VALIDATION_ERROR _ ms tk_acme_…']);
  await expectServed(server);
});

test('an upgrade with another Sec-WebSocket-Version is told which ones there are', async () => {
  await using server = await startServer({ port: 0 });
  const lines = upgrade({ 'Sec-WebSocket-Version': '99' });
  const { headers } = await exchange(server, request('GET /v1/ws', [KEY, ...lines]));
  expect(headers.get('sec-websocket-version')).toBe('13, 8');
});

test('Upgrade without Connection is ignored', async () => {
  await using server = await startServer({ port: 0 });
  const lines = upgrade({ Connection: 'keep-alive' });
  expectError(server, await exchange(server, request('GET /v1/ws', [KEY, ...lines])), 426, 'UPGRADE_REQUIRED');
});

test.each(['POST', 'PUT', 'DELETE', 'PATCH'])('%s with an upgrade is refused with a hint to GET', async (method) => {
  await using server = await startServer({ port: 0 });
  const reply = await exchange(server, request(`${method} /v1/ws`, [KEY, ...upgrade()]));
  expectError(server, reply, 405, 'METHOD_NOT_ALLOWED');
  expect(reply.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
});

const H2C = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA'];

test('a request without a body that asks for another protocol is handled as usual', async () => {
  await using server = await startServer({ port: 0 });
  for (const offer of [H2C, ['Connection: Upgrade', 'Upgrade: TLS/1.0, HTTP/1.1'], upgrade({ Upgrade: 'wss' })]) {
    const list = await exchange(server, request('GET /v1/webhooks', [KEY, ...offer]));
    expect([list.status, list.json.webhooks.length]).toEqual([200, 2]);
    expectError(server, await exchange(server, request('GET /v1/ws', [KEY, ...offer])), 426, 'UPGRADE_REQUIRED');
    const deletion = request(`DELETE /v1/webhooks/${IDS.nobody}`, [KEY, ...offer, 'Content-Length: 0']);
    expectError(server, await exchange(server, deletion), 404, 'NOT_FOUND');
    expectError(server, await exchange(server, request('POST /v1/webhooks', [KEY, ...offer])), 400, 'VALIDATION_ERROR');
  }
});

const WEBHOOK = '{"url":"http://127.0.0.1:9/","events":["message.received"]}';

// Java's client sends every request like this.
test.each([
  [`Content-Length: ${WEBHOOK.length}`, WEBHOOK],
  ['Transfer-Encoding: chunked', `${WEBHOOK.length.toString(16)}\r\n${WEBHOOK}\r\n0\r\n\r\n`],
])('a request that asks for another protocol has its body by %s', async (length, body) => {
  await using server = await startServer({ port: 0 });
  for (const offer of [H2C, upgrade()]) {
    const lines = [KEY, 'Content-Type: application/json', length, ...offer];
    const reply = await exchange(server, request('POST /v1/webhooks', lines, body));
    expect([reply.status, reply.json.url]).toEqual([201, 'http://127.0.0.1:9/']);
  }
});

const UPGRADES: [title: string, second: string, status: number][] = [
  ['a stream', request('GET /v1/ws', [KEY, ...upgrade()]), 101],
  ['a stream that is refused', request('GET /v1/ws', upgrade()), 401],
  ['another protocol', request('GET /health', H2C), 200],
  ['a tunnel', request('CONNECT localhost:80'), 405],
];

test.each(UPGRADES)('%s that is requested right after another request does no harm', async (_, second, status) => {
  await using server = await startServer({ port: 0 });
  await using connection = await openConnection(server);
  await connection.send(request('GET /v1/webhooks', [KEY]) + second);
  expect((await connection.reply()).status).toBe(200);
  const reply = await connection.reply().catch(() => undefined);
  // It may be served in order or refused, but the server must respond and keep running.
  if (reply) expect([status, 400]).toContain(reply.status);
  else await connection.over();
  await expectServed(server);
});

test.each(UPGRADES)('a client that disconnects while %s is queued does no harm', async (_, second) => {
  await using server = await startServer({ port: 0 });
  const first = request('GET /v1/webhooks', [KEY]);
  for (let count = 1; count <= 20; count += 1) {
    const connection = await openConnection(server);
    await connection.send(first.repeat(1 + (count % 5)) + second);
    connection.socket.resetAndDestroy();
    await connection.over();
  }
  await expectServed(server);
});

test('a stream can be opened on a connection that was used before', async () => {
  await using server = await startServer({ port: 0 });
  await using connection = await openConnection(server);
  await connection.send(request('GET /health'));
  expect((await connection.reply()).status).toBe(200);
  await connection.send(request('GET /v1/ws', [KEY, ...upgrade()]));
  expect((await connection.reply()).status).toBe(101);
});

test('a frame that comes in the same packet as the upgrade is read', async () => {
  await using server = await startServer({ port: 0 });
  await using connection = await openConnection(server);
  const ask = Buffer.from(request('GET /v1/ws', [KEY, ...upgrade()]));
  const subscribed = readUntil(connection.socket, '"type":"subscribed"');
  await connection.send(Buffer.concat([ask, frameOf('{"type":"subscribe"}')]));
  await subscribed;
});

/** Waits until a text has been received on a raw socket. */
async function readUntil(socket: NodeJS.EventEmitter, wanted: string): Promise<void> {
  let seen = '';
  await within(
    (async () => {
      while (!seen.includes(wanted)) seen += String((await once(socket, 'data'))[0]);
    })(),
  );
}

const WRONG_BYTES: Record<string, Buffer> = {
  'no frames': Buffer.from('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n'),
  'a frame without a mask': frameOf('{"type":"pong"}', { masked: false }),
  'an opcode that there is not': frameOf('x', { opcode: 7 }),
  'the end of a message without a beginning': frameOf('x', { opcode: 0 }),
  'a ping in two parts': frameOf('x', { opcode: 9, final: false }),
  'a ping that is too long': frameOf('x'.repeat(126), { opcode: 9 }),
  'a text that is not UTF-8': frameOf(Buffer.from([0xff, 0xfe])),
  'a close code that is none': frameOf(Buffer.from([0, 1]), { opcode: 8 }),
  'a length of 2^63': Buffer.from([0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]),
};

test.each(Object.entries(WRONG_BYTES))('a stream that receives %s is closed, and no other stream', async (_, bytes) => {
  await using server = await startServer({ port: 0 });
  await using other = await listen(server);
  await using connection = await openRawStream(server);
  await connection.send(bytes);
  connection.socket.end();
  await connection.over();
  server.mailbox.trigger('message.received', { inboxId: helpdesk });
  expect(await other.news()).toHaveLength(1);
  await expectServed(server);
});

test.each(['destroy', 'resetAndDestroy'] as const)('a client that disconnects by %s() does no harm', async (leave) => {
  await using server = await startServer({ port: 0 });
  await using other = await listen(server);
  const half = request('GET /v1/ws', [KEY, ...upgrade()]);
  for (const sent of [half.slice(0, 40), half.slice(0, -2), half, `${half}\x81`]) {
    const connection = await openConnection(server);
    await connection.send(sent);
    connection.socket[leave]();
    await connection.over();
  }
  const open = await openRawStream(server);
  server.mailbox.trigger('message.received', { inboxId: helpdesk });
  open.socket[leave]();
  for (let left = 20; left > 0; left -= 1) server.mailbox.trigger('message.received', { inboxId: helpdesk });
  await open.over();
  expect(await other.news()).toHaveLength(21);
  await expectServed(server);
});

test('a message in many fragments is handled as one', async () => {
  await using server = await startServer({ port: 0 });
  await using connection = await openRawStream(server);
  const parts = ['{"type":', '"subscr', 'ibe"}'];
  for (const [index, part] of parts.entries()) {
    await connection.send(frameOf(part, { opcode: index === 0 ? 1 : 0, final: index === parts.length - 1 }));
  }
  await readUntil(connection.socket, '"type":"subscribed"');
});

test('a frame that is too large closes its stream with 1009, and no other stream', async () => {
  await using server = await startServer({ port: 0 });
  await using other = await listen(server);
  await using client = await listen(server);
  const padded = (length: number) => JSON.stringify({ type: 'pong' }).padEnd(length);
  client.send(padded(MAX_FRAME_BYTES));
  expect(await client.news()).toEqual([]);
  client.send(padded(MAX_FRAME_BYTES + 1));
  expect((await client.closed).code).toBe(1009);
  expect(await other.news()).toEqual([]);
  await expectServed(server);
});

test('a protocol ping is answered, and a close is answered with its code', async () => {
  await using server = await startServer({ port: 0 });
  await using client = await listen(server);
  client.socket.ping('are you there');
  const [data] = await within(once(client.socket, 'pong'));
  expect(String(data)).toBe('are you there');
  client.close(4000);
  expect((await client.closed).code).toBe(4000);
});

test('200 clients at once all receive an event', async () => {
  await using server = await startServer({ port: 0 });
  const clients = await Promise.all(Array.from({ length: 200 }, () => listen(server)));
  server.mailbox.trigger('message.received', { inboxId: helpdesk, subject: 'To all' });
  const subjects = await Promise.all(clients.map(async (client) => (await client.next('event')).message.subject));
  expect(new Set(subjects)).toEqual(new Set(['To all']));
  expect(subjects).toHaveLength(200);
  await server.close();
  const codes = await Promise.all(clients.map(async ({ closed }) => (await closed).code));
  expect(new Set(codes)).toEqual(new Set([1001]));
});

test('close() sends a close frame to open streams, and does not wait for unresponsive clients', async () => {
  const server = await startServer({ port: 0 });
  await using client = await listen(server);
  await using silent = await openRawStream(server);
  await using paused = await listen(server);
  paused.socket.pause();
  await within(server.close());
  expect((await client.closed).code).toBe(1001);
  await silent.over();
  paused.socket.resume();
  expect([1001, 1006]).toContain((await paused.closed).code);
});

/** A server whose patience for requests is short. */
async function startImpatient() {
  const { app, mailbox } = createBareApp();
  const limits = { requestMs: 200, idleMs: 200, checkMs: 20, closeMs: 0 };
  const { listen, close } = createHttpServer(app, limits);
  const port = await listen(0, '127.0.0.1');
  return { mailbox, port, url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: close };
}

test('a stream may be silent for longer than a request', async () => {
  await using server = await startImpatient();
  await using client = await listen(server);
  // Three clients, one after the other, wait for a timeout, so the stream is silent for longer than any limit.
  for (let left = 3; left > 0; left -= 1) {
    await using connection = await openConnection(server);
    await connection.send('GET /hea');
    await connection.over();
  }
  server.mailbox.trigger('message.received', { inboxId: helpdesk });
  expect(await client.next()).toMatchObject({ type: 'event' });
});

test('the log has a line when a stream opens and when it closes, with its key masked', async () => {
  const log: string[] = [];
  await using server = await startServer({ port: 0, log: (line) => log.push(line) });
  const byQuery = await openSocket(`${server.url}/v1/ws?api_key=${KEYS.acme.tenant}`);
  await byQuery.news();
  expect(log).toHaveLength(1);
  byQuery.close(1000);
  await eventually(() => expect(log).toHaveLength(3));
  const byHeader = await openSocket(`${server.url}/v1/inboxes/${helpdesk}/ws`, withKey());
  byHeader.socket.terminate();
  await eventually(() => expect(log).toHaveLength(6));
  await refusalOf(openSocket(`${server.url}/v1/ws?api_key=${KEYS.acme.tenant}%78`));
  await eventually(() => expect(log).toHaveLength(7));
  const [opened, closed] = ['opened with', 'closed; it was opened with'].map(
    (what) => `stream ${what} the tenant key tk_acme_…`,
  );
  expect(log.map(withoutTimeOfDay)).toEqual([
    opened,
    closed,
    expect.stringMatching(/^stream 101 GET \/v1\/ws\?api_key=tk_acme_… [\d.]+ ms$/),
    opened,
    closed,
    expect.stringMatching(/^stream 101 GET \/v1\/inboxes\/[\w-]+\/ws [\d.]+ ms tk_acme_…$/),
    expect.stringMatching(
      /^stream 401 GET \/v1\/ws\?api_key=tk_acme_… UNAUTHORIZED [\d.]+ ms \(The API key is not valid: .+\)$/,
    ),
  ]);
});

test('the log has each closed stream only once, also when the server closes', async () => {
  const log: string[] = [];
  const server = await startServer({ port: 0, log: (line) => log.push(line) });
  await using one = await listen(server);
  await using other = await openRawStream(server);
  await server.close();
  await one.closed;
  await other.over();
  const lines = () => log.map((line) => withoutTimeOfDay(line).split(' ').slice(0, 3).join(' '));
  await eventually(() => expect(log).toHaveLength(6));
  const each = ['stream opened with', 'stream closed; it', 'stream 101 GET'];
  expect(lines().sort()).toEqual([...each, ...each].sort());
});

test('a reset closes a stream, and moving the clock pings it', async () => {
  await using server = await startServer({ port: 0 });
  const control = (path: string, body?: object) =>
    fetch(server.control + path, { method: 'POST', ...(body && { body: JSON.stringify(body) }) });
  await using client = await listen(server);
  await control('/clock', { advance: '31s' });
  expect(await client.next()).toEqual({ type: 'ping' });
  await control('/reset');
  expect((await client.closed).code).toBe(4401);
});

test('an open stream leaves no listener on shared objects', async () => {
  const warnings: string[] = [];
  const warn = ({ name, message }: Error) => void warnings.push(`${name}: ${message}`);
  process.on('warning', warn);
  await using server = await startServer({ port: 0 });
  for (let left = 30; left > 0; left -= 1) {
    await using client = await listen(server);
    client.close();
    await client.closed;
  }
  process.off('warning', warn);
  expect(warnings.filter((text) => text.startsWith('MaxListeners'))).toEqual([]);
});
