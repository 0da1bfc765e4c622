import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { HttpEntry, RequestEntry } from 'agent-mailbox-mock';
import { type MailboxServer, startServer } from 'agent-mailbox-mock/server';
import { expect, test } from 'vitest';
import {
  type KnownKey,
  writeCurl,
  writeFetch,
  writePython,
  writeTest,
} from '../../../../src/inspector/views/requests/request-as-code.ts';

const run = promisify(execFile);

interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

const WEBHOOK = { url: 'http://127.0.0.1:9/in?a=1', events: ['message.received'] };
const TENANT = { 'X-API-Key': 'tk_acme_tenant_key' };
const JSON_TYPE = { 'Content-Type': 'application/json' };

/** Requests of every kind, each of which gives the same reply a second time. */
const REQUESTS: readonly (readonly [string, Sent])[] = [
  ['a list with a query', { path: '/v1/inboxes?limit=1&offset=%20', headers: TENANT }],
  ['a key as a bearer', { path: '/v1/me', headers: { Authorization: 'Bearer tk_acme_tenant_key' } }],
  ['no key', { path: '/v1/me' }],
  ['an unknown path', { path: "/v1/it's", headers: TENANT }],
  [
    'a body',
    { method: 'POST', path: '/v1/webhooks', headers: { ...TENANT, ...JSON_TYPE }, body: JSON.stringify(WEBHOOK) },
  ],
  [
    'a body with quotes, backslashes and line breaks',
    {
      method: 'POST',
      path: '/v1/webhooks',
      headers: { ...TENANT, ...JSON_TYPE },
      body: '{"url":"it\'s $HOME `a` \\\\ \\n",\n"events":[]}',
    },
  ],
  [
    'a body without a type',
    { method: 'POST', path: '/v1/webhooks', headers: { ...TENANT, 'Content-Type': '' }, body: '{' },
  ],
  [
    'a body without a type, and a header',
    { method: 'POST', path: '/v1/webhooks', headers: { ...TENANT, 'X-Test': '1' }, body: '{' },
  ],
  ['a refusal of the operator', { path: '/v1/inboxes', headers: { 'X-API-Key': 'sa_platform_operator_key' } }],
];

const VARIABLES = { MAILBOX_TENANT_KEY: 'tk_acme_tenant_key', MAILBOX_OPERATOR_KEY: 'sa_platform_operator_key' };

async function send({ url, mailbox }: MailboxServer, { path, body, ...init }: Sent): Promise<HttpEntry> {
  // A text would get a content type; bytes have none.
  await fetch(url + path, { ...init, ...(body !== undefined && { body: Buffer.from(body) }) });
  const entry = mailbox.requests().at(-1);
  if (entry?.protocol !== 'http') throw new Error('The journal has no request.');
  return entry;
}

const bodyOf = ({ request }: RequestEntry) => request.body;

test.each(REQUESTS)('a curl command sends a request with %s again', async (_, sent) => {
  await using server = await startServer({ port: 0 });
  const entry = await send(server, sent);
  const command = writeCurl(entry, server.url);
  expect(command).not.toContain('tk_acme');
  await run('sh', ['-c', command], { env: { ...process.env, ...VARIABLES, NO_PROXY: '*', no_proxy: '*' } });
  const again = server.mailbox.requests().at(-1);
  const { method, path, status, code, key, request } = entry;
  expect(again).toMatchObject({
    method,
    path,
    status,
    code,
    key,
    request: { query: request.query, body: bodyOf(entry) },
  });
  expect(again?.request.headers['content-type'] ?? '').toBe(request.headers['content-type'] ?? '');
  expect(again?.id).not.toBe(entry.id);
});

/** Runs the code of a test. */
async function runTest(code: string, env: Record<string, string>): Promise<string[]> {
  const tests: { title: string; body: () => Promise<void> }[] = [];
  const register = (title: string, body: () => Promise<void>) => void tests.push({ title, body });
  const script = code.replace(/^import .*$/m, '');
  new Function('test', 'expect', 'process', script)(register, expect, { env });
  for (const { body } of tests) await body();
  return tests.map(({ title }) => title);
}

test.each(REQUESTS)('a test sends a request with %s again and passes', async (_, sent) => {
  await using server = await startServer({ port: 0 });
  const entry = await send(server, sent);
  const titles = await runTest(writeTest(entry, server.url), { MAILBOX_BASE_URL: server.url, ...VARIABLES });
  expect(titles).toEqual([expect.stringMatching(new RegExp(`is answered with ${entry.status}`))]);
  const again = server.mailbox.requests().at(-1);
  const { method, path, status, key } = entry;
  expect(again).toMatchObject({ method, path, status, key });
  expect(again?.id).not.toBe(entry.id);
  expect(again && bodyOf(again)).toBe(bodyOf(entry));
});

/** The keys of the requests, as the page knows them: the first of their tier, and those that `exec` sets no variable for. */
const knownKey = ({ principal }: RequestEntry, isFirst: boolean): KnownKey | undefined =>
  principal
    ? { text: VARIABLES[principal.tier === 'operator' ? 'MAILBOX_OPERATOR_KEY' : 'MAILBOX_TENANT_KEY'], isFirst }
    : undefined;

test.each(REQUESTS)('code with the key itself sends a request with %s again', async (_, sent) => {
  await using server = await startServer({ port: 0 });
  const entry = await send(server, sent);
  const env = { PATH: process.env.PATH, NO_PROXY: '*', no_proxy: '*' };
  for (const isFirst of [true, false]) {
    const known = knownKey(entry, isFirst);
    await run('sh', ['-c', writeCurl(entry, server.url, known)], { env });
    await run(process.execPath, ['--input-type=module', '-e', writeFetch(entry, server.url, known)], { env });
    // Python sends a type of its own with a body, and takes no header without a value.
    if (!sent.body || sent.headers?.['Content-Type'])
      await run('python3', ['-c', writePython(entry, server.url, known)], { env });
    await runTest(writeTest(entry, server.url, known), { MAILBOX_BASE_URL: server.url });
  }
  const { method, path, status, key } = entry;
  const again = server.mailbox.requests().slice(1);
  expect(again.length).toBeGreaterThanOrEqual(6);
  for (const each of again) {
    expect(each).toMatchObject({ method, path, status, key });
    expect(bodyOf(each)).toBe(bodyOf(entry));
  }
});

test('a test fails if the reply differs', async () => {
  await using server = await startServer({ port: 0 });
  const entry = await send(server, { path: '/v1/me', headers: TENANT });
  await expect(runTest(writeTest(entry, server.url), { MAILBOX_BASE_URL: server.url })).rejects.toThrow('401');
});

test('what the journal does not keep is said', async () => {
  await using server = await startServer({ port: 0 });
  const post = (body: string) =>
    send(server, { method: 'POST', path: '/v1/webhooks', headers: { ...TENANT, ...JSON_TYPE }, body });
  const large = await post(`"${'x'.repeat(20_000)}"`);
  const masked = await post('{"key":"tk_acme_tenant_key"}');
  expect(writeCurl(large, server.url)).toMatch(/^# Only the start of the body is in the journal\.\ncurl /);
  expect(writeTest(masked, server.url)).toContain(
    '// Keys and passwords in the body are masked; replace what ends with ….\n',
  );
});
