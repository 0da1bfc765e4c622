import { BEHAVIOURS, type BehaviourOptions, createMailbox } from 'agent-mailbox-mock';
import { type MailboxServer, type ServerOptions, startServer } from 'agent-mailbox-mock/server';
import { expect, test } from 'vitest';
import { VERSION } from '../../../src/basics/version.ts';
import type { ChangeableId } from '../../../src/contract/behaviours.ts';
import { listControlRows } from '../../../src/control/table/table.ts';
import { checkReply } from '../../support/check-reply.ts';
import { sendControl } from '../../support/control.ts';
import { type SendOptions, send } from '../../support/everywhere.ts';
import { exchange, type RawReply, request, watchForCrashes } from '../../support/raw-http.ts';

watchForCrashes();

const KEY = 'tk_acme_tenant_key';

function sendTo({ url }: MailboxServer, line: string, options: SendOptions = {}) {
  const [method = '', path] = line.split(' ');
  const sender = path?.startsWith('/__mock') ? sendControl : send;
  return sender(url + path, method, options);
}

test('GET /__mock/health shows that the emulator is up, and its version', async () => {
  await using server = await startServer({ port: 0 });
  const { status, headers, json } = await sendTo(server, 'GET /__mock/health');
  expect([status, headers.get('content-type'), json]).toEqual([
    200,
    'application/json',
    { status: 'ok', version: VERSION, url: server.url },
  ]);
});

test('POST /__mock/reset restores the initial state', async () => {
  await using server = await startServer({ port: 0 });
  const start = server.mailbox.snapshot();
  const tenant = await sendTo(server, 'POST /v1/tenants', { key: server.mailbox.keys.operator, json: { name: 'New' } });
  const [webhook] = (await sendTo(server, 'GET /v1/webhooks', { key: KEY })).json.webhooks;
  await sendTo(server, `DELETE /v1/webhooks/${webhook.id}`, { key: KEY });
  expect(server.mailbox.snapshot()).not.toEqual(start);

  const { status, json } = await sendTo(server, 'POST /__mock/reset');
  expect([status, json]).toEqual([200, { reset: true }]);
  expect(server.mailbox.snapshot()).toEqual(start);
  expect((await sendTo(server, 'GET /v1/webhooks', { key: tenant.json.apiKey })).status).toBe(401);
  expect((await sendTo(server, 'GET /v1/webhooks', { key: KEY })).json.webhooks[0]).toEqual(webhook);
});

test('POST /__mock/reset accepts any body', async () => {
  await using server = await startServer({ port: 0 });
  for (const options of [{ json: {} }, { body: '{' }, { json: { nothing: true } }]) {
    expect((await sendTo(server, 'POST /__mock/reset', options)).status).toBe(200);
  }
});

test('GET /__mock/behaviours lists the whole ledger with the current values', async () => {
  const behaviours: BehaviourOptions = { 'webhooks.list.secret': 'omitted', 'errors.shape': 'error-only' };
  await using server = await startServer({ port: 0, behaviours });
  const { status, json } = await sendTo(server, 'GET /__mock/behaviours');
  expect(status).toBe(200);
  expect(json).toEqual({
    behaviours: Object.entries(BEHAVIOURS).map(([id, entry]) => ({
      id,
      ...JSON.parse(JSON.stringify(entry)),
      ...('choices' in entry && {
        value: behaviours[id as ChangeableId] ?? entry.default,
        source: Object.hasOwn(behaviours, id) ? 'option' : 'default',
        start: behaviours[id as ChangeableId] ?? entry.default,
        isPinned: false,
      }),
    })),
  });
});

test('GET /__mock/openapi.json is the document of the behaviours in force', async () => {
  const behaviours: BehaviourOptions = { 'webhooks.list.secret': 'omitted' };
  await using server = await startServer({ port: 0, behaviours });
  const { status, json } = await sendTo(server, 'GET /__mock/openapi.json');
  expect([status, json]).toEqual([200, JSON.parse(JSON.stringify(createMailbox({ behaviours }).openApi()))]);
});

test.each(['/__mock/', '/__mock'])('GET %s lists every control call', async (path) => {
  await using server = await startServer({ port: 0 });
  const { status, json } = await sendTo(server, `GET ${path}`);
  const calls = listControlRows().map(({ method, path, summary }) => ({ method, path, summary }));
  expect([status, json]).toEqual([200, { calls }]);
});

const ROUTES: [path: string, allow: string][] = [
  ['/__mock/', 'GET, HEAD, OPTIONS'],
  ['/__mock/control.json', 'GET, HEAD, OPTIONS'],
  ['/__mock/health', 'GET, HEAD, OPTIONS'],
  ['/__mock/reset', 'POST, OPTIONS'],
  ['/__mock/behaviours', 'GET, HEAD, POST, OPTIONS'],
  ['/__mock/openapi.json', 'GET, HEAD, OPTIONS'],
  ['/__mock/clock', 'GET, HEAD, POST, OPTIONS'],
  ['/__mock/messages', 'GET, HEAD, POST, DELETE, OPTIONS'],
];

test.each(ROUTES)('%s refuses every other method, and changes nothing', async (path, allow) => {
  await using server = await startServer({ port: 0 });
  await sendTo(server, 'DELETE /v1/webhooks/ac3e0000-0005-4000-8000-000000000001', { key: KEY });
  const before = server.mailbox.snapshot();
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((each) => !allow.includes(each))) {
    const reply = await sendTo(server, `${method} ${path}`);
    checkReply(server.mailbox, method, path, reply);
    expect([reply.status, reply.json.code, reply.headers.get('allow')]).toEqual([405, 'METHOD_NOT_ALLOWED', allow]);
  }
  const options = await sendTo(server, `OPTIONS ${path}`);
  expect([options.status, options.text, options.headers.get('allow')]).toEqual([204, '', allow]);
  expect(server.mailbox.snapshot()).toEqual(before);
});

test.each(ROUTES.filter(([, allow]) => allow.includes('HEAD')))('HEAD %s is GET without the body', async (path) => {
  await using server = await startServer({ port: 0 });
  const get = await exchange(server, request(`GET ${path}`));
  const head = await exchange(server, request(`HEAD ${path}`), { toHead: true });
  expect(head.status).toBe(200);
  expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'));
});

test.each([
  '/__mock//',
  '/__mock/unknown',
  '/__mock/health/',
  '/__mock//health',
  '/__mock/health/x',
  '/__mock/__proto__',
  '/__mock/v1/webhooks',
])('GET %s is not there', async (path) => {
  await using server = await startServer({ port: 0 });
  const reply = await sendTo(server, `GET ${path}`);
  checkReply(server.mailbox, 'GET', path, reply);
  expect([reply.status, reply.json.code]).toEqual([404, 'NOT_FOUND']);
});

test('a control path with invalid percent-encoding is refused', async () => {
  await using server = await startServer({ port: 0 });
  const { status, json } = await sendTo(server, 'GET /__mock/%zz');
  expect([status, json.code]).toEqual([400, 'VALIDATION_ERROR']);
});

test('the behaviours of the service do not change the control plane', async () => {
  await using server = await startServer({
    port: 0,
    behaviours: {
      'errors.shape': 'error-only',
      'requests.wrong-method': 'not-found',
      'requests.trailing-slash': 'ignored',
      'requests.head': 'refused',
      'requests.undecodable-path': 'not-found',
    },
  });
  expect((await sendTo(server, 'GET /__mock/reset')).json).toMatchObject({ code: 'METHOD_NOT_ALLOWED' });
  expect((await sendTo(server, 'GET /__mock/health/')).json).toMatchObject({ code: 'NOT_FOUND' });
  expect((await sendTo(server, 'HEAD /__mock/health')).status).toBe(200);
  expect((await sendTo(server, 'GET /__mock/%zz')).status).toBe(400);
});

const CONTROL_LINES = [...ROUTES.map(([path, allow]) => `${allow.split(',')[0]} ${path}`), 'GET /__mock/unknown'];

/** Puts a line's control path behind steps that lead nowhere, such as `/x/..`. */
function detour(line: string, steps: string): string {
  return line.replace('/__mock', `${steps}/__mock`);
}

/** The status of a control call for an accepted client, without a body. */
function statusOf(line: string): number {
  if (line.includes('unknown')) return 404;
  return /^POST .+(clock|messages)$/.test(line) ? 400 : 200;
}

function expectRefused(server: MailboxServer, reply: RawReply, status: number, code: string): void {
  checkReply(server.mailbox, 'GET', '/', reply);
  expect([reply.status, reply.json.code]).toEqual([status, code]);
  expect([...reply.headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
}

test.each([
  [['Origin: https://evil.example']],
  [['Origin: null']],
  [['Origin: http://localhost:3000']],
  [['Origin: https://localhost']],
  [['Origin: http://localhost.evil.example']],
  [['Origin:']],
  [['Origin: http://localhost', 'Origin: https://evil.example']],
  [['Sec-Fetch-Site: cross-site']],
  [['Sec-Fetch-Site: same-site']],
  [['Sec-Fetch-Site: whatever']],
  [['Sec-Fetch-Site: none', 'Sec-Fetch-Site: cross-site']],
  [['Origin: http://localhost', 'Sec-Fetch-Site: cross-site']],
  [['Origin: https://evil.example', 'Sec-Fetch-Site: same-origin']],
])('a page of another origin, which sends %j, may not call the control plane', async (headers) => {
  await using server = await startServer({ port: 0, corsOrigins: ['*'] });
  await sendTo(server, 'DELETE /v1/webhooks/ac3e0000-0005-4000-8000-000000000001', { key: KEY });
  const before = server.mailbox.snapshot();
  const lines = [...CONTROL_LINES, 'OPTIONS /__mock/reset', ...CONTROL_LINES.map((line) => detour(line, '/x/..'))];
  for (const line of lines) {
    expectRefused(server, await exchange(server, request(line, headers)), 403, 'FOREIGN_ORIGIN');
  }
  expect(server.mailbox.snapshot()).toEqual(before);
});

test.each([
  [[]],
  [['Origin: http://localhost']],
  [['Origin: http://localhost:4025', 'Host: localhost:4025']],
  [['Origin: http://[::1]:4025', 'Host: [::1]:4025']],
  [['Sec-Fetch-Site: none']],
  [['Sec-Fetch-Site: same-origin']],
  [['Origin: http://localhost', 'Sec-Fetch-Site: same-origin']],
])('a caller of the same origin, which sends %j, may call the control plane', async (headers) => {
  await using server = await startServer({ port: 0 });
  for (const line of CONTROL_LINES) {
    const reply = await exchange(server, request(line, headers));
    expect(reply.status).toBe(statusOf(line));
    expect(reply.headers.get('access-control-allow-origin')).toBeNull();
  }
});

const BEHIND_TLS: ServerOptions[] = [{ publicUrl: 'https://mailbox.example/s2' }, { allowHosts: ['mailbox.example'] }];

test.each(BEHIND_TLS)('a page behind a proxy that ends TLS may call the control plane with %j', async (options) => {
  await using server = await startServer({ port: 0, ...options });
  const byProxy = ['Host: mailbox.example', ...(options.publicUrl ? [] : ['X-Forwarded-Proto: https'])];
  const call = (origin: string) =>
    exchange(server, request('POST /__mock/reset', [...byProxy, `Origin: ${origin}`, 'X-Mock-Token: any']));
  expect((await call('https://mailbox.example')).status).toBe(200);
  for (const origin of [
    'https://mailbox.example:8443',
    'https://evil.example',
    'https://mailbox.example.evil.example',
  ]) {
    expectRefused(server, await call(origin), 403, 'FOREIGN_ORIGIN');
  }
});

test.each(['127.0.0.1', '::1', 'localhost'])('a server bound to %s requires no token', async (host) => {
  await using server = await startServer({ port: 0, host });
  expect(server.controlToken).toBeUndefined();
  expect((await sendTo(server, 'POST /__mock/reset')).status).toBe(200);
});

const CHOSEN_TOKEN = 'a-token+of/everyone=1';

const GUARDED: [title: string, ServerOptions, token: RegExp][] = [
  ['bound to 0.0.0.0', { host: '0.0.0.0' }, /^[0-9a-f]{36}$/],
  ['bound to ::', { host: '::' }, /^[0-9a-f]{36}$/],
  [
    'bound to 0.0.0.0 with a chosen token',
    { host: '0.0.0.0', controlToken: CHOSEN_TOKEN },
    /^a-token\+of\/everyone=1$/,
  ],
  ['bound to loopback with a chosen token', { controlToken: CHOSEN_TOKEN }, /^a-token\+of\/everyone=1$/],
];

test.each(GUARDED)('a server %s requires its token on the control plane', async (_, options, form) => {
  await using server = await startServer({ port: 0, ...options });
  const token = server.controlToken ?? '';
  expect(token).toMatch(form);
  await sendTo(server, 'DELETE /v1/webhooks/ac3e0000-0005-4000-8000-000000000001', { key: KEY });
  const before = server.mailbox.snapshot();

  const wrong = [
    '',
    'undefined',
    token.slice(0, -1),
    `${token}x`,
    `${token.startsWith('x') ? 'y' : 'x'}${token.slice(1)}`,
    KEY,
  ];
  for (const line of [
    ...CONTROL_LINES,
    ...['/x/..', '/.', '/%2e%2E'].map((steps) => detour('POST /__mock/reset', steps)),
  ]) {
    const reply = await exchange(server, request(line));
    expectRefused(server, reply, 401, 'UNAUTHORIZED');
    expect(reply.text).not.toContain(token);
    for (const sent of wrong) {
      expectRefused(server, await exchange(server, request(line, [`X-Mock-Token: ${sent}`])), 401, 'UNAUTHORIZED');
    }
  }
  expect(server.mailbox.snapshot()).toEqual(before);

  for (const line of CONTROL_LINES) {
    const { status } = await exchange(server, request(line, [`X-Mock-Token: ${token}`]));
    expect(status).toBe(statusOf(line));
  }
  expect(server.mailbox.snapshot()).not.toEqual(before);
});

test('a foreign page is refused even with the token', async () => {
  await using server = await startServer({ port: 0, host: '0.0.0.0' });
  const headers = [`X-Mock-Token: ${server.controlToken}`, 'Origin: https://evil.example'];
  expectRefused(server, await exchange(server, request('POST /__mock/reset', headers)), 403, 'FOREIGN_ORIGIN');
});

test('a server bound to every address serves the API without the token', async () => {
  await using server = await startServer({ port: 0, host: '0.0.0.0' });
  expect((await sendTo(server, 'GET /v1/webhooks', { key: KEY })).status).toBe(200);
  expect((await sendTo(server, 'GET /health')).status).toBe(200);
});

test('each server has a token of its own', async () => {
  await using first = await startServer({ port: 0, host: '0.0.0.0' });
  await using second = await startServer({ port: 0, host: '0.0.0.0' });
  expect(first.controlToken).not.toBe(second.controlToken);
});
