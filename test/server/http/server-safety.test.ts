import { startServer } from 'agent-mailbox-mock/server';
import { expect, test } from 'vitest';
import { exchange, openConnection, type RawReply, request, watchForCrashes } from '../../support/raw-http.ts';
import { chunked, expectError, expectNoHarm, KEY, webhookOf } from '../../support/wrong-clients.ts';

watchForCrashes();

const MIB = 1024 * 1024;
const PATHS = ['/', '/health', '/v1', '/v1/webhooks', '/__mock', '/__mock/health', '/__mock/reset', '/unknown'];

/** Sends one wrong request to a server of its own. */
async function expectRefusal(bytes: string | Uint8Array, status: number, code: string): Promise<RawReply> {
  await using server = await startServer({ port: 0 });
  let reply: RawReply | undefined;
  await expectNoHarm(server, async () => {
    reply = await exchange(server, bytes);
    expectError(server, reply, status, code);
  });
  return reply as RawReply;
}

test.each([
  'evil.example',
  'evil.example:4025',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  'notlocalhost',
  'local host',
  'user@localhost',
  'localhost@evil.example',
  'user:localhost@evil.example',
  'localhost:80:80',
  'localhost:99999',
  'localhost:http',
  'localhost/',
  'localhost#evil',
  '.',
  '',
  '0.0.0.0',
  '0',
  '1.2.3.4',
  '16909060',
  '128.0.0.1',
  '[::2]',
  '[::]',
  '[::ffff:1.2.3.4]',
  '[localhost]',
  '::1',
])('a request with the foreign Host "%s" is refused on every path', async (host) => {
  await using server = await startServer({ port: 0 });
  await expectNoHarm(server, async () => {
    for (const line of [...PATHS.map((path) => `GET ${path}`), 'POST /__mock/reset', 'OPTIONS /v1/webhooks']) {
      const reply = await exchange(server, request(line, [`Host: ${host}`, 'Origin: http://localhost']));
      expectError(server, reply, 403, 'HOST_NOT_ALLOWED');
      expect(reply.headers.get('access-control-allow-origin')).toBeNull();
    }
  });
});

test.each([
  'localhost',
  'LocalHost',
  'localhost.',
  'localhost:4025',
  'LOCALHOST.:1',
  'localhost:',
  'app.localhost',
  'a.b.LOCALHOST:3000',
  '127.0.0.1',
  '127.0.0.1:1',
  '127.8.9.10',
  '127.1',
  '2130706433',
  '0x7f.0.0.1',
  '[::1]',
  '[::1]:4025',
  '[0:0:0:0:0:0:0:1]',
])('a request with the loopback Host "%s" is served', async (host) => {
  await using server = await startServer({ port: 0 });
  for (const path of ['/health', '/__mock/health']) {
    expect((await exchange(server, request(`GET ${path}`, [`Host: ${host}`]))).status).toBe(200);
  }
});

test.each([
  ['no Host over HTTP/1.1', 'GET /health HTTP/1.1\r\n\r\n'],
  ['no Host over HTTP/1.0', 'GET /health HTTP/1.0\r\n\r\n'],
  ['no Host at the control plane', 'POST /__mock/reset HTTP/1.0\r\n\r\n'],
  ['two Hosts', 'GET /health HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n'],
  ['two hosts in one Host', 'GET /health HTTP/1.1\r\nHost: localhost, evil.example\r\n\r\n'],
  ['two Hosts that are equal', 'GET /health HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n'],
])('a request with %s is refused', async (_, text) => {
  await expectRefusal(text, 400, 'VALIDATION_ERROR');
});

test.each([
  ['mailbox.example', 'mailbox.example', 200],
  ['mailbox.example', 'MAILBOX.example.:4025', 200],
  ['Mailbox.Example.', 'mailbox.example', 200],
  ['mail_box', 'mail_box:80', 200],
  ['192.0.2.7', '192.0.2.7:4025', 200],
  ['2001:db8::7', '[2001:db8::7]:4025', 200],
  ['[2001:db8::7]', '[2001:DB8:0::7]', 200],
  ['mailbox.example', 'a.mailbox.example', 403],
  ['mailbox.example', 'mailbox.example.evil', 403],
  ['mailbox.example', 'mailbox', 403],
  ['mailbox.example', 'localhost', 200],
])('with allowHosts "%s", the Host "%s" gets %i', async (allowed, host, status) => {
  await using server = await startServer({ port: 0, allowHosts: [allowed] });
  for (const path of ['/health', '/__mock/health']) {
    expect((await exchange(server, request(`GET ${path}`, [`Host: ${host}`, 'X-Mock-Token: x']))).status).toBe(status);
  }
});

test.each([
  'GET /__mock/health',
  'HEAD /__mock/health',
  'OPTIONS /__mock/reset',
  'POST /__mock/reset',
  'GET /x/../__mock/clock',
])('at an allowed host, %s needs a header that pages cannot send; at loopback it needs none', async (line) => {
  await using server = await startServer({ port: 0, allowHosts: ['mailbox.example'] });
  const statusOf = async (...headers: string[]) =>
    (await exchange(server, request(line, headers), { toHead: line.startsWith('HEAD') })).status;
  const atHost = await statusOf('Host: mailbox.example:4025');
  expect([atHost, await statusOf('Host: mailbox.example', 'X-Mock-Token: x')]).toEqual([401, expect.any(Number)]);
  expect(await statusOf('Host: mailbox.example', 'X-Mock-Token: x')).toBeLessThan(300);
  expect(await statusOf()).toBeLessThan(300);
});

test.each([
  ['an absolute target', 'GET http://evil.example/v1/webhooks'],
  ['an absolute target of this machine', 'GET http://localhost/v1/webhooks'],
  ['an absolute target without a path', 'GET http://evil.example'],
  ['an absolute target of another scheme', 'GET evil://example'],
  ['an absolute target that is no URL', 'GET http://[::/v1/webhooks'],
  ['an asterisk as target', 'OPTIONS *'],
  ['percent-encoding that does not decode', 'GET /v1/webhooks/%zz'],
  ['percent-encoding that is not UTF-8', 'DELETE /v1/webhooks/%ff'],
])('%s is refused', async (_, line) => {
  await expectRefusal(request(line, [KEY]), 400, 'VALIDATION_ERROR');
});

test.each([
  'GET //evil.example/v1/webhooks',
  'GET ///v1/webhooks',
  'GET /\\evil.example/v1/webhooks',
  'GET /http://evil.example/v1/webhooks',
  'GET /V1/webhooks',
  'GET /%76%31/WEBHOOKS',
  'GET /?/v1/webhooks',
  'GET /#/v1/webhooks',
  'GET /v1/webhooks/',
  'GET /v1//webhooks',
  'GET /__MOCK/health',
  'GET /%5f%5fmock/health',
  'GET /__mock%2fhealth',
  'GET /__proto__',
  `GET /v1/${'a'.repeat(8_000)}`,
])('%s is not found', async (line) => {
  await expectRefusal(request(line, [KEY]), 404, 'NOT_FOUND');
});

test.each(['/v1/../v1/./webhooks', '/x/%2e%2e/v1/webhooks'])(
  'the path %s is normalised as in fetch, with CORS',
  async (path) => {
    await using server = await startServer({ port: 0 });
    const reply = await exchange(server, request(`GET ${path}`, [KEY, 'Origin: http://localhost:3000']));
    expect(reply.status).toBe(200);
    expect(reply.headers.get('access-control-allow-origin')).toBe('http://localhost:3000');
  },
);

test.each(
  ['TRACE', 'CONNECT', 'PROPFIND', 'M-SEARCH', 'FOO', 'GETS', 'G'].flatMap((method) =>
    ['/v1/webhooks', '/health', '/__mock/reset', '/unknown'].map((path) => [method, path]),
  ),
)('the method %s on %s is refused with the supported methods', async (method, path) => {
  const target = method === 'CONNECT' ? 'localhost:80' : path;
  const reply = await expectRefusal(request(`${method} ${target}`, [KEY]), 405, 'METHOD_NOT_ALLOWED');
  expect(reply.headers.get('allow')).toBe('GET, HEAD, POST, PATCH, DELETE, OPTIONS');
});

test('a client that requested a tunnel is disconnected', async () => {
  await using server = await startServer({ port: 0 });
  await using connection = await openConnection(server);
  await connection.send(request('CONNECT localhost:80'));
  expect((await connection.reply()).status).toBe(405);
  await connection.over();
});

test('a client that resets a connection after requesting a tunnel does no harm', async () => {
  await using server = await startServer({ port: 0 });
  await expectNoHarm(server, async () => {
    await using connection = await openConnection(server, { halfOpen: true });
    await connection.send(request('CONNECT localhost:80'));
    expect((await connection.reply()).status).toBe(405);
    connection.socket.resetAndDestroy();
    await connection.over();
  });
});

test('a tunnel is refused like any other request when its Host is foreign', async () => {
  await expectRefusal(request('CONNECT evil.example:80', ['Host: evil.example:80']), 403, 'HOST_NOT_ALLOWED');
});

/** What version 8 of Node's HTTP parser takes, which older Nodes of version 20 have. */
const TAKEN_BY_OLD_PARSER = ['bytes above ASCII in the target', 'a header without a name', 'a space before a colon'];

/** Leaves out the rows that the HTTP parser of this Node takes. */
function refusedByParser<Row extends readonly [title: string, ...unknown[]]>(rows: readonly Row[]): Row[] {
  const isOld = Number(process.versions.llhttp?.split('.')[0]) < 9;
  return rows.filter(([title]) => !isOld || !TAKEN_BY_OLD_PARSER.includes(title));
}

test.each(
  refusedByParser<[string, string | Buffer]>([
    ['lower-case method', 'get /health HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['words', 'Hello there, is this a server?\r\n\r\n'],
    ['a TLS greeting', Buffer.from('16030100c8010000c40303', 'hex')],
    ['zeroes', Buffer.alloc(100)],
    ['HTTP/0.9', 'GET /health\r\n\r\n'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['HTTP/9.9', request('GET /health HTTP/9.9')],
    ['a zero byte in the target', request('GET /v1/\0')],
    ['a space in the target', request('GET /v1/web hooks')],
    ['bytes above ASCII in the target', Buffer.from(request('GET /v1/\u00e9'), 'latin1')],
    ['a header without a name', request('GET /health', [': x'])],
    ['a space before a colon', request('GET /health', ['X-API-Key : x'])],
    ['a folded header at the start', 'GET /health HTTP/1.1\r\n folded: x\r\nHost: localhost\r\n\r\n'],
    ['a zero byte in a header', request('GET /health', ['X-Name: a\0b'])],
    ['two lengths', request('POST /v1/webhooks', [KEY, 'Content-Length: 2', 'Content-Length: 3'], '{}')],
    ['a length that is no number', request('POST /v1/webhooks', [KEY, 'Content-Length: two'], '{}')],
    ['a negative length', request('POST /v1/webhooks', [KEY, 'Content-Length: -1'], '{}')],
    [
      'a length and chunks',
      request('POST /v1/webhooks', [KEY, 'Content-Length: 2', 'Transfer-Encoding: chunked'], '{}'),
    ],
    ['a chunk of no size', request('POST /v1/webhooks', [KEY, 'Transfer-Encoding: chunked'], 'zz\r\n{}\r\n0\r\n\r\n')],
    ['an unknown transfer encoding', request('POST /v1/webhooks', [KEY, 'Transfer-Encoding: rot13'], '{}')],
  ]),
)('invalid HTTP is refused: %s', async (_, bytes) => {
  await expectRefusal(bytes, 400, 'VALIDATION_ERROR');
});

test.each([
  ['one header', request('GET /health', [`X-Large: ${'a'.repeat(200_000)}`])],
  [
    'many headers',
    request(
      'GET /health',
      Array.from({ length: 3_000 }, (_, index) => `X-${index}: a`),
    ),
  ],
  ['the target', request(`GET /${'a'.repeat(200_000)}`)],
])('a head that is too large for %s is refused', async (_, text) => {
  await expectRefusal(text, 431, 'HEADERS_TOO_LARGE');
});

test.each(
  refusedByParser<[string, string, number]>([
    ['a head that is too large', request('HEAD /health', [`X-Large: ${'a'.repeat(200_000)}`]), 431],
    ['a header without a name', request('HEAD /health', [': x']), 400],
    ['a target that is no target', request('HEAD /v1/\0'), 400],
    ['a body of no size', request('HEAD /health', ['Transfer-Encoding: chunked'], 'zz\r\n'), 400],
    ['another request before it', request('GET /health') + request('HEAD /v1/\0'), 400],
  ]),
)('HEAD with %s is refused without a body', async (_, text, status) => {
  await using server = await startServer({ port: 0 });
  await using connection = await openConnection(server);
  await connection.send(text);
  if (text.startsWith('GET')) await connection.reply();
  expect((await connection.reply({ toHead: true })).status).toBe(status);
  await expect(connection.reply()).rejects.toThrow('The connection ended after "".');
});

test.each([
  ['two keys', [KEY, KEY]],
  ['two bearers', ['Authorization: Bearer tk_acme_tenant_key', 'Authorization: Bearer tk_acme_tenant_key']],
  ['a key in bytes above ASCII', ['X-API-Key: tk_acme_tenant_key\u00e9']],
  ['no key but one in the query', ['X-Other: x']],
])('a request with %s is not authenticated', async (_, headers) => {
  const text = request('POST /v1/webhooks?api_key=tk_acme_tenant_key', [...headers, 'Content-Length: 2'], '{}');
  await expectRefusal(Buffer.from(text, 'latin1'), 401, 'UNAUTHORIZED');
});

test.each([
  ['an upgrade', ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']],
  ['an upgrade to HTTP/2', ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk']],
  ['an unknown expectation', ['Expect: miracles']],
  ['a header in bytes above ASCII', ['X-Name: \u00e9']],
  ['strange header names', ['__proto__: x', 'constructor: x', '!#$%&: x']],
])('%s does not change the reply', async (_, headers) => {
  await using server = await startServer({ port: 0 });
  const reply = await exchange(server, Buffer.from(request('GET /health', headers), 'latin1'));
  expect([reply.status, reply.json]).toEqual([200, { status: 'ok' }]);
});

test('a GET with a body is handled like one without, and so is the next request of its connection', async () => {
  await using server = await startServer({ port: 0 });
  await using connection = await openConnection(server);
  const length = 2 * MIB;
  await connection.send(request('GET /v1/webhooks', [KEY, `Content-Length: ${length}`], ' '.repeat(length)));
  expect((await connection.reply()).status).toBe(200);
  await connection.send(request('GET /health'));
  expect((await connection.reply()).json).toEqual({ status: 'ok' });
});

test('Expect: 100-continue is answered with 100 and then with the reply', async () => {
  await using server = await startServer({ port: 0 });
  await using connection = await openConnection(server);
  const body = JSON.stringify({ url: 'http://127.0.0.1:9/', events: ['message.received'] });
  await connection.send(request('POST /v1/webhooks', [KEY, 'Expect: 100-continue', `Content-Length: ${body.length}`]));
  expect((await connection.reply()).status).toBe(100);
  await connection.send(body);
  expect((await connection.reply()).status).toBe(201);
});

const FRAMES: [string, (body: string) => string][] = [
  ['with a length', (body) => request('POST /v1/webhooks', [KEY, `Content-Length: ${body.length}`], body)],
  [
    'in chunks',
    (body) => request('POST /v1/webhooks', [KEY, 'Transfer-Encoding: chunked'], `${chunked(body)}0\r\n\r\n`),
  ],
];

test.each(FRAMES)('a body of exactly 1 MiB %s is accepted', async (_, frame) => {
  await using server = await startServer({ port: 0 });
  expect((await exchange(server, frame(webhookOf(MIB)))).status).toBe(201);
});

test.each(FRAMES)('a body of one byte over 1 MiB %s is refused', async (_, frame) => {
  await expectRefusal(frame(webhookOf(MIB + 1)), 413, 'PAYLOAD_TOO_LARGE');
});

test.each([
  ...FRAMES.map(([name, frame]) => [`${name}, sent completely before reading`, frame(' '.repeat(16 * MIB))]),
  ...FRAMES.map(([name, frame]) => [
    `${name} with Connection: close, sent completely before reading`,
    frame(' '.repeat(16 * MIB)).replace('\r\n', '\r\nConnection: close\r\n'),
  ]),
  ['with a length but no data', request('POST /v1/webhooks', [KEY, `Content-Length: ${5 * MIB}`])],
  [
    'in chunks that never end',
    request('POST /v1/webhooks', [KEY, 'Transfer-Encoding: chunked'], chunked(' '.repeat(2 * MIB))),
  ],
])('a client can read the refusal of a body far over 1 MiB %s', async (_, text = '') => {
  await using server = await startServer({ port: 0 });
  await expectNoHarm(server, async () => {
    await using connection = await openConnection(server);
    connection.socket.pause();
    await connection.send(text);
    connection.socket.resume();
    expectError(server, await connection.reply(), 413, 'PAYLOAD_TOO_LARGE');
  });
});

test.each([
  ['that is too large', 'POST /v1/webhooks', 3 * MIB, 413],
  ['for an unknown path', 'POST /v1/unknown', MIB / 2, 404],
  ['that is too large, for an unknown path', 'POST /v1/unknown', 3 * MIB, 404],
  ['of a wrong method', 'PUT /v1/webhooks', MIB / 2, 405],
  ['that the control plane does not read', 'POST /__mock/reset', MIB / 2, 200],
])('a connection serves the next request after a body %s', async (_, line, length, status) => {
  await using server = await startServer({ port: 0 });
  await using connection = await openConnection(server);
  await connection.send(request(line, [KEY, `Content-Length: ${length}`], ' '.repeat(length)));
  expect((await connection.reply()).status).toBe(status);
  await connection.send(request('GET /health'));
  expect((await connection.reply()).json).toEqual({ status: 'ok' });
});

test('a body that ends before its length is refused', async () => {
  await using server = await startServer({ port: 0 });
  await expectNoHarm(server, async () => {
    await using connection = await openConnection(server);
    const body = webhookOf(500);
    connection.socket.end(request('POST /v1/webhooks', [KEY, `Content-Length: ${body.length + 1}`], body));
    expectError(server, await connection.reply(), 400, 'VALIDATION_ERROR');
    await connection.over();
  });
});

test('invalid HTTP after a request is refused after the reply to that request', async () => {
  await using server = await startServer({ port: 0 });
  await using connection = await openConnection(server);
  await connection.send(request('POST /v1/webhooks', [KEY, 'Content-Length: 500'], `${webhookOf(500)}and more`));
  expect((await connection.reply()).status).toBe(201);
  expectError(server, await connection.reply(), 400, 'VALIDATION_ERROR');
  await connection.over();
});

test('invalid HTTP is refused on a connection that was used before', async () => {
  await using server = await startServer({ port: 0 });
  await using connection = await openConnection(server);
  await connection.send(request('GET /health'));
  expect((await connection.reply()).status).toBe(200);
  await connection.send('and more\r\n\r\n');
  expectError(server, await connection.reply(), 400, 'VALIDATION_ERROR');
  await connection.over();
});

test('a client that keeps sending on a closing connection is disconnected without any effect', async () => {
  await using server = await startServer({ port: 0 });
  await expectNoHarm(server, async () => {
    await using connection = await openConnection(server, { halfOpen: true });
    await connection.send(request('GET /health', ['Connection: close']));
    expect((await connection.reply()).status).toBe(200);
    const deletion = request('DELETE /v1/webhooks/ac3e0000-0005-4000-8000-000000000001', [KEY]);
    const drip = setInterval(() => connection.socket.write(deletion), 20);
    await connection.over();
    clearInterval(drip);
  });
});

test('a client that stops sending but still reads gets its reply', async () => {
  await using server = await startServer({ port: 0 });
  await using connection = await openConnection(server);
  connection.socket.end(request('GET /health'));
  expect((await connection.reply()).json).toEqual({ status: 'ok' });
  await connection.over();
});

test('pipelined requests get their replies in order', async () => {
  await using server = await startServer({ port: 0 });
  await using connection = await openConnection(server);
  await connection.send(['/health', '/v1/webhooks', '/__mock/health'].map((path) => request(`GET ${path}`)).join(''));
  expect((await connection.reply()).json).toEqual({ status: 'ok' });
  expect((await connection.reply()).status).toBe(401);
  expect((await connection.reply()).json).toMatchObject({ status: 'ok', version: expect.any(String) });
});

test.each([
  ['in its head', request('POST /v1/webhooks', [KEY]).slice(0, 40)],
  ['in its body', request('POST /v1/webhooks', [KEY, 'Content-Length: 9999'], webhookOf(500))],
  ['in its chunks', request('POST /v1/webhooks', [KEY, 'Transfer-Encoding: chunked'], chunked(webhookOf(500)))],
  ['in a body without a key', request('POST /v1/webhooks', ['Content-Length: 9999'], webhookOf(500))],
  ['in a body that is not read', request('POST /unknown', ['Content-Length: 9999'], webhookOf(500))],
  ['in a tunnel', request('CONNECT localhost:80')],
  ['in a body that is too large', request('POST /v1/webhooks', [KEY, 'Content-Length: 9999999'], webhookOf(500))],
])('a client that disconnects %s does no harm', async (_, text) => {
  await using server = await startServer({ port: 0 });
  await expectNoHarm(server, async () => {
    for (const leave of ['destroy', 'resetAndDestroy'] as const) {
      await using connection = await openConnection(server);
      await connection.send(text);
      connection.socket[leave]();
      await connection.over();
    }
  });
});
