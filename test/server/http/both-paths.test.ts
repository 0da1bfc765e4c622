import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { type MailboxServer, startServer } from 'agent-mailbox-mock/server';
import { expect, test } from 'vitest';
import { mailboxAsHandler } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';
import { request } from '../../support/raw-http.ts';

const KEYS = ['tk_acme_tenant_key', 'wk_acme_support_key', 'ak_acme_helpdesk_key', 'sa_operator_key', 'tk_unknown_key'];

const PATHS = [
  '/',
  '/health',
  '/v1',
  '/v1/',
  '/V1/webhooks',
  '/v1/webhooks',
  '/v1/webhooks/',
  '/v1/webhooks?limit=1&limit=2&%20=+',
  '//v1/webhooks',
  '/v1/./x/../webhooks',
  '/v1\\webhooks',
  '/v1/%zz',
  '/v1/%77ebhooks',
  `/v1/inboxes/${IDS.acme.inboxes.helpdesk}/messages`,
  `/v1/inboxes/${IDS.acme.inboxes.helpdesk.toUpperCase()}`,
  '/v1/messages?group=thread',
  '/v1/domains',
  '/v1/ws',
  '/__MOCK/health',
  '/__mock/health',
  '/__mock/unknown',
];

const JSON_TYPE = 'Content-Type: application/json';

/** Bodies and their headers. */
const BODIES: readonly (readonly [headers: readonly string[], body: string])[] = [
  [[], ''],
  [[JSON_TYPE], '{"url":"https://agent.example/in","events":["message.received"]}'],
  [[JSON_TYPE], '{"url":'],
  [[JSON_TYPE, 'Transfer-Encoding: chunked'], '2\r\n{}\r\n0\r\n\r\n'],
  [['Content-Type: text/plain'], 'Hello'],
  [[JSON_TYPE], JSON.stringify({ url: 'x'.repeat(1024 * 1024) })],
];

const HEADERS = [
  ['Origin: http://localhost:5173', 'Access-Control-Request-Method: POST'],
  ['Origin: http://localhost:5173'],
  ['Origin: https://elsewhere.example'],
  ['Accept: msw/passthrough'],
  ['Accept: text/html', 'Accept: application/json'],
  ['Host: elsewhere.example'],
  ['Cookie: a=b; c'],
  ['X-API-Key: tk_acme_tenant_key', 'X-API-Key: tk_globex_tenant_key'],
];

function withLength(headers: readonly string[], body: string): string[] {
  const isChunked = headers.some((header) => header.startsWith('Transfer-Encoding'));
  return isChunked || body === '' ? [...headers] : [...headers, `Content-Length: ${Buffer.byteLength(body)}`];
}

/** More than 200 requests; each may depend on the effects of earlier ones. */
const REQUESTS: readonly string[] = [
  ...KEYS.flatMap((key) => PATHS.map((path) => request(`GET ${path}`, [`X-API-Key: ${key}`]))),
  ...['HEAD', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS', 'TRACE'].flatMap((method) =>
    PATHS.map((path) => request(`${method} ${path}`, ['X-API-Key: tk_acme_tenant_key'])),
  ),
  ...['POST', 'PATCH', 'DELETE'].flatMap((method) =>
    BODIES.map(([headers, body]) =>
      request(`${method} /v1/webhooks`, ['X-API-Key: tk_acme_tenant_key', ...withLength(headers, body)], body),
    ),
  ),
  ...['GET', 'OPTIONS', 'POST'].flatMap((method) =>
    HEADERS.map((headers) =>
      request(`${method} /v1/webhooks`, ['Authorization: Bearer tk_acme_tenant_key', ...headers]),
    ),
  ),
];

/** The same time and the same ids in both servers. */
function createRepeatableEnvironment() {
  let count = 0;
  return {
    now: () => new Date('2026-01-01T00:00:00Z'),
    randomBytes(length: number) {
      count += 1;
      return Uint8Array.from({ length }, (_, index) => (count * 31 + index * 7) % 251);
    },
  };
}

/** Returns a complete reply without its date, with sorted headers, because fetch sorts them. */
async function replyOf({ port }: MailboxServer, bytes: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.write(bytes.replace('\r\n', '\r\nConnection: close\r\n'));
  const reply = await text(socket);
  socket.end();
  const [head = '', ...rest] = reply.split('\r\n\r\n');
  const [status, ...headers] = head.split('\r\n').filter((line) => !line.startsWith('Date: '));
  return [status, ...headers.sort(), '', ...rest].join('\r\n');
}

test('replies are the same with and without user handlers', async () => {
  await using short = await startServer({ port: 0, environment: createRepeatableEnvironment() });
  await using msw = await startServer({
    port: 0,
    environment: createRepeatableEnvironment(),
    handlers: mailboxAsHandler,
  });
  expect(REQUESTS.length).toBeGreaterThan(200);
  for (const bytes of REQUESTS) {
    expect({ bytes, reply: await replyOf(msw, bytes) }).toEqual({ bytes, reply: await replyOf(short, bytes) });
  }
});
