import { startServer } from 'agent-mailbox-mock/server';
import { expect, test } from 'vitest';
import { createControlClient } from '../../src/control/table/client.ts';
import { exchange, request } from '../support/raw-http.ts';

const PUBLIC = 'https://mailbox.example/s2';

const jsonOf = async (url: string, init?: RequestInit) => (await fetch(url, init)).json();

test('each reply that concerns sandboxes names the process by its public URL', async () => {
  await using server = await startServer({ port: 0, publicUrl: `${PUBLIC}/`, smtpPort: 0, imapPort: 0 });
  const ports = { smtp: { port: server.smtp?.port }, imap: { port: server.imap?.port } };
  const created = await jsonOf(`${server.control}/sandboxes`, { method: 'POST' });
  expect(created).toMatchObject({ url: PUBLIC, ...ports });
  expect(await jsonOf(`${server.control}/sandboxes`)).toEqual({ url: PUBLIC, ...ports, sandboxes: [created] });
  expect(await jsonOf(`${server.control}/sandboxes/${created.id}`)).toEqual(created);
  expect(await jsonOf(`${server.control}/health`)).toMatchObject({ status: 'ok', url: PUBLIC, ...ports });
});

test('without a public URL, a reply has the URL that the client called', async () => {
  await using server = await startServer({ port: 0 });
  const client = createControlClient(server);
  expect((await client.createSandbox()).url).toBe(server.url);
  const called = server.url.replace('127.0.0.1', 'localhost');
  expect(await jsonOf(`${called}/__mock/health`)).toMatchObject({ url: called });
  const headers = { 'X-Forwarded-Proto': 'https' };
  const behindTls = await jsonOf(`${server.control}/health`, { headers });
  expect(behindTls).toMatchObject({ url: server.url.replace('http:', 'https:') });
});

test('a Host may be that of the public URL, and no other', async () => {
  await using server = await startServer({ port: 0, publicUrl: PUBLIC });
  const call = (host: string) => exchange(server, request('GET /health', [`Host: ${host}`]));
  expect((await call('mailbox.example')).status).toBe(200);
  expect((await call('mailbox.example:8080')).status).toBe(200);
  expect((await call('s2.mailbox.example')).status).toBe(403);
});

test.each([
  'mailbox.example',
  'ftp://mailbox.example',
  'https://a:b@mailbox.example',
  'https://mailbox.example/?s=2',
  4,
])('the public URL %o is refused', async (publicUrl) => {
  await expect(startServer({ port: 0, publicUrl: publicUrl as string })).rejects.toThrow(
    'The option publicUrl must be an http or https URL without a query, such as https://mailbox.example/s2, not ',
  );
});

test('a key of another process gets the usual 401, and log and journal say where sandboxes live', async () => {
  const lines: string[] = [];
  await using one = await startServer({ port: 0, log: (line) => lines.push(line) });
  await using other = await startServer({ port: 0 });
  const { keys } = await createControlClient(other).createSandbox();
  const response = await fetch(`${one.url}/v1/webhooks`, { headers: { 'X-API-Key': keys.tenant } });
  expect(response.status).toBe(401);
  expect(await response.json()).toEqual({
    error: 'The API key is not valid: it is unknown or has been revoked.',
    code: 'UNAUTHORIZED',
  });
  const reason =
    'The API key is not valid: it is unknown or has been revoked; the key of a sandbox is valid only at the URL ' +
    'where the sandbox was created.';
  expect((await jsonOf(`${one.control}/requests`)).requests.at(-1)).toMatchObject({ status: 401, reason });
  expect(lines.join('\n')).toContain(reason);
});

test('a server that was told to end is not ready, and works on until its time is over', async () => {
  const server = await startServer({ port: 0, drain: '1h', controlToken: 'a-token-of-the-test' });
  const client = createControlClient({ control: server.control, token: server.controlToken });
  const { id } = await client.createSandbox();
  // A balancer has no token.
  expect((await fetch(`${server.control}/ready`)).status).toBe(200);
  await client.addFault({ on: 'request', operation: 'listWebhooks', latency: { ms: 100 } });
  const headers = { 'X-API-Key': server.mailbox.keys.acme.tenant };
  const slow = fetch(`${server.url}/v1/webhooks`, { headers });

  void server.close();
  const ready = await fetch(`${server.control}/ready`);
  expect([ready.status, await ready.json()]).toEqual([
    503,
    { error: 'This server is about to end.', code: 'SERVER_UNAVAILABLE' },
  ]);
  await expect(client.createSandbox()).rejects.toThrow('This server is about to end.');
  expect((await slow).status).toBe(200);
  expect(await client.getSandbox({ id })).toMatchObject({ id });
  // A second call does not wait.
  await server.close();
  await expect(fetch(`${server.control}/ready`)).rejects.toThrow('fetch failed');
});

test('a server ends when its time to drain is over', async () => {
  const server = await startServer({ port: 0, drain: '20ms' });
  await server.close();
  await expect(fetch(`${server.control}/ready`)).rejects.toThrow('fetch failed');
});
