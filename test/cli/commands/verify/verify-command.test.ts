import { mkdtemp, readFile } from 'node:fs/promises';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type MailboxServer, startServer } from 'agent-mailbox-mock/server';
import { expect, type TestContext, test } from 'vitest';
import type { Verification } from '../../../../src/cli/commands/verify/finding.ts';
import { verifyServer } from '../../../../src/cli/commands/verify/verify-server.ts';
import { type Target, VerifyError } from '../../../../src/cli/commands/verify/verify-session.ts';
import { NEVER, runHere } from '../../../support/command.ts';
import { compareServer } from './compare-server.ts';

const KEYS = ['--api-key', 'tk_acme_tenant_key'];
const ALL_KEYS = [...KEYS, '--second-key', 'tk_globex_tenant_key', '--operator-key', 'sa_platform_operator_key'];

const verify = (url: string, args: readonly string[] = [], interrupted: Promise<NodeJS.Signals | undefined> = NEVER) =>
  runHere(['verify', '--base-url', url, ...args], {}, { interrupted });

/** What the keys of both tenants can list. */
async function listAll({ url, mailbox }: MailboxServer): Promise<unknown[]> {
  const paths = ['workspaces', 'webhooks', 'inboxes', 'domains', 'messages'];
  const calls = [mailbox.keys.acme.tenant, mailbox.keys.globex.tenant].flatMap((key) =>
    paths.map(async (path) => (await fetch(`${url}/v1/${path}`, { headers: { 'X-API-Key': key } })).json()),
  );
  return await Promise.all(calls);
}

/** Starts a server that is none of ours. */
async function listen(context: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a run leaves nothing behind, prints no key, and fits into 80 columns', async () => {
  await using server = await startServer({ port: 0 });
  const before = await listAll(server);
  const folder = await mkdtemp(join(tmpdir(), 'verify-'));
  const files = ['--write-profile', join(folder, 'profile.json'), '--junit', join(folder, 'junit.xml')];
  const { code, out, err } = await verify(server.url, [...ALL_KEYS, ...files]);
  expect(err).toBe('');
  expect(code).toBe(0);
  const after = await listAll(server);
  expect(after).toEqual(before);
  const lines = out.join('\n').split('\n');
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  expect(lines.at(-1)).toMatch(/^\d+ agree, 0 differ, \d+ not compared$/);
  const junit = await readFile(join(folder, 'junit.xml'), 'utf8');
  expect(junit).toContain('failures="0"');
  for (const text of [out.join('\n'), junit]) expect(text).not.toMatch(/(?:sa|tk|wk|ak)_[\w-]{10,}/);
  const profile = JSON.parse(await readFile(join(folder, 'profile.json'), 'utf8'));
  expect(profile.behaviours['webhooks.delete.body']).toBe('deleted-and-id');
  expect(profile.found['webhooks.delete.body']).toEqual({ at: expect.stringMatching(/Z$/), on: server.url });
});

test('what differs is explained, and the exit code is 1', async () => {
  await using server = await startServer({ port: 0, behaviours: { 'webhooks.delete.body': 'empty' } });
  const { code, out } = await verify(server.url, [...KEYS, '--json']);
  const { findings } = JSON.parse(out.at(-1) ?? '') as Verification;
  expect(findings.filter(({ verdict }) => verdict === 'differs')).toEqual([
    {
      id: 'webhooks.delete.body',
      stated: 'What does deleting a webhook return?',
      verdict: 'differs',
      found: 'empty',
      emulator: 'deleted-and-id',
    },
  ]);
  const reasons = new Map(findings.map(({ id, verdict, found }) => [id, `${verdict}: ${found}`]));
  expect(reasons.get('tenants.delete.body')).toBe('not compared: the check needs --operator-key');
  expect(reasons.get('inboxes.create.again')).toMatch(/^not compared: the check needs --second-key/);
  expect(code).toBe(1);
});

test('a run that is stopped deletes what it created', async () => {
  await using server = await startServer({ port: 0 });
  const before = await listAll(server);
  const controller = new AbortController();
  let count = 0;
  const report = () => {
    count += 1;
    if (count === 20) controller.abort();
  };
  const { findings, left, stopped } = await compareServer(server, { signal: controller.signal }, { report });
  expect(left).toEqual([]);
  expect(stopped).toBe('the run was stopped');
  expect(findings.at(-1)).toMatchObject({ verdict: 'not compared', found: 'the run was stopped' });
  expect(await listAll(server)).toEqual(before);
});

test('what could not be deleted is named', async () => {
  await using server = await startServer({ port: 0 });
  const controller = new AbortController();
  const target: Partial<Target> = {
    send: async (url, init) => {
      if (controller.signal.aborted && init.method !== 'DELETE') throw new VerifyError('the run was stopped');
      const isKept = init.method === 'DELETE' && /workspaces\/[^/]+$/.test(url);
      const response = isKept ? new Response('{}', { status: 500 }) : await fetch(url, init);
      const text = await response.text();
      return {
        status: response.status,
        headers: response.headers,
        text,
        body: text.startsWith('{') ? JSON.parse(text) : {},
      };
    },
  };
  const report = () => controller.abort();
  const { left } = await compareServer(server, { ...target, signal: controller.signal }, { report });
  expect(left).toContainEqual(expect.stringMatching(/^\/v1\/workspaces\//));
});

test.for<[string, RequestListener, RegExp]>([
  [
    'answers HTML',
    (_, response) => response.setHeader('Content-Type', 'text/html').end('<p>Hello</p>'),
    /have no id, key and email/,
  ],
  ['answers 500', (_, response) => response.writeHead(500).end('{"error":"x"}'), /answered with 500/],
  ['closes', (request) => request.socket.destroy(), /POST \/v1\/workspaces failed: /],
  ['is endless', (_, response) => void endless(response), /larger than 4194304 bytes/],
])('a server that %s is told in one sentence', async ([, answer, sentence], context) => {
  const url = await listen(context, answer);
  const { code, out, err } = await verify(url, KEYS);
  expect(code).toBe(1);
  expect(out).toEqual([]);
  expect(err).toMatch(/^agent-mailbox-mock: The command verify cannot begin: [^\n]+\.$/);
  expect(err).toMatch(sentence);
});

/** Writes without an end, as fast as the other side reads. */
function endless(response: ServerResponse): void {
  const write = () => {
    while (!response.destroyed && response.write('x'.repeat(65_536)));
    if (!response.destroyed) response.once('drain', write);
  };
  write();
}

test('a slash at the end of the URL is no part of the paths', async (context) => {
  const paths: (string | undefined)[] = [];
  const url = await listen(context, ({ url }, response) => {
    paths.push(url);
    response.writeHead(500).end();
  });
  const { err } = await verify(`${url}/`, KEYS);
  expect(err).toContain('answered with 500');
  expect(paths.length).toBeGreaterThan(0);
  expect(paths.filter((path) => path?.startsWith('//'))).toEqual([]);
});

test.for(['api.example.com', 'ftp://api.example.com'])('verifyServer says what its URLs must be: %s', async (url) => {
  const keys = { tenant: 'tk_acme_tenant_key' };
  const sentence = /^The option \w+ must be a URL that begins with http: or https:, not .*example\.com.\.$/;
  await expect(verifyServer({ baseUrl: url, keys })).rejects.toThrow(sentence);
  await expect(verifyServer({ baseUrl: 'http://127.0.0.1:9', receiverUrl: url, keys })).rejects.toThrow(sentence);
});

test.for<[string[], string]>([
  [['--api-key', 'tk_acme_tenant_key'], 'needs --base-url'],
  [['--base-url', 'http://127.0.0.1:9'], 'needs --api-key'],
  [
    ['--base-url', 'http://127.0.0.1:9', '--api-key', 'wk_secret_of_mine'],
    '--api-key must be a key that begins with tk_.',
  ],
  [['--base-url', 'https://api.example.com', ...KEYS], 'allow it with --yes'],
  [
    ['--base-url', 'http://127.0.0.1:9', '--receiver-url', 'hooks.example.com', ...KEYS],
    '--receiver-url must be a URL such as https://hooks.example.com, not "hooks.example.com".',
  ],
])('wrong usage is told: %j', async ([args, sentence]) => {
  const { code, err } = await runHere(['verify', ...args], {}, { interrupted: NEVER });
  expect(code).toBe(2);
  expect(err).toContain(sentence);
  expect(err).not.toContain('wk_secret');
});
