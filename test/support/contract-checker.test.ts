import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createMailbox } from 'agent-mailbox-mock';
import { expect, type TaskMeta, test } from 'vitest';
import { type CheckedRequest, sendChecked, type Target } from './contract-checker.ts';

interface Answer {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body: string | Uint8Array;
}

const JSON_TYPE = { 'content-type': 'application/json' };
const HEALTH = { method: 'GET', path: '/health', options: {} };

const { behaviours, openApi } = createMailbox();
const DOCUMENT = openApi();

/** A server that answers every request alike, checked against the document of a mailbox. */
async function serve({ status, headers = JSON_TYPE, body }: Answer): Promise<Target & AsyncDisposable> {
  const server = createServer((_, response) => void response.writeHead(status, headers).end(body));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    behaviours,
    document: DOCUMENT,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const error = (code: string) => JSON.stringify({ error: 'No.', code });

const KEY = { key: 'tk_acme_tenant_key' };

const BROKEN: [title: string, answer: Answer, violation: RegExp, request?: CheckedRequest][] = [
  ['a body that is not its schema', { status: 200, body: '{"status":"down"}' }, /body\.status|"status"/],
  ['a field too many', { status: 200, body: '{"status":"ok","more":1}' }, /found 'more'/],
  ['another media type', { status: 200, headers: { 'content-type': 'text/plain' }, body: 'ok' }, /media type/],
  ['a success of another status', { status: 201, body: '{"status":"ok"}' }, /status code/],
  ['an error of another status', { status: 418, body: error('TEAPOT') }, /status code/],
  ['a code that the operation does not have', { status: 403, body: error('USERNAME_TAKEN') }, /HOST_NOT_ALLOWED/],
  ['an error without a code', { status: 500, body: '{"error":"No."}' }, /code/],
  [
    'a 401 without its challenge',
    { status: 401, body: error('UNAUTHORIZED') },
    /www-authenticate/i,
    { method: 'GET', path: '/v1/webhooks', options: KEY },
  ],
];

test.each(BROKEN)('%s breaks the document', async (_, answer, violation, request = HEALTH) => {
  await using target = await serve(answer);
  const checked = sendChecked(target, request, {});
  await expect(checked).rejects.toThrow(/breaks the OpenAPI document/);
  await expect(checked).rejects.toThrow(violation);
});

const REFUSED: [title: string, request: CheckedRequest][] = [
  ['a request without a key', { method: 'GET', path: '/v1/webhooks', options: {} }],
  ['a body that is not its schema', { method: 'POST', path: '/v1/webhooks', options: { ...KEY, json: { url: 1 } } }],
  ['an unknown path', { method: 'GET', path: '/v1/nothing', options: KEY }],
  ['an unknown method', { method: 'PUT', path: '/v1/webhooks', options: KEY }],
  ['a path that does not decode', { method: 'DELETE', path: '/v1/webhooks/%ZZ', options: KEY }],
];

test.each(REFUSED)('%s must not be taken', async (_, request) => {
  await using target = await serve({ status: 200, body: '{}' });
  await expect(sendChecked(target, request, {})).rejects.toThrow(/but the document refuses it/);
});

test.each(REFUSED)('%s may be refused', async (_, request) => {
  await using target = await serve({ status: 404, body: error('NOT_FOUND') });
  const meta: TaskMeta = {};
  expect((await sendChecked(target, request, meta)).status).toBe(404);
  expect(meta.checked).toEqual({ replies: 0, refusals: 1, leniencies: [] });
});

test('a reply that keeps the document comes through as it was', async () => {
  const body = '{ "status" :\n"ok" }';
  await using target = await serve({ status: 200, headers: { ...JSON_TYPE, 'x-mock-assumed': 'health.body' }, body });
  const meta: TaskMeta = {};
  const { status, headers, text } = await sendChecked(target, HEALTH, meta);
  expect([status, headers.get('x-mock-assumed'), text]).toEqual([200, 'health.body', body]);
  expect(meta.checked).toEqual({ replies: 1, refusals: 0, leniencies: [] });
});

test('bytes come through as they were', async () => {
  const bytes = new Uint8Array([0, 0xff, 0xfe, 0x0d, 0x0a, 0x80]);
  await using target = await serve({ status: 200, headers: { 'content-type': 'image/png' }, body: bytes });
  const responses = { 200: { description: 'Success', content: { '*/*': {} } } };
  const document = { openapi: '3.1.0', info: {}, paths: { '/bytes': { get: { responses } } } } as const;
  const reply = await sendChecked({ ...target, document }, { method: 'GET', path: '/bytes', options: {} }, {});
  expect(reply.bytes).toEqual(bytes);
});
