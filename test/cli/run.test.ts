import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer as createHttpServer, type IncomingHttpHeaders, request } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createMailbox, type Delivery } from 'agent-mailbox-mock';
import { type TestContext, test, vi } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { maskSecrets } from '../../src/server/server-log.ts';
import { linesOf, runHere } from '../support/command.ts';
import { writeFixture } from '../support/folder.ts';
import { withoutTimeOfDay, withoutTimes } from '../support/log.ts';
import { COMMAND, run, runCommand, SCRIPT, startCommand } from '../support/processes.ts';
import { ROOT } from '../support/root.ts';

// Each process takes its time to start while other tests keep this machine busy.
vi.setConfig({ testTimeout: 60_000 });

const { keys, ids } = createMailbox();
const { acme, globex, operator } = keys;
const ONE_KEY_PER_TIER = {
  operator,
  tenant: acme.tenant,
  workspace: acme.workspaces.support,
  inbox: acme.inboxes.helpdesk,
};

test.for([['--bogus'], ['bogus']])(
  'ends with 2 after %j, one sentence on stderr and nothing else',
  async (args, test) => {
    const running = runCommand(test, args);
    test.expect(await running.ended).toEqual({ code: 2, signal: null });
    test.expect(running.stdout).toBe('');
    test.expect(running.stderr).toMatch(/^agent-mailbox-mock: [^\n]+\.\n$/);
  },
);

test('shows its version', async (test) => {
  const running = runCommand(test, ['--version']);
  test.expect(await running.ended).toEqual({ code: 0, signal: null });
  test.expect(running).toMatchObject({ stdout: `${packageJson.version}\n`, stderr: '' });
});

test('prints its help, whole and once', async (test) => {
  const running = runCommand(test, ['--help']);
  test.expect(await running.ended).toEqual({ code: 0, signal: null });
  const { out } = await runHere(['--help']);
  test.expect(running).toMatchObject({ stdout: `${out.join('\n')}\n`, stderr: '' });
});

/** Twice what the document allows for an end, because other tests keep this machine busy. */
const END_LIMIT_MS = 2_000;

/** Sends a request with any headers, `Host` and `Origin` too. */
async function get(url: string, headers: Record<string, string> = {}) {
  const sent = request(url, { headers, agent: false }).end();
  const [response] = await once(sent, 'response');
  const reply: { status: number; headers: IncomingHttpHeaders; body: string } = {
    status: response.statusCode,
    headers: response.headers,
    body: await text(response),
  };
  return reply;
}

/** Holds a port of 127.0.0.1 until the test ends. */
async function takePort({ onTestFinished }: TestContext): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.close();
  });
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Opens a connection that stays open until the test ends; its errors are ignored. */
async function openConnection({ onTestFinished }: TestContext, port: number, bytes = ''): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  onTestFinished(() => {
    socket.destroy();
  });
  await once(socket, 'connect');
  if (bytes !== '') await new Promise((resolve) => socket.write(bytes, resolve));
  return socket;
}

async function untilRefused(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  const refused = await new Promise((resolve) => {
    socket.once('connect', () => resolve(false)).once('error', () => resolve(true));
  });
  socket.destroy();
  if (!refused) await untilRefused(port);
}

test.for<[host: string, said: string]>([
  ['203.0.113.1', 'This machine has no address 203.0.113.1; choose another with --host.'],
  ['no-such-host.invalid', 'There is no host no-such-host.invalid; choose an address of this machine with --host.'],
])('cannot run on the host %s', async ([host, said], { expect }) => {
  expect(await runHere(['-p', '0', '--host', host])).toEqual({ code: 1, out: [], err: `agent-mailbox-mock: ${said}` });
});

test('cannot run on a port that is in use, and names the flag that chooses another', async (test) => {
  const port = await takePort(test);

  const running = runCommand(test, [], { PORT: String(port) });

  test.expect(await running.ended).toEqual({ code: 1, signal: null });
  test.expect(running.stdout).toBe('');
  test
    .expect(running.stderr)
    .toBe(`agent-mailbox-mock: Port ${port} on 127.0.0.1 is taken; choose another with --port, or 0 for a free one.\n`);
});

test.for(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'prints the banner, and ends with 0 after %s',
  async (signal, test) => {
    const running = runCommand(test, ['--port', '0']);

    const [name, url = '', ...rest] = linesOf(await running.untilStdout(/Ready\.\n/));
    const { origin, port } = new URL(url.replace('  URL', '').trim());
    test.expect(name).toBe(`agent-mailbox-mock ${packageJson.version}`);
    test.expect(origin).toBe(`http://127.0.0.1:${port}`);
    test
      .expect(rest)
      .toEqual([
        `  Control    ${origin}/__mock`,
        `  Inspector  ${origin}/__mock/`,
        test.expect.stringMatching(/^ {2}Loaded {5}2 tenants, 4 inboxes, 6 messages, 3 webhooks in \d+\.\d s$/),
        '  Write to   helpdesk@acme.test',
        '',
        `  operator   the platform        ${operator}`,
        `  tenant     Acme                ${acme.tenant}`,
        `  workspace  Support             ${acme.workspaces.support}`,
        `  inbox      helpdesk@acme.test  ${acme.inboxes.helpdesk}`,
        '',
        `  curl ${origin}/v1/messages -H 'X-API-Key: ${acme.inboxes.helpdesk}'`,
        '',
        'Ready.',
      ]);
    test.expect(Math.max(...linesOf(running.stdout).map((line) => line.length))).toBeLessThanOrEqual(80);
    test.expect((await get(`${origin}/v1/webhooks`, { 'x-api-key': acme.tenant })).status).toBe(200);
    test.expect((await get(`${origin}/__mock/health`)).status).toBe(200);

    running.child.kill(signal);
    test.expect(await running.ended).toEqual({ code: 0, signal: null });
    test.expect(running.stderr).toBe('');
  },
);

test('prints one line of JSON with --json, and logs requests on stderr', async (test) => {
  const { running, ready } = await startCommand(test);

  test.expect(ready).toEqual({
    url: `http://127.0.0.1:${ready.port}`,
    port: test.expect.any(Number),
    version: packageJson.version,
    keys: ONE_KEY_PER_TIER,
    ids,
    control: `${ready.url}/__mock`,
  });
  test.expect((await get(`${ready.control}/health`)).status).toBe(200);
  for (const key of [ready.keys.tenant, ready.keys.workspace]) {
    test.expect((await get(`${ready.url}/v1/webhooks`, { 'x-api-key': key })).status).toBe(200);
  }
  await running.untilStderr(/(?:.+\n){2}/);

  running.child.kill('SIGINT');
  test.expect(await running.ended).toEqual({ code: 0, signal: null });
  test.expect(running.stdout).toBe(`${JSON.stringify(ready)}\n`);
  test
    .expect(linesOf(running.stderr).map(withoutTimes))
    .toEqual(['tk_acme_…', 'wk_acme_…'].map((key) => `listWebhooks 200 GET /v1/webhooks _ ms ${key}`));
});

test('logs nothing with --quiet', async (test) => {
  const { running, ready } = await startCommand(test, ['--quiet']);
  await get(`${ready.url}/v1/webhooks`, { 'x-api-key': ready.keys.tenant });
  running.child.kill('SIGINT');
  await running.ended;
  test.expect(linesOf(running.stdout)).toHaveLength(1);
  test.expect(running.stderr).toBe('');
});

const TOLD: [how: string, args: string[], env: NodeJS.ProcessEnv][] = [
  [
    'flags',
    [
      ...['--host', 'localhost', '-f', 'fixtures/default.json', '--allow-host', 'mailbox.example'],
      ...['--behaviour', 'webhooks.list.secret=omitted', '--behaviour', 'health.body=empty'],
      ...['--cors-origin', 'https://app.example'],
    ],
    {},
  ],
  [
    'variables',
    [],
    {
      AGENT_MAILBOX_HOST: 'localhost',
      AGENT_MAILBOX_FIXTURES: 'fixtures/default.json',
      AGENT_MAILBOX_BEHAVIOUR: 'webhooks.list.secret=omitted,health.body=empty',
      AGENT_MAILBOX_ALLOW_HOST: 'mailbox.example',
      AGENT_MAILBOX_CORS_ORIGIN: 'https://app.example',
    },
  ],
];

test.for(TOLD)('applies the settings given by %s', async ([, args, env], test) => {
  const { ready } = await startCommand(test, args, env);
  const key = { 'x-api-key': ready.keys.tenant };

  test.expect(ready.url).toBe(`http://localhost:${ready.port}`);
  test.expect((await get(`${ready.url}/health`)).body).toBe('{}');
  test.expect(JSON.parse((await get(`${ready.url}/v1/webhooks`, key)).body).webhooks[0]).not.toHaveProperty('secret');
  test.expect((await get(`${ready.url}/health`, { host: 'mailbox.example' })).status).toBe(200);
  test.expect((await get(`${ready.url}/health`, { host: 'other.example' })).status).toBe(403);
  const allowed = async (origin: string) =>
    (await get(`${ready.url}/v1/webhooks`, { ...key, origin })).headers['access-control-allow-origin'];
  test.expect(await allowed('https://app.example')).toBe('https://app.example');
  test.expect(await allowed('https://other.example')).toBeUndefined();
});

test('starts with the tenants of the given fixture', async (test) => {
  const fixture = JSON.parse(await readFile(join(ROOT, 'fixtures/default.json'), 'utf8'));
  delete fixture.tenants.acme;
  const { ready } = await startCommand(test, ['--fixtures', await writeFixture(test, JSON.stringify(fixture))]);
  test.expect(ready.keys).toEqual({
    operator,
    tenant: globex.tenant,
    workspace: globex.workspaces.main,
    inbox: globex.inboxes.info,
  });
  const status = async (key: string) => (await get(`${ready.url}/v1/webhooks`, { 'x-api-key': key })).status;
  test.expect([await status(globex.tenant), await status(acme.tenant)]).toEqual([200, 401]);
});

const hasIPv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === '::1'),
);

test.runIf(hasIPv6)('listens on an IPv6 address', async (test) => {
  const { ready } = await startCommand(test, ['--host', '::1']);
  test.expect(ready.url).toBe(`http://[::1]:${ready.port}`);
  test.expect(ready).not.toHaveProperty('controlToken');
  test.expect((await get(`${ready.control}/health`)).status).toBe(200);
});

/** An address of this machine at which others can reach it, if there is one. */
const OUTER_ADDRESS = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ internal, family }) => !internal && family === 'IPv4')?.address;

/** Fires an event at a webhook through the command, and returns the delivery. */
async function deliver(test: TestContext, url: string, args: readonly string[]): Promise<Delivery> {
  const { ready } = await startCommand(test, args);
  const post = async (to: string, json: object) => {
    const headers = { 'Content-Type': 'application/json', 'X-API-Key': ready.keys.tenant };
    return (await fetch(to, { method: 'POST', headers, body: JSON.stringify(json) })).json();
  };
  const { id: webhookId } = await post(`${ready.url}/v1/webhooks`, { url, events: ['message.received'] });
  const { deliveries } = await post(`${ready.control}/events`, { event: 'message.received', webhookId });
  await post(`${ready.control}/settle`, {});
  return (await fetch(`${ready.control}/deliveries/${deliveries[0].id}`)).json() as Promise<Delivery>;
}

test.runIf(OUTER_ADDRESS)('delivers beyond loopback only to hosts that --deliver-to allows', async (test) => {
  const receiver = createHttpServer((_, response) => response.end()).listen(0, OUTER_ADDRESS);
  test.onTestFinished(() => void receiver.close());
  await once(receiver, 'listening');
  const url = `http://${OUTER_ADDRESS}:${(receiver.address() as AddressInfo).port}/hook`;

  const [refused, ...delivered] = await Promise.all([
    deliver(test, url, []),
    deliver(test, url, ['--deliver-to', String(OUTER_ADDRESS)]),
    deliver(test, url, ['--deliver-to', `${OUTER_ADDRESS}/24`]),
  ]);
  const reason = `${OUTER_ADDRESS} is not a loopback address; start with --deliver-to ${OUTER_ADDRESS} to allow it.`;
  test.expect(refused).toMatchObject({ state: 'refused', reason, attempts: [{ status: null, error: reason }] });
  test.expect(delivered).toMatchObject([{ state: 'delivered' }, { state: 'delivered' }]);
});

test('asks for the printed token on the control plane when other machines can reach it', async (test) => {
  const { ready } = await startCommand(test, ['--host', '0.0.0.0']);
  const token = ready.controlToken ?? '';
  const control = async (headers: Record<string, string>) => (await get(`${ready.control}/health`, headers)).status;

  test.expect(token).toMatch(/^[\w-]{20,}$/);
  test.expect(await control({})).toBe(401);
  test.expect(await control({ 'x-mock-token': `${token}x` })).toBe(401);
  test.expect(await control({ 'x-mock-token': token })).toBe(200);
  test.expect((await get(`${ready.url}/health`)).status).toBe(200);
});

test('prints the login of the inbox whose key it shows, if IMAP or SMTP is on', async (context) => {
  const { imapPassword } = createMailbox().snapshot().tenants[0]?.inboxes[0] ?? {};
  const login = `  Login      user helpdesk@acme.test, password ${imapPassword} (an API key is no password)`;
  const withImap = await runCommand(context, ['--port', '0', '--imap-port', '0']).untilStdout(/Ready\.\n/);
  context.expect(linesOf(withImap)).toContain(login);
  const without = await runCommand(context, ['--port', '0']).untilStdout(/Ready\.\n/);
  context.expect(without).not.toContain('Login');
});

test('prints the token of the control plane in the banner too, and a new one in each run', async ({ expect }) => {
  const runs = await Promise.all([
    runHere(['-p', '0', '--host', '0.0.0.0']),
    runHere(['-p', '0', '--host', '0.0.0.0']),
  ]);
  const tokens = runs.map(({ out }) => out.join().match(/^ {2}Token {6}X-Mock-Token: ([\w-]{20,})$/m)?.[1]);
  expect(tokens).toEqual([expect.any(String), expect.any(String)]);
  expect(tokens[0]).not.toBe(tokens[1]);
});

test('does not print a token that was set', async ({ expect }) => {
  const { out } = await runHere(['-p', '0', '--token', 'token-of-this-test']);
  expect(out.join()).toContain('  Token      X-Mock-Token: as set\n');
  expect(out.join()).not.toContain('token-of-this-test');
});

/** Every form in which a key could appear in a line. */
function readingsOf(line: string): string {
  const decode = (text: string) =>
    text.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  const base64 = line.split(/[^\w+/=-]+/).map((word) => Buffer.from(word, 'base64').toString('latin1'));
  return [line, decode(line), decode(decode(line)), decode(decode(decode(line))), ...base64].join('\n');
}

const KEY = 'tk_acme_tenant_key';
const REQUESTS: [path: string, headers: Record<string, string>, line: RegExp][] = [
  ['/v1/webhooks', { 'x-api-key': KEY }, /^listWebhooks 200 GET \/v1\/webhooks [\d.]+ ms tk_acme_…$/],
  ['/v1/webhooks', { authorization: `Bearer ${KEY}` }, /^listWebhooks 200 GET \/v1\/webhooks [\d.]+ ms tk_acme_…$/],
  ['/v1/webhooks', { authorization: `bearer   ${KEY}` }, /^listWebhooks 200 GET \/v1\/webhooks [\d.]+ ms tk_acme_…$/],
  ['/v1/webhooks', { authorization: KEY }, /^listWebhooks 401 GET \/v1\/webhooks /],
  ['/v1/webhooks', { authorization: `Bearer Bearer ${KEY}` }, /^listWebhooks 401 GET \/v1\/webhooks /],
  ['/v1/webhooks', { authorization: `Basic ${btoa(`${KEY}:`)}` }, /^listWebhooks 401 GET \/v1\/webhooks /],
  ['/v1/webhooks', { 'x-api-key': `${KEY}, ${KEY}` }, /^listWebhooks 401 GET \/v1\/webhooks /],
  ['/v1/webhooks', { 'x-api-key': `\u00e9${KEY}\u0085` }, /^listWebhooks 401 GET \/v1\/webhooks /],
  ['/v1/webhooks', { 'x-api-key': KEY.toUpperCase() }, /^listWebhooks 401 GET \/v1\/webhooks /],
  ['/v1/webhooks', { 'x-api-key': 'sk_live_tenant_key' }, /^listWebhooks 401 GET \/v1\/webhooks /],
  [`/v1/webhooks?api_key=${KEY}`, {}, /^listWebhooks 401 GET \/v1\/webhooks\?api_key=tk_acme_… /],
  [`/v1/webhooks?api_key=tk%5Facme_tenant%5fkey`, {}, /^listWebhooks 401 GET \/v1\/webhooks\?api_key=tk_acme_… /],
  [`/v1/webhooks?a=1&b=x${KEY}`, {}, /^listWebhooks 401 GET \/v1\/webhooks\?a=1&b=xtk_acme_… /],
  [`/v1/${KEY}`, {}, /^- 404 GET \/v1\/tk_acme_… /],
  [`/v1/x_${KEY}/y`, {}, /^- 404 GET \/v1\/x_tk_acme_…\/y /],
  ['/v1/%74%6b_acme_tenant_key', {}, /^- 404 GET \/v1\/tk_acme_… /],
  ['/v1/tk%255facme%25255ftenant_key', {}, /^- 404 GET \/v1\/tk_acme_… /],
  [`/v1/%0a${KEY}`, {}, /^- 404 GET \/v1\/\S+tk_acme_… /],
  [`/v1/%C3%A9${KEY}`, {}, /^- 404 GET \/v1\/\S+tk_acme_… /],
  [`/v1/${'x'.repeat(5_000)}${KEY}`, {}, /^- 404 GET \/v1\/x{50,} /],
  ['/v1/a%0d%0aGET%20/fake%20200%1b[31m', {}, /^- 404 GET \/v1\/a\S+ /],
];

test('logs one line for each request, with keys masked and control characters escaped', async (test) => {
  const running = runCommand(test, ['--port', '0']);
  const banner = linesOf(await running.untilStdout(/Ready\.\n/));
  const url = banner[1]?.trim().split(/\s+/)[1];

  for (const [index, [path, headers, line]] of REQUESTS.entries()) {
    await get(url + path, headers);
    const lines = linesOf(await running.untilStdout(new RegExp(`Ready\\.\\n(?:.*\\n){${index + 1}}`)));
    test.expect(lines).toHaveLength(banner.length + index + 1);
    test.expect(withoutTimeOfDay(lines.at(-1) ?? '')).toMatch(line);
    test.expect(lines.at(-1)).toMatch(/^[\x20-\x7e…]{1,300}$/);
    test.expect(readingsOf(lines.at(-1) ?? ''), path).not.toMatch(/tenant_key/i);
  }
});

test.for([
  ['no key here', 'no key here'],
  ['tk_acme_tenant_key', 'tk_acme_…'],
  ['sa_platform_operator_key, wk_acme_support_key', 'sa_platf…, wk_acme_…'],
  ['xak_acme_helpdesk_key', 'xak_…'],
  ['whsec_MDEyMzQ1Njc4OWFiY2Rl/+==.', 'whsec_….'],
  ['to http://dana:secret@127.0.0.1/in', 'to http://…@127.0.0.1/in'],
  ['tk_short', 'tk_…'],
])('masks %j as %j', ([given, masked], { expect }) => {
  expect(maskSecrets(given ?? '')).toBe(masked);
});

test('ends soon after SIGINT with connections open, even after a second SIGINT', async (test) => {
  const { running, ready } = await startCommand(test);
  const half = 'POST /v1/webhooks HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{';
  await openConnection(test, ready.port);
  await openConnection(test, ready.port, 'GET /v1/webhooks HTTP/1.1\r\nHost: local');
  await openConnection(test, ready.port, half);
  await get(`${ready.url}/health`);

  const startedAt = performance.now();
  running.child.kill('SIGINT');
  await untilRefused(ready.port);
  running.child.kill('SIGINT');

  test.expect(await running.ended).toEqual({ code: 0, signal: null });
  test.expect(performance.now() - startedAt).toBeLessThan(END_LIMIT_MS);
});

test('keeps running after the reader of its output has closed', async (test) => {
  const running = runCommand(test, ['--port', '0']);
  const url = linesOf(await running.untilStdout(/Ready\.\n/))[1]
    ?.trim()
    .split(/\s+/)[1];
  running.child.stdout?.destroy();
  for (const _ of [1, 2, 3]) test.expect((await get(`${url}/health`)).status).toBe(200);
  running.child.kill('SIGTERM');
  test.expect((await running.ended).code).toBe(0);
});

test('answers requests and ends although its log is not read', async (test) => {
  const { running, ready } = await startCommand(test);
  running.child.stderr?.pause();
  const path = `/v1/${'x'.repeat(190)}`;
  for (let batch = 0; batch < 25; batch += 1) {
    await Promise.all(Array.from({ length: 20 }, () => get(ready.url + path)));
  }
  const exited = once(running.child, 'exit');
  running.child.kill('SIGTERM');
  test.expect(await exited).toEqual([0, null]);
});

const COLOUR = '\u001b[';

test.runIf(process.platform === 'linux' && existsSync(SCRIPT)).for<[env: NodeJS.ProcessEnv, coloured: boolean]>([
  [{}, true],
  [{ NO_COLOR: '1' }, false],
  [{ NO_COLOR: '1', FORCE_COLOR: '1' }, false],
])('on a terminal with %j, colour is %j, and Ctrl-C ends it with 0', async ([env, coloured], test) => {
  const line = `exec ${[...COMMAND, '--port', '0'].map((word) => `'${word}'`).join(' ')}`;
  const running = run(test, [SCRIPT, '-qefc', line, '/dev/null'], { env: { TERM: 'xterm', ...env } });
  const banner = await running.untilStdout(/Ready\.\r\n/);
  const url = /http:\S+?:\d+/.exec(banner)?.[0];
  await get(`${url}/v1/webhooks`);
  const log = (await running.untilStdout(/ 401 GET \/v1\/webhooks UNAUTHORIZED .*\r\n/)).slice(banner.length);
  test.expect(log.includes(COLOUR)).toBe(coloured);
  running.child.stdin?.write('\u0003');
  test.expect(await running.ended).toEqual({ code: 0, signal: null });
  test.expect(banner.includes(COLOUR)).toBe(coloured);
  test.expect(linesOf(banner)).toContain(`agent-mailbox-mock ${packageJson.version}`);
});

test('has no colour in a pipe, even if colour is wanted', async (test) => {
  const running = runCommand(test, ['--port', '0'], { FORCE_COLOR: '1', TERM: 'xterm' });
  test.expect(await running.untilStdout(/Ready\.\n/)).not.toContain(COLOUR);
});
