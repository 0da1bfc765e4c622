import { BehaviourError, FixtureError } from 'agent-mailbox-mock';
import { type MailboxServer, type ServerOptions, startServer } from 'agent-mailbox-mock/server';
import { expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { send } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';
import { withoutTimes } from '../../support/log.ts';
import { exchange, openConnection, request, watchForCrashes, within } from '../../support/raw-http.ts';

watchForCrashes();

const KEY = 'X-API-Key: tk_acme_tenant_key';

test('a started server has its URL and serves there', async () => {
  await using server = await startServer({ port: 0 });
  expect(server).toMatchObject({
    url: `http://127.0.0.1:${server.port}`,
    control: `http://127.0.0.1:${server.port}/__mock`,
    controlToken: undefined,
  });
  const { json } = await send(`${server.url}/v1/webhooks`, 'GET', { key: server.mailbox.keys.acme.tenant });
  expect(json.webhooks).toHaveLength(2);
});

test.each([
  ['127.0.0.1', '127.0.0.1'],
  ['localhost', 'localhost'],
  ['::1', '[::1]'],
  ['127.1.2.3', '127.1.2.3'],
  ['0.0.0.0', '127.0.0.1'],
  ['::', '[::1]'],
])('a server bound to %s can be reached at the URL that it gives', async (host, urlHost) => {
  await using server = await startServer({ port: 0, host });
  expect(server.url).toBe(`http://${urlHost}:${server.port}`);
  expect((await send(`${server.url}/health`, 'GET', {})).json).toEqual({ status: 'ok' });
});

test("msw's header for a request to be passed through does not keep the server from replying", async () => {
  await using server = await startServer({ port: 0 });
  const reply = await exchange(server, request('GET /health', ['Accept: msw/passthrough']));
  expect([reply.status, reply.json]).toEqual([200, { status: 'ok' }]);
});

test('two servers in one process share nothing', async () => {
  await using first = await startServer({ port: 0 });
  await using second = await startServer({ port: 0 });
  const before = second.mailbox.snapshot();
  const [webhook] = (await send(`${first.url}/v1/webhooks`, 'GET', { key: 'tk_acme_tenant_key' })).json.webhooks;
  await send(`${first.url}/v1/webhooks/${webhook.id}`, 'DELETE', { key: 'tk_acme_tenant_key' });
  expect(first.mailbox.snapshot()).not.toEqual(before);
  expect(second.mailbox.snapshot()).toEqual(before);
});

test('a port that is in use rejects with EADDRINUSE, and its owner is not affected', async () => {
  await using holder = await startServer({ port: 0 });
  await expect(startServer({ port: holder.port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  expect((await send(`${holder.url}/health`, 'GET', {})).status).toBe(200);
});

test.each<[string, ServerOptions, new (...args: never[]) => Error, string]>([
  ['a port below 0', { port: -1 }, RangeError, 'The option port must be a whole number from 0 to 65535, not -1.'],
  ['a port above 65535', { port: 65536 }, RangeError, 'not 65536.'],
  ['a broken port', { port: 80.5 }, RangeError, 'not 80.5.'],
  ['a port that is no number', { port: Number.NaN }, RangeError, 'not NaN.'],
  ['a port as text', { port: '4025' as never }, RangeError, 'not "4025".'],
  ['no port at all', { port: null as never }, RangeError, 'not null.'],
  ['an empty host', { host: '' }, TypeError, 'The option host must be an address or a host name, not "".'],
  ['a host that is no text', { host: 1 as never }, TypeError, 'not 1.'],
  [
    'a short token',
    { controlToken: 'fifteen-letters' },
    TypeError,
    'The option controlToken must be 16 to 256 letters, digits and -._+/=.',
  ],
  ['an empty token', { controlToken: '' }, TypeError, 'letters, digits and -._+/=.'],
  ['a token that a header cannot carry', { controlToken: 'sixteen-or-more\n' }, TypeError, 'digits and -._+/=.'],
  ['an allowed host that is a URL', { allowHosts: ['http://a.example'] }, TypeError, 'not "http://a.example".'],
  ['an allowed host with a port', { allowHosts: ['a.example:80'] }, TypeError, 'not "a.example:80".'],
  ['an allowed host with a wildcard', { allowHosts: ['*'] }, TypeError, 'The option allowHosts takes host names'],
  ['an empty allowed host', { allowHosts: [''] }, TypeError, 'not "".'],
  ['an allowed host that is no text', { allowHosts: [7 as never] }, TypeError, 'not 7.'],
  ['allowed hosts as text', { allowHosts: 'a.example' as never }, TypeError, 'The option allowHosts must be a list'],
  ['an origin without a scheme', { corsOrigins: ['a.example'] }, TypeError, 'The option corsOrigins takes origins'],
  ['an origin with a path', { corsOrigins: ['https://a.example/x'] }, TypeError, 'not "https://a.example/x".'],
  ['the null origin', { corsOrigins: ['null'] }, TypeError, 'not "null".'],
  ['origins as text', { corsOrigins: '*' as never }, TypeError, 'The option corsOrigins must be a list'],
  ['a port of another type', { port: 4025n as never }, RangeError, 'from 0 to 65535, not 4025.'],
  ['a log that is no function', { log: true as never }, TypeError, 'The option log must be a function, not true.'],
  [
    'an unknown behaviour',
    { behaviours: { nothing: 'x' } as never },
    BehaviourError,
    'There is no behaviour "nothing"',
  ],
  ['a broken fixture', { fixtures: { tenants: 1 } as never }, FixtureError, 'tenants'],
])('%s is refused at the start', async (_, options, type, message) => {
  const starting = startServer({ port: 0, ...options } as Omit<ServerOptions, 'fixtures'>);
  await expect(starting).rejects.toThrow(type);
  await expect(starting).rejects.toThrow(message);
});

test("an address that this machine does not have rejects with Node's code", async () => {
  await expect(startServer({ port: 0, host: '192.0.2.1' })).rejects.toMatchObject({ code: 'EADDRNOTAVAIL' });
});

const CONNECTIONS: [string, string][] = [
  ['that sent nothing', ''],
  ['in the middle of a head', 'POST /v1/webhooks HTTP/1.1\r\nHost: loc'],
  ['in the middle of a body', request('POST /v1/webhooks', [KEY, 'Content-Length: 99'], '{')],
  ['in the middle of a body that was refused', request('POST /v1/webhooks', [KEY, 'Content-Length: 9999999'], '{')],
  ['in the middle of a body in chunks', request('POST /v1/webhooks', [KEY, 'Transfer-Encoding: chunked'], '5\r\n{')],
  ['that asked for a tunnel', request('CONNECT localhost:80')],
  ['that sent what is not HTTP', 'Hello\r\n\r\n'],
];

test.each(CONNECTIONS)('close() ends with a connection %s', async (_, bytes) => {
  await using server = await startServer({ port: 0 });
  await using connection = await openConnection(server);
  if (bytes) await connection.send(bytes);
  await exchange(server, request('GET /health'));
  await within(server.close());
  await connection.over();
});

test('close() ends with idle connections', async () => {
  await using server = await startServer({ port: 0 });
  await using raw = await openConnection(server);
  await raw.send(request('GET /health'));
  await raw.reply();
  await send(`${server.url}/health`, 'GET', {});
  await within(server.close());
  await raw.over();
});

test('close() may be called again, at once and later', async () => {
  const server = await startServer({ port: 0 });
  await within(Promise.all([server.close(), server.close()]));
  await within(server.close());
  await expect(fetch(server.url)).rejects.toThrow('fetch failed');
});

test('a server ends with its block, and its port is free again', async () => {
  let port: number;
  {
    await using server = await startServer({ port: 0 });
    port = server.port;
  }
  await using next = await startServer({ port });
  expect(next.port).toBe(port);
});

test('closing the server ends the connection that a client has kept open', async () => {
  await using server = await startServer({ port: 0 });
  await send(`${server.url}/health`, 'GET', {});
  await server.close();
  await expect(send(`${server.url}/health`, 'GET', {})).rejects.toThrow('fetch failed');
});

const LOOPBACK_ORIGINS = [
  'http://localhost',
  'http://localhost:3000',
  'https://localhost:3000',
  'http://app.localhost:5173',
  'http://127.0.0.1:8080',
  'http://[::1]:8080',
];
const FOREIGN_ORIGINS = [
  'null',
  'https://evil.example',
  'http://localhost.evil.example',
  'http://evil.example:4025',
  'http://127.0.0.1.evil.example',
  'http://0.0.0.0:3000',
  'chrome-extension://localhost',
  'localhost',
  'http://localhost, http://evil.example',
  'http://localhost@evil.example',
];

/** Returns the CORS headers of a reply, by name. */
function corsHeaders(headers: Headers): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')));
}

test.each(LOOPBACK_ORIGINS)('a page of %s may call the API and read its headers', async (origin) => {
  await using server = await startServer({ port: 0 });
  for (const [line, status] of [
    ['GET /v1/webhooks', 200],
    ['GET /v1/unknown', 404],
    ['PUT /v1/webhooks', 405],
  ] as const) {
    const reply = await exchange(server, request(line, [KEY, `Origin: ${origin}`]));
    expect([reply.status, corsHeaders(reply.headers)]).toEqual([
      status,
      {
        'access-control-allow-origin': origin,
        'access-control-expose-headers': expect.stringMatching(/\bx-mock-assumed\b.*\bAllow\b.*\bWWW-Authenticate\b/),
      },
    ]);
    expect(reply.headers.get('vary')).toBe('Origin');
  }
});

test.each(FOREIGN_ORIGINS)('a page of %s may not read the API', async (origin) => {
  await using server = await startServer({ port: 0 });
  for (const line of ['GET /v1/webhooks', 'OPTIONS /v1/webhooks']) {
    const headers = [KEY, `Origin: ${origin}`, 'Access-Control-Request-Method: GET'];
    expect(corsHeaders((await exchange(server, request(line, headers))).headers)).toEqual({});
  }
});

test.each([
  ['https://app.example', 'https://app.example'],
  ['https://app.example/', 'https://app.example'],
  ['HTTPS://App.Example:443', 'https://app.example'],
  ['http://app.example:3000', 'http://app.example:3000'],
  ['chrome-extension://abcdef', 'chrome-extension://abcdef'],
  ['*', 'https://any.example'],
  ['*', 'null'],
])('with corsOrigins "%s", a page of %s may call the API', async (allowed, origin) => {
  await using server = await startServer({ port: 0, corsOrigins: [allowed] });
  const reply = await exchange(server, request('GET /v1/webhooks', [KEY, `Origin: ${origin}`]));
  expect(reply.headers.get('access-control-allow-origin')).toBe(origin);
});

test.each(['http://app.example', 'https://app.example:8443', 'https://other.app.example', 'https://app.example.evil'])(
  'with another origin allowed, a page of %s may not read the API',
  async (origin) => {
    await using server = await startServer({ port: 0, corsOrigins: ['https://app.example'] });
    const reply = await exchange(server, request('GET /v1/webhooks', [KEY, `Origin: ${origin}`]));
    expect(corsHeaders(reply.headers)).toEqual({});
  },
);

test('only the API has CORS, even if all origins are allowed', async () => {
  await using server = await startServer({ port: 0, corsOrigins: ['*'] });
  for (const line of [
    'GET /health',
    'OPTIONS /health',
    'GET /unknown',
    'GET /__mock/health',
    'OPTIONS /__mock/reset',
  ]) {
    const headers = ['Origin: http://localhost:3000', 'Access-Control-Request-Method: POST'];
    expect(corsHeaders((await exchange(server, request(line, headers))).headers)).toEqual({});
  }
});

test('a preflight of an allowed page succeeds for every path, method and header of the API', async () => {
  await using server = await startServer({ port: 0 });
  const headers = [
    'Origin: http://localhost:3000',
    'Access-Control-Request-Method: DELETE',
    'Access-Control-Request-Headers: x-api-key,content-type',
  ];
  for (const path of ['/v1/webhooks', '/v1/webhooks/1', '/v1/unknown', '/v1/%zz']) {
    const reply = await exchange(server, request(`OPTIONS ${path}`, headers));
    expect([reply.status, reply.text, corsHeaders(reply.headers)]).toEqual([
      204,
      '',
      {
        'access-control-allow-origin': 'http://localhost:3000',
        'access-control-allow-methods': 'GET,HEAD,POST,PATCH,DELETE,OPTIONS,PUT',
        'access-control-allow-headers': 'X-API-Key,Authorization,Content-Type',
        'access-control-max-age': '600',
        'access-control-expose-headers': expect.any(String),
      },
    ]);
  }
});

test.each(['/v1/webhooks', '/v1/webhooks/ac3e0000-0005-4000-8000-000000000001', '/v1/unknown', '/health'])(
  'OPTIONS %s without an origin, and from a foreign one, is answered as in process',
  async (path) => {
    await using server = await startServer({ port: 0 });
    const inProcess = await server.mailbox.fetch(new Request(`http://localhost${path}`, { method: 'OPTIONS' }));
    const expected = [inProcess.status, await inProcess.text(), inProcess.headers.get('allow')];
    for (const headers of [[], ['Origin: https://evil.example', 'Access-Control-Request-Method: GET']]) {
      const reply = await exchange(server, request(`OPTIONS ${path}`, headers));
      expect([reply.status, reply.text, reply.headers.get('allow')]).toEqual(expected);
    }
  },
);

/** Starts a server with a log, sends requests, and returns the log lines when all of them are written. */
async function logOf(act: (server: MailboxServer) => Promise<number>): Promise<string[]> {
  const lines: string[] = [];
  await using server = await startServer({ port: 0, log: (line) => lines.push(line) });
  const count = await act(server);
  await eventually(() => expect(lines.length).toBeGreaterThanOrEqual(count));
  await server.close();
  expect(lines).toHaveLength(count);
  return lines.map(withoutTimes);
}

test.each<[string, string[], string]>([
  ['GET /v1/webhooks', [KEY], 'listWebhooks 200 GET /v1/webhooks _ ms tk_acme_…'],
  [
    'GET /v1/webhooks',
    ['Authorization: bearer ak_acme_helpdesk_key'],
    'listWebhooks 403 GET /v1/webhooks FORBIDDEN _ ms ak_acme_… (reason)',
  ],
  [
    'GET /v1/webhooks',
    ['X-API-Key:', 'Authorization: Bearer wk_acme_sales_key'],
    'listWebhooks 200 GET /v1/webhooks _ ms wk_acme_…',
  ],
  [
    'GET /v1/webhooks',
    ['X-API-Key: sa_platform_operator_key'],
    'listWebhooks 403 GET /v1/webhooks FORBIDDEN _ ms sa_platf… (reason)',
  ],
  ['GET /v1/webhooks', ['X-API-Key: tk_short'], 'listWebhooks 401 GET /v1/webhooks UNAUTHORIZED _ ms tk_… (reason)'],
  [
    'GET /v1/webhooks',
    ['Authorization: Basic dXNlcjpzZWNyZXQ='],
    'listWebhooks 401 GET /v1/webhooks UNAUTHORIZED _ ms (not a key) (reason)',
  ],
  [
    'GET /v1/webhooks',
    ['X-API-Key: hunter2 secret'],
    'listWebhooks 401 GET /v1/webhooks UNAUTHORIZED _ ms (not a key) (reason)',
  ],
  ['GET /v1/webhooks', [KEY, KEY], 'listWebhooks 401 GET /v1/webhooks UNAUTHORIZED _ ms (not a key) (reason)'],
  [
    'GET /v1/webhooks?api_key=tk_acme_tenant_key',
    [],
    'listWebhooks 401 GET /v1/webhooks?api_key=tk_acme_… UNAUTHORIZED _ ms (reason)',
  ],
  [
    'GET /v1/webhooks?api_key=%74k_acme%5Ftenant_key',
    [],
    'listWebhooks 401 GET /v1/webhooks?api_key=tk_acme_… UNAUTHORIZED _ ms (reason)',
  ],
  [
    'GET /v1/webhooks?api_key=%2574k_acme_tenant_key',
    [],
    'listWebhooks 401 GET /v1/webhooks?api_key=tk_acme_… UNAUTHORIZED _ ms (reason)',
  ],
  [
    'GET /v1/webhooks?key=_tk_acme_tenant_key',
    [],
    'listWebhooks 401 GET /v1/webhooks?key=_tk_acme_… UNAUTHORIZED _ ms (reason)',
  ],
  ['GET /tk_acme_tenant_key', [], '- 404 GET /tk_acme_… NOT_FOUND _ ms'],
  ['GET /health', [], 'getHealth 200 GET /health _ ms'],
  ['POST /__mock/reset', [], 'reset 200 POST /__mock/reset _ ms'],
  ['GET /health', ['Host: evil.example'], '- 403 GET /health HOST_NOT_ALLOWED _ ms (reason)'],
  ['TRACE /v1/webhooks', [], '- 405 TRACE /v1/webhooks METHOD_NOT_ALLOWED _ ms'],
  ['CONNECT localhost:80', [], '- 405 CONNECT localhost:80 METHOD_NOT_ALLOWED _ ms'],
  ['GET http://evil.example/tk_acme_tenant_key', [], '- 400 GET http://evil.example/tk_acme_… VALIDATION_ERROR _ ms'],
  ['GET /x%0d%0aGET%20/fake%20200', [], '- 404 GET /x%0d%0aGET?/fake?200 NOT_FOUND _ ms'],
  ['GET /%1b%5b31mred', [], '- 404 GET /%1b[31mred NOT_FOUND _ ms'],
])('the log has one line for %s with %j', async (line, headers, expected) => {
  const lines = await logOf(async (server) => {
    await exchange(server, request(line, headers));
    return 1;
  });
  expect(lines.map((line) => line.replace(/ \((?!not a key).+\.\)$/, ' (reason)'))).toEqual([expected]);
});

test('the log has the reason of a refusal that the reply must not reveal', async () => {
  const webhook = `/v1/webhooks/${IDS.acme.webhooks.support}`;
  const lines = await logOf(async (server) => {
    await exchange(server, request(`DELETE ${webhook}`, ['X-API-Key: wk_acme_sales_key']));
    return 1;
  });
  expect(lines).toEqual([
    `deleteWebhook 404 DELETE ${webhook} NOT_FOUND _ ms wk_acme_… (Workspace key of Sales; the webhook with this id belongs to Support (section 5; choice errors.foreign-resource).)`,
  ]);
});

test('the log has the error code of a refusal whose reply has no code', async () => {
  const lines: string[] = [];
  const behaviours = { 'errors.shape': 'error-only' } as const;
  await using server = await startServer({ port: 0, behaviours, log: (line) => lines.push(line) });
  await exchange(server, request('GET /v1/webhooks'));
  await eventually(() => expect(lines).toHaveLength(1));
  expect(withoutTimes(lines[0] ?? '')).toMatch(
    /^listWebhooks 401 GET \/v1\/webhooks UNAUTHORIZED _ ms \(The request has no API key/,
  );
});

test('the log truncates very long values', async () => {
  const [line] = await logOf(async (server) => {
    await exchange(server, request(`GET /${'a'.repeat(5_000)}`, [`X-API-Key: tk_${'a'.repeat(5_000)}`]));
    return 1;
  });
  expect(line).toBe(`- 404 GET /${'a'.repeat(199)} NOT_FOUND _ ms tk_aaaaa…`);
});

test('the log has a line for a request that its client aborted', async () => {
  const lines = await logOf(async (server) => {
    await using connection = await openConnection(server);
    await connection.send(request('POST /v1/webhooks', [KEY, 'Expect: 100-continue', 'Content-Length: 99']));
    await connection.reply();
    connection.socket.destroy();
    return 1;
  });
  expect(lines).toEqual(['- ! POST /v1/webhooks aborted _ ms tk_acme_…']);
});

test('the log has a line for each request of a connection', async () => {
  const lines = await logOf(async (server) => {
    await using connection = await openConnection(server);
    await connection.send(['/health', '/v1/webhooks', '/health?x'].map((path) => request(`GET ${path}`)).join(''));
    for (const _ of [1, 2, 3]) await connection.reply();
    return 3;
  });
  expect(lines).toEqual([
    'getHealth 200 GET /health _ ms',
    expect.stringMatching(/^listWebhooks 401 GET \/v1\/webhooks UNAUTHORIZED _ ms /),
    'getHealth 200 GET /health?x _ ms (ignored: x)',
  ]);
});
