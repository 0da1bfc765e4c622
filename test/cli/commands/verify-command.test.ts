import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type MailboxServer, startServer } from 'agent-mailbox-mock/server';
import { expect, type TestContext, test } from 'vitest';
import { maskFinding, type Verification } from '../../../src/verify/finding.ts';
import { findingLines, junitOf, summaryLines } from '../../../src/verify/findings-report.ts';
import { verifyServer } from '../../../src/verify/verify-server.ts';
import { type Target, VerifyError } from '../../../src/verify/verify-session.ts';
import { NEVER, runHere } from '../../support/command.ts';
import { BROKEN_SERVERS, sendThrough } from '../../verify/broken-servers.ts';
import { compareServer } from '../../verify/compare-server.ts';

const KEYS = ['--api-key', 'tk_acme_tenant_key'];
const ALL_KEYS = [...KEYS, '--second-key', 'tk_globex_tenant_key', '--operator-key', 'sa_platform_operator_key'];

/** A busy machine may need longer for a run than it has by default. */
const ON_BUSY_MACHINE = ['--timeout', '3600'];

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

/** The paths of the webhooks of both tenants. */
async function webhookPaths({ mailbox }: MailboxServer): Promise<string[]> {
  const lists = [mailbox.keys.acme.tenant, mailbox.keys.globex.tenant].map(async (key) => {
    const response = await mailbox.fetch('https://mailbox.test/v1/webhooks', { headers: { 'X-API-Key': key } });
    const { webhooks } = (await response.json()) as { webhooks: { id: string }[] };
    return webhooks.map(({ id }) => `/v1/webhooks/${id}`);
  });
  return (await Promise.all(lists)).flat();
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
  const { code, out, err } = await verify(server.url, [...ALL_KEYS, ...files, ...ON_BUSY_MACHINE]);
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
  const { code, out } = await verify(server.url, [...KEYS, '--json', ...ON_BUSY_MACHINE]);
  const { findings } = JSON.parse(out.at(-1) ?? '') as Verification;
  expect(findings.filter(({ verdict }) => verdict === 'differs')).toEqual([
    {
      id: 'webhooks.delete.body',
      stated: 'the answer to "What does deleting a webhook return?" is: { deleted: true, id }, as for other resources',
      origin: 'open choice',
      verdict: 'differs',
      found: 'empty',
      emulator: 'deleted-and-id',
      accepts: 'webhooks.delete.body=empty',
    },
  ]);
  expect(code).toBe(1);
});

test('what was not compared says why, and which flag would compare it, in each form', async () => {
  await using server = await startServer({ port: 0 });
  const folder = await mkdtemp(join(tmpdir(), 'verify-'));
  const file = join(folder, 'junit.xml');
  const profile = join(folder, 'profile.json');
  await writeFile(profile, '{"behaviours":{}}');
  const { out } = await verify(server.url, [...KEYS, '--profile', profile, '--junit', file, '--no-deliveries']);
  const text = out.join('\n').replaceAll(/\s+/g, ' ');
  const junit = await readFile(file, 'utf8');
  const { out: json } = await verify(server.url, [...KEYS, '--profile', profile, '--json', '--no-deliveries']);
  const { findings } = JSON.parse(json.at(-1) ?? '') as Verification;
  for (const [id, reason, flag] of [
    ['tenants.create.reply', 'the check needs a key of the operator', '--operator-key, an sa_ key'],
    [
      'sendMessage: reply',
      'the check sends a mail, which calls the webhooks of the tenant',
      'a run without --no-deliveries',
    ],
  ] as const) {
    const finding = findings.find((each) => each.id === id);
    expect(finding).toMatchObject({
      verdict: 'not compared',
      found: expect.stringContaining(reason),
      observableWith: flag,
    });
    expect(text).toContain(`· ${id}: not compared ${finding?.found} to compare it: ${flag}`);
    expect(junit).toContain(`${finding?.found}; to compare it: ${flag}`);
  }
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

test('what is not deleted, although the server says so, is named in each report', async () => {
  await using server = await startServer({ port: 0 });
  const { acme, globex } = server.mailbox.keys;
  const lying = BROKEN_SERVERS.find(({ name }) => name === 'not deleted: deleteWebhook')?.create();
  if (!lying) throw new Error('There is no such broken server.');
  const keys = { tenant: acme.tenant, otherTenant: globex.tenant };
  const before = await webhookPaths(server);
  const result = await compareServer(server, { send: sendThrough(server.mailbox, lying, keys) }, { profile: {} });
  const undeleted = (await webhookPaths(server)).filter((path) => !before.includes(path));
  expect(undeleted.length).toBeGreaterThan(0);
  expect(result.left.toSorted()).toEqual(undeleted.toSorted());
  expect(summaryLines(result)).toEqual(
    expect.arrayContaining(['What could not be deleted:', ...undeleted.map((path) => `    ${path}`)]),
  );
  for (const path of undeleted) expect(junitOf(result)).toContain(path);
  expect(JSON.parse(JSON.stringify(result)).left).toEqual(result.left);
});

test('each report says why a run ended early, and shows no key and no control character of the server', () => {
  const result: Verification = {
    stopped: 'the run was stopped',
    findings: [
      maskFinding({
        id: 'getMe: reply',
        stated: 'the reply',
        origin: 'document',
        verdict: 'differs',
        found: 'tk_secret_key_of_mine \u001b[2J\nx',
        emulator: 'a key',
      }),
    ],
    behaviours: {},
    left: [],
  };
  const junit = junitOf(result);
  expect(junit).toContain('tests="2" failures="1" errors="1" skipped="0"');
  expect(junit).toContain('<error message="The run ended early: the run was stopped."/>');
  const lines = [...result.findings.flatMap(findingLines), ...summaryLines(result)];
  expect(lines).toContain('The run ended early: the run was stopped.');
  for (const text of [junit, lines.join(''), JSON.stringify(result)]) {
    expect(text).not.toContain('secret_key');
    expect(text.replaceAll('\n', '')).not.toMatch(/\p{Cc}|\\u001b/u);
  }
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

test('two keys of one tenant are refused, because everything would look like a leak', async () => {
  await using server = await startServer({ port: 0 });
  const key = server.mailbox.keys.acme.tenant;
  await expect(verifyServer({ baseUrl: server.url, keys: { tenant: key, otherTenant: key } })).rejects.toThrow(
    'the second key must be a key of another tenant, and GET /v1/me names the same',
  );
});

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
    ['--base-url', 'http://127.0.0.1:9', '--second-key', KEYS[1] ?? '', ...KEYS],
    'The flag --second-key must be a key of another tenant than --api-key.',
  ],
  [
    ['--base-url', 'http://127.0.0.1:9', '--receiver-url', 'hooks.example.com', ...KEYS],
    'The flag --receiver-url must be a URL such as https://hooks.example.com, not "hooks.example.com".',
  ],
])('wrong usage is told: %j', async ([args, sentence]) => {
  const { code, err } = await runHere(['verify', ...args], {}, { interrupted: NEVER });
  expect(code).toBe(2);
  expect(err).toContain(sentence);
  expect(err).not.toContain('wk_secret');
});
