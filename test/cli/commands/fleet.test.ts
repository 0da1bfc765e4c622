import { startServer } from 'agent-mailbox-mock/server';
import { test } from 'vitest';
import { chooseUrl } from '../../../src/control/table/emulator-urls.ts';
import { runHere } from '../../support/command.ts';
import { runCommand } from '../../support/processes.ts';
import { serve } from '../../support/serve.ts';

const SERVERS = 'http://10.0.0.1:4101, http://10.0.0.2:4102/,http://[::1]:4103';
const PUBLIC = ['--public-url', 'https://mailbox.example/mail/'];

const print = async (target: string, ...args: string[]) =>
  (await runHere(['fleet', target, '--servers', SERVERS, ...PUBLIC, ...args])).out.join('\n');

test('the configurations name each process by its address, its path and its public URL', async ({ expect }) => {
  const nginx = await print('nginx');
  expect(nginx).toContain('--port 4102 --public-url https://mailbox.example/mail/s2 ');
  expect(nginx).toMatch(/upstream mailbox_2 \{\n {4}server 10\.0\.0\.2:4102;/);
  expect(nginx).toMatch(/location \^~ \/mail\/s3\/ \{\n {6}proxy_pass http:\/\/mailbox_3\$mailbox_path;/);
  expect(nginx).toContain('listen 80;\n    server_name mailbox.example;');
  const haproxy = await print('haproxy');
  expect(haproxy).toContain('  use_backend mailbox_3 if { path_beg /mail/s3/ }\n  default_backend mailbox_1\n');
  expect(haproxy).toMatch(/backend mailbox_2\n.*\/s2.*\n {2}server s2 10\.0\.0\.2:4102\n/);
  for (const text of [nginx, haproxy]) expect(text).not.toMatch(/<<|>>|undefined/);
});

test('the configuration of Kubernetes has a pod, a volume and a service for each process, and nginx in front', async ({
  expect,
}) => {
  const text = await print('kubernetes');
  const documents = text.split('\n---\n');
  const named = documents.map((each) =>
    [/^kind: (.*)$/m.exec(each)?.[1], /^ {2}name: (.*)$/m.exec(each)?.[1]].join(' '),
  );
  expect(named).toEqual([
    ...['StatefulSet mailbox', 'Service mailbox-pods'],
    ...['Service mailbox-1', 'Service mailbox-2', 'Service mailbox-3'],
    ...['ConfigMap mailbox-router', 'Deployment mailbox-router', 'Service mailbox-router', 'Ingress mailbox'],
  ]);
  expect(documents[0]).toMatch(/replicas: 3\n {2}ordinals:\n {4}start: 1\n/);
  expect(documents[0]).toContain("value: 'https://mailbox.example/mail/s$(NUMBER)'");
  const inside = /nginx\.conf: \|\n((?: {4}.*\n?)+)/.exec(text)?.[1] ?? '';
  expect(inside).toContain('\n      upstream mailbox_3 {\n        server mailbox-3:4025;\n');
  expect(inside).toContain('\n        listen 8080;\n');
  expect(text).not.toMatch(/<<|>>|undefined/);
});

test.for<[args: string[], said: string]>([
  [['traefik', '--servers', SERVERS, ...PUBLIC], 'There is no configuration for "traefik"; there is one for nginx, '],
  [['nginx', '--servers', SERVERS], 'The command fleet needs --public-url <url>.'],
  [['nginx', '--servers', SERVERS, '--public-url', 'mailbox'], '--public-url must be an http or https URL without'],
  [
    ['nginx', ...PUBLIC],
    '--servers must be a list of different http URLs, each with a port, such as http://10.0.0.1:4025,',
  ],
  [
    ['nginx', ...PUBLIC, '--servers', 'http://a'],
    'The flag --servers must be a list of different http URLs, each with a port',
  ],
  [
    ['nginx', ...PUBLIC, '--servers', 'http://a:1,http://a:1'],
    'The URLs in --servers must be different, but http://a:1 is there twice.',
  ],
  [['nginx', ...PUBLIC, '--servers', 'http://a:1/x;y'], 'The flag --servers must be a list of different http URLs'],
])('fleet %j is refused', async ([args, said], { expect }) => {
  const { code, out, err } = await runHere(['fleet', ...args]);
  expect([code, out]).toEqual([2, []]);
  expect(err).toContain(said);
});

test('a worker has the address whose turn it is by its number, and any without a number', ({ expect }) => {
  const MAILBOX_URLS = 'http://a/, http://b,http://c';
  const placed = (variables: Record<string, string>) => chooseUrl({ MAILBOX_URLS, ...variables });
  expect(placed({ TEST_PARALLEL_INDEX: '0' })).toBe('http://a');
  expect(placed({ VITEST_POOL_ID: '4' })).toBe('http://b');
  expect(placed({ PYTEST_XDIST_WORKER: 'gw5' })).toBe('http://c');
  expect(placed({ JEST_WORKER_ID: '2', CI_NODE_INDEX: '1' })).toBe('http://a');
  const any = new Set(Array.from({ length: 100 }, () => placed({})));
  expect([...any].sort()).toEqual(['http://a', 'http://b', 'http://c']);
  expect([chooseUrl({}), chooseUrl({ MAILBOX_URLS: ' , ' })]).toEqual([undefined, undefined]);
});

const PRINT = 'console.log(JSON.stringify(process.env))';

test('exec with MAILBOX_URLS runs the command in a sandbox of one of them, and closes it', async (context) => {
  const { expect } = context;
  const controlToken = 'a-token-of-the-test';
  await using one = await startServer({ port: 0, controlToken });
  await using two = await startServer({ port: 0, controlToken, publicUrl: 'http://127.0.0.1:1/s2' });
  const env = { MAILBOX_URLS: `${one.url},${two.url}`, VITEST_POOL_ID: '1', AGENT_MAILBOX_TOKEN: controlToken };
  const program = `${PRINT}; const { MAILBOX_BASE_URL, MAILBOX_INBOX_KEY } = process.env;
    const headers = { 'X-API-Key': MAILBOX_INBOX_KEY };
    console.log((await fetch(MAILBOX_BASE_URL + '/v1/me', { headers })).status)`;
  const command = ['exec', '--', process.execPath, '--input-type=module', '-e', program];
  const running = runCommand(context, command, env);
  expect([await running.ended, running.stderr]).toEqual([{ code: 0, signal: null }, '']);
  const [variables = '', status] = running.stdout.trim().split('\n');
  expect(JSON.parse(variables)).toMatchObject({
    MAILBOX_BASE_URL: two.url,
    MAILBOX_CONTROL_URL: two.control,
    AGENT_MAILBOX_URL: two.url,
    AGENT_MAILBOX_SANDBOX: expect.stringMatching(/^[\da-f-]{36}$/),
    MAILBOX_TENANT_KEY: expect.stringMatching(/^tk_/),
  });
  expect(status).toBe('200');
  expect([...one.mailbox.sandboxes(), ...two.mailbox.sandboxes()]).toEqual([]);

  const refused = runCommand(context, ['exec', '--seed', '1', '--', 'true'], env);
  expect((await refused.ended).code).toBe(2);
  expect(refused.stderr).toContain('--seed is for an emulator that exec starts; omit it or unset MAILBOX_URLS.');
});

test('exec with one address calls the process that made the sandbox', async (context) => {
  const { expect } = context;
  await using own = await startServer({ port: 0 });
  await using balancer = await serve(async ({ method = '', url }, response) => {
    response.setHeader('Content-Type', 'application/json');
    response.end(await (await fetch(own.url + String(url).replace('/in', ''), { method })).text());
  });
  const running = runCommand(context, ['exec', '--', process.execPath, '-e', PRINT], { MAILBOX_URLS: balancer.url });
  expect([await running.ended, running.stderr]).toEqual([{ code: 0, signal: null }, '']);
  expect(JSON.parse(running.stdout)).toMatchObject({ MAILBOX_BASE_URL: own.url });
  expect(own.mailbox.sandboxes()).toEqual([]);
});
