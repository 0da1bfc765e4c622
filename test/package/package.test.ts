import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';
import { afterAll, beforeAll, type TestContext, test, vi } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { createMailbox } from '../../src/mailbox/index.ts';
import { OTHER_PACKAGES, READERS_OF_FOREIGN_TEXT } from '../regex/tables.ts';
import type { ReadyLine } from '../support/command.ts';
import { compileProject, NO_ERRORS } from '../support/compile-project.ts';
import { HOVERS, MISTAKES, openEditor } from '../support/editor.ts';
import { BARE_ENV, type Running, run } from '../support/processes.ts';
import { fillReaderFolder } from '../support/reader-folder.ts';
import { PAGES } from '../support/readme.ts';
import { ROOT } from '../support/root.ts';

const INSTALL_LIMIT_MS = 300_000;

vi.setConfig({ testTimeout: INSTALL_LIMIT_MS });

const execute = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'agent-mailbox-mock-'));
const tarball = join(folder, `${packageJson.name}-${packageJson.version}.tgz`);
const consumer = join(folder, 'consumer');

beforeAll(async () => {
  await npm(ROOT, 'pack', '--pack-destination', folder);
  await createConsumer(consumer, 'msw@^2.15.0');
}, INSTALL_LIMIT_MS);

afterAll(() => rm(folder, { recursive: true, force: true }));

/** How a project starts the command by a script of its own. */
const SCRIPTS = {
  mock: 'agent-mailbox-mock --port 0',
  'mock:background': 'agent-mailbox-mock --port 0 --json &',
};

/** Makes an empty project and installs the tarball in it, with what else is given. */
async function createConsumer(project: string, ...others: string[]): Promise<void> {
  await mkdir(project);
  await writeFile(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module', scripts: SCRIPTS }));
  await npm(project, 'install', tarball, ...others, '--prefer-offline', '--no-audit', '--no-fund');
}

function npm(cwd: string, ...args: string[]) {
  return execute('npm', args, { cwd, env: withoutPrefix(process.env) });
}

/** The environment without what `npm test` adds to it, which would lead npm back to this repository. */
function withoutPrefix(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^npm_(?!config_)|^npm_config_\w*prefix$/.test(name)),
  );
}

/** The files of a folder that a file loads or may load, by way of others too. */
function filesReachedFrom(dist: string, file: string, reached: string[] = []): string[] {
  if (reached.includes(file)) return reached;
  reached.push(file);
  const imported = readFileSync(join(dist, file), 'utf8').matchAll(
    /(?:require\(|import\(|from |import )[`"']\.\/([^`"']+)/g,
  );
  for (const [, next = ''] of imported) filesReachedFrom(dist, next, reached);
  return reached;
}

/** Runs a module in a project and returns its output, parsed as JSON. */
async function evaluate(project: string, source: string, flags: string[] = []): Promise<unknown> {
  const args = [...flags, '--input-type=module', '--eval', source];
  const { stdout } = await execute(process.execPath, args, { cwd: project, env: BARE_ENV });
  return JSON.parse(stdout);
}

const USE_IN_PROCESS = `
  import { createMailbox } from 'agent-mailbox-mock';
  import { setupServer } from 'msw/node';

  const mailbox = createMailbox();
  const server = setupServer(...mailbox.handlers);
  await server.listen({ onUnhandledRequest: 'error' });
  const headers = { 'X-API-Key': mailbox.keys.acme.tenant };
  const body = JSON.stringify({ url: 'https://agent.example/hook', events: ['message.received'] });
  const webhooks = 'https://mailbox.test/v1/webhooks';
  const created = await fetch(webhooks, { method: 'POST', headers, body });
  const { id } = await created.json();
  const list = await (await fetch(webhooks, { headers })).json();
  const refused = await fetch(webhooks);
  const inbox = 'https://mailbox.test/v1/inboxes/' + (await (await fetch('https://mailbox.test/v1/inboxes', { headers })).json()).inboxes[0].id;
  const mail = JSON.stringify({ to: 'Ada <ada@x.test>', subject: 'Gr\u00fc\u00dfe', plainBody: 'Hi', verified: true });
  const sent = await (await fetch(inbox + '/send', { method: 'POST', headers, body: mail })).json();
  const raw = await (await fetch(inbox + '/messages/' + sent.id + '/raw', { headers })).text();
  await server.close();
  const isMail = /^To: Ada <ada@x.test>\\r$/m.test(raw);
  console.log(JSON.stringify([created.status, list.webhooks.length, list.webhooks.at(-1).id === id, refused.status, isMail]));
`;

const USE_OVER_HTTP = `
  import { startServer } from 'agent-mailbox-mock/server';

  const server = await startServer({ port: 0 });
  const response = await fetch(server.url + '/v1/webhooks', { headers: { 'X-API-Key': server.mailbox.keys.acme.tenant } });
  const { webhooks } = await response.json();
  const statusOf = async (path) => (await fetch(server.control + path, { headers: { accept: 'text/html' } })).status;
  const inspector = [await statusOf('/'), await statusOf('/inspector/inspector.js')];
  await server.close();
  const closed = await fetch(server.url).then(() => false, () => true);
  console.log(JSON.stringify([response.status, webhooks.length, ...inspector, closed]));
`;

const USE_MIDDLEWARE = `
  import { once } from 'node:events';
  import { createServer } from 'node:http';
  import { createMailboxMiddleware } from 'agent-mailbox-mock/express';

  const middleware = createMailboxMiddleware();
  const application = (request, response) => middleware(request, response, () => response.writeHead(418).end());
  const server = createServer(application).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const headers = { 'X-API-Key': middleware.mailbox.keys.acme.tenant };
  const call = async (path) => (await fetch('http://127.0.0.1:' + server.address().port + path, { headers })).status;
  console.log(JSON.stringify([await call('/v1/webhooks'), await call('/page')]));
  server.close();
`;

const USE_RECEIVER = `
  import { createReceiver } from 'agent-mailbox-mock/receiver';
  import { startServer } from 'agent-mailbox-mock/server';

  const server = await startServer({ port: 0 });
  const receiver = createReceiver();
  const created = await fetch(server.url + '/v1/webhooks', {
    method: 'POST',
    headers: { 'X-API-Key': server.mailbox.keys.acme.tenant },
    body: JSON.stringify({ url: await receiver.listen(), events: ['message.received'] }),
  });
  receiver.secret = (await created.json()).secret;
  await server.mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'dana@customer.test', subject: 'Hi' });
  await server.mailbox.settled();
  const [{ verified, json }] = receiver.requests;
  await Promise.all([server.close(), receiver.close()]);
  console.log(JSON.stringify([verified, json.subject, server.mailbox.deliveries()[0].state]));
`;

const USE_CLIENT = `
  import { createRequire } from 'node:module';
  import { ApiReplyError, createClient } from 'agent-mailbox-mock/client';
  import { startServer } from 'agent-mailbox-mock/server';

  const required = createRequire(process.cwd() + '/main.js')('agent-mailbox-mock/client');
  const server = await startServer({ port: 0 });
  const inbox = server.mailbox.ids.acme.inboxes.helpdesk;
  const results = [];
  for (const create of [createClient, required.createClient, ({ key }) => server.client(key)]) {
    const helpdesk = create({ baseUrl: server.url, key: server.mailbox.keys.acme.inboxes.helpdesk });
    const { status } = await helpdesk.sendMessage(inbox, { to: 'a@b.test', subject: 'Hi', plainBody: 'x', verified: true });
    const error = await helpdesk.getMessage(inbox, crypto.randomUUID()).catch((reason) => reason);
    results.push([status, error.code, error instanceof ApiReplyError, error instanceof required.ApiReplyError]);
  }
  await server.close();
  console.log(JSON.stringify(results));
`;

const USE_TYPES = `
  import { BehaviourError, createMailbox, type Mailbox, type MailboxOptions } from 'agent-mailbox-mock';
  import { ApiReplyError, createClient, type ServiceClient } from 'agent-mailbox-mock/client';
  import { createReceiver, type ReceivedRequest, type Receiver } from 'agent-mailbox-mock/receiver';
  import { type MailboxServer, startServer } from 'agent-mailbox-mock/server';
  import { setupServer } from 'msw/node';

  const options: MailboxOptions = { behaviours: { 'webhooks.list.secret': 'omitted' } };
  const mailbox: Mailbox = createMailbox(options);
  setupServer(...mailbox.handlers);
  export const key: string = createMailbox().keys.acme.inboxes.helpdesk;
  await using server: MailboxServer = await startServer({ port: 0, ...options });
  export const port: number = server.port;
  export const globex: string = server.mailbox.keys.globex.workspaces.main;
  await using receiver: Receiver = createReceiver({ answers: [500, 'timeout', { status: 200, body: 'ok' }] });
  export const requests: readonly ReceivedRequest[] = await receiver.received(0);
  const client: ServiceClient = createClient({ baseUrl: server.url, key });
  const [first] = (await client.listMessages('i', { query: { direction: 'inbound', limit: 5 } })).messages;
  export const subject: string | undefined = first?.subject;
  export const wasDeleted: true | undefined = (await client.deleteWebhook('w'))?.deleted;
  export const sent: 'sent' = (await mailbox.client(key).replyToMessage('i', 'm', { plainBody: 'Hi' })).status;
  export const codeOf = (error: unknown) => (error instanceof ApiReplyError ? error.code : undefined);
  // @ts-expect-error: the body has no such field.
  client.replyToMessage('i', 'm', { text: 'Hi' });
  // @ts-expect-error: there is no such answer.
  receiver.answer('never');
  // @ts-expect-error: the default fixture has no such inbox.
  mailbox.keys.acme.inboxes.nowhere;
  // @ts-expect-error: the behaviour has no such value.
  createMailbox({ behaviours: { 'webhooks.list.secret': 'hidden' } });
  export const isOurs = (error: unknown) => error instanceof BehaviourError;
`;

const SCENARIO_FILES = readdirSync(join(ROOT, 'fixtures/scenarios')).sort();

test('packs the build, the fixtures and the documents, and nothing else', async ({ expect }) => {
  const { stdout } = await execute('tar', ['-tzf', tarball]);
  const isChunk = (file: string) => /^dist\/[\w-]+-[\w-]{8}\.(?:c?js|d\.c?ts)$/.test(file);
  const files = stdout
    .trim()
    .split('\n')
    .map((file) => file.replace('package/', ''));
  expect(files.filter((file) => !isChunk(file)).sort()).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'dist/THIRD-PARTY-LICENSES',
    ...['dist/client.cjs', 'dist/client.d.cts', 'dist/client.d.ts', 'dist/client.js'],
    ...['dist/evaluate.cjs', 'dist/evaluate.d.cts', 'dist/evaluate.d.ts', 'dist/evaluate.js'],
    ...['dist/express.cjs', 'dist/express.d.cts', 'dist/express.d.ts', 'dist/express.js'],
    ...['dist/index.cjs', 'dist/index.d.cts', 'dist/index.d.ts', 'dist/index.js'],
    ...['dist/index.node.js', 'dist/index.require.cjs'],
    ...[
      'THIRD-PARTY-LICENSES',
      'evaluation.schema.json.br',
      'font.css',
      'icon.svg',
      'index.html',
      'inspector.css',
      'inspector.js',
      'inter.LICENSE',
      'inter.woff2',
      'live-views.js',
      'scenario.schema.json.br',
    ].map((name) => `dist/inspector/${name}`),
    'dist/llms-full.txt',
    'dist/llms.txt',
    'dist/main.cjs',
    ...['dist/matchers.cjs', 'dist/matchers.d.cts', 'dist/matchers.d.ts', 'dist/matchers.js'],
    ...['dist/playwright.d.ts', 'dist/playwright.js'],
    ...['dist/receiver.cjs', 'dist/receiver.d.cts', 'dist/receiver.d.ts', 'dist/receiver.js'],
    ...['dist/samples.cjs', 'dist/samples.d.cts', 'dist/samples.d.ts', 'dist/samples.js'],
    ...['dist/server.cjs', 'dist/server.d.cts', 'dist/server.d.ts', 'dist/server.js'],
    ...['dist/verify.cjs', 'dist/verify.d.cts', 'dist/verify.d.ts', 'dist/verify.js'],
    ...['dist/vitest.browser.js', 'dist/vitest.d.ts', 'dist/vitest.js'],
    'fixtures/default.json',
    'fixtures/empty.json',
    ...SCENARIO_FILES.map((name) => `fixtures/scenarios/${name}`),
    'package.json',
    ...[...PAGES.filter((page) => page !== 'README.md'), 'src/inspector/run.png'].sort(),
  ]);
});

test('names each page of the package to language models', ({ expect }) => {
  const list = readFileSync(join(consumer, 'node_modules', packageJson.name, 'dist/llms.txt'), 'utf8');
  const pages = [...list.matchAll(/\]\(\.\.\/([^)]+\.md)\)/g)].map(([, page]) => page);
  expect(pages.sort()).toEqual([...PAGES, 'CHANGELOG.md'].sort());
  const full = readFileSync(join(consumer, 'node_modules', packageJson.name, 'dist/llms-full.txt'), 'utf8');
  const texts = [...full.matchAll(/^<page path="([^"]+)">$/gm)].map(([, page]) => page);
  expect(texts.sort()).toEqual(pages);
});

test('works in process with the msw of the user', async ({ expect }) => {
  expect(await evaluate(consumer, USE_IN_PROCESS)).toEqual([201, 3, true, 401, true]);
});

test('starts with the rows that the source computes', async ({ expect }) => {
  const built = await evaluate(
    consumer,
    "import { createMailbox } from 'agent-mailbox-mock'; console.log(JSON.stringify(createMailbox().snapshot()));",
  );
  expect(built).toEqual(JSON.parse(JSON.stringify(createMailbox().snapshot())));
});

test('serves the service and the inspector over HTTP', async ({ expect }) => {
  expect(await evaluate(consumer, USE_OVER_HTTP)).toEqual([200, 2, 200, 200, true]);
});

test('serves as a middleware', async ({ expect }) => {
  expect(await evaluate(consumer, USE_MIDDLEWARE)).toEqual([200, 418]);
});

test('delivers to a receiver that verifies', async ({ expect }) => {
  expect(await evaluate(consumer, USE_RECEIVER)).toEqual([true, 'Hi', 'delivered']);
});

test('has a client that works, by import and by require', async ({ expect }) => {
  const result = ['sent', 'NOT_FOUND', true, true];
  expect(await evaluate(consumer, USE_CLIENT)).toEqual([result, result, result]);
});

test('installs one copy of msw', async ({ expect }) => {
  const { stdout } = await npm(consumer, 'ls', 'msw', '--all', '--parseable');
  expect(new Set(stdout.trim().split('\n'))).toEqual(new Set([join(consumer, 'node_modules/msw')]));
});

test('installs a command that runs, answers and ends with 0', async (test) => {
  const command = join(consumer, 'node_modules/.bin', packageJson.name);
  const fixtures = join('node_modules', packageJson.name, 'fixtures/default.json');

  const running = run(test, [command, '--port', '0', '--json', '--fixtures', fixtures], { cwd: consumer });
  const { url, version, keys }: ReadyLine = JSON.parse(await running.untilStdout(/\n/));
  const { stdout } = await execute('curl', ['-sS', `${url}/v1/webhooks`, '-H', `X-API-Key: ${keys.tenant}`]);

  test.expect(version).toBe(packageJson.version);
  test.expect(JSON.parse(stdout).webhooks).toHaveLength(2);
  running.child.kill('SIGTERM');
  test.expect(await running.ended).toEqual({ code: 0, signal: null });
});

const NPX = ['npx', 'agent-mailbox-mock', '--port', '0', '--json'] as const;

/** Runs a command in the consumer's folder until the emulator that it starts is ready. */
async function startThrough(test: TestContext, command: readonly [string, ...string[]]): Promise<Running> {
  const PATH = [join(consumer, 'node_modules/.bin'), process.env.PATH].join(delimiter);
  const running = run(test, command, { cwd: consumer, env: { PATH }, isGroup: true });
  await running.untilStdout(/"port"|Ready\./);
  return running;
}

test.for<[command: readonly [string, ...string[]], signal: NodeJS.Signals]>([
  [NPX, 'SIGTERM'],
  [NPX, 'SIGKILL'],
  [['npm', 'exec', '--', ...NPX.slice(1)], 'SIGTERM'],
  [['npm', 'run', 'mock'], 'SIGTERM'],
  [['npm', 'run', 'mock'], 'SIGKILL'],
])('lets go of the output when %j gets %s', async ([command, signal], test) => {
  const running = await startThrough(test, command);
  running.child.kill(signal);
  test.expect(await running.ended).toEqual({ code: null, signal });
});

test.for([
  'agent-mailbox-mock --port 0 --json & read -r line',
  'npm run --silent mock:background & wait; read -r line',
])('lives on in the background when this shell ends: %s', async (script, test) => {
  const [shell, npx] = await Promise.all([startThrough(test, ['bash', '-c', script]), startThrough(test, NPX)]);
  const { url } = JSON.parse(shell.stdout.match(/^\{.*$/m)?.[0] ?? '');

  shell.child.stdin?.end('end\n');
  test.expect(await once(shell.child, 'exit')).toEqual([0, null]);
  npx.child.kill('SIGTERM');
  // By then, the other would have noticed too.
  await npx.ended;
  test.expect((await fetch(`${url}/health`)).status).toBe(200);
});

/** The modules that a built file imports, itself or through the files that it is split into. */
function importsOf(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return new Set();
  seen.add(file);
  const names = [...readFileSync(file, 'utf8').matchAll(IMPORTED)].map(([, whole, called]) => whole ?? called ?? '');
  return new Set(
    names.flatMap((name) => (name.startsWith('.') ? [...importsOf(join(dirname(file), name), seen)] : [name])),
  );
}

const IMPORTED =
  /(?:^|[;}])(?:import|export)\b(?:[^;'"`]*\bfrom)? ?["'`]([^"'`]+)["'`]|\b(?:import|require)\(\s*["'`]([^"'`]+)["'`]/gm;

test.for([
  ['index.js', ['msw']],
  ['index.require.cjs', ['msw']],
  ['index.node.js', ['msw']],
  // A server loads msw for handlers that the user brings.
  ['server.cjs', ['msw']],
  ['server.js', ['msw']],
  ['main.cjs', ['msw']],
  ['client.cjs', []],
  ['client.js', []],
  ['matchers.cjs', []],
  ['matchers.js', []],
  ['receiver.cjs', []],
  ['receiver.js', []],
  ['samples.cjs', []],
  ['samples.js', []],
  ['verify.cjs', ['msw']],
  ['vitest.browser.js', ['msw', 'vitest']],
  ['evaluate.cjs', ['msw', 'vitest']],
  ['vitest.js', ['msw', 'vitest']],
  ['playwright.js', ['@msw/playwright', '@playwright/test', 'msw']],
] as const)('imports nothing in %s but %j and modules of Node', ([file, packages], { expect }) => {
  const names = packagesOf(file).filter((name) => !isBuiltin(name) && !OPTIONAL.includes(name));
  expect(names).toEqual(packages);
});

/** What ws uses if it is there; the last is only in the text of an error of the bundled iconv-lite. */
const OPTIONAL = ['bufferutil', 'utf-8-validate', 'iconv-lite'];

test.for(['client.cjs', 'client.js'])('%s is at most 36 kB, with all that it loads', (file, { expect }) => {
  const dist = join(consumer, 'node_modules', packageJson.name, 'dist');
  const sizes = filesReachedFrom(dist, file).map((reached) => statSync(join(dist, reached)).size);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(36_000);
});

test('adds at most 110 kB of code for the samples, without its indentation, and loads them only when they are used', ({
  expect,
}) => {
  const dist = join(consumer, 'node_modules', packageJson.name, 'dist');
  const files = readdirSync(dist).filter((file) => /^(?:create-)?sample.*\.c?js$/.test(file));
  const size = files.reduce(
    (sum, file) => sum + readFileSync(join(dist, file), 'utf8').replace(/\n\s+/g, '\n').length,
    0,
  );
  expect(files.length).toBeGreaterThan(3);
  expect(size).toBeLessThan(110_000);
  const haveSamples = readdirSync(dist).filter(
    (file) => /\.c?js$/.test(file) && readFileSync(join(dist, file), 'utf8').includes('injection-in-quote'),
  );
  expect(haveSamples.map((file) => file.replace(/-[\w-]{8}(?=\.)/, '')).sort()).toEqual([
    ...['create-sample.cjs', 'create-sample.js'],
  ]);
});

// `vitest.js` runs in Node only.
test.for([
  'index.js',
  'index.node.js',
  'index.require.cjs',
  'matchers.cjs',
  'matchers.js',
  'samples.cjs',
  'samples.js',
])('reaches no server or command from %s, which a bundler would then follow', (entry, { expect }) => {
  const reached = filesReachedFrom(join(consumer, 'node_modules', packageJson.name, 'dist'), entry);
  expect(reached.filter((file) => /^(?:command|start|server|main|user-handlers|smtp-server)[.-]/.test(file))).toEqual(
    [],
  );
  expect(reached).not.toEqual([entry]);
});

test.for([
  ['index.js', ['msw']],
  ['vitest.browser.js', ['msw', 'vitest']],
  // esbuild cannot keep the `require` of a module of Node in an ES module.
  ['index.node.js', ['msw']],
  ['index.require.cjs', ['msw']],
  ['matchers.cjs', []],
  ['matchers.js', []],
  ['samples.cjs', []],
  ['samples.js', []],
] as const)('loads in %s no module of Node, which a browser lacks', ([file, packages], { expect }) => {
  expect(packagesOf(file)).toEqual(packages);
});

test('has declarations that import only packages which a user installs', ({ expect }) => {
  const dist = join(consumer, 'node_modules', packageJson.name, 'dist');
  const files = readdirSync(dist).filter((file) => /\.d\.c?ts$/.test(file));
  const imported = files.flatMap((file) => [
    ...readFileSync(join(dist, file), 'utf8').matchAll(/^import .* from ["']([^."'][^"']*)["'];$/gm),
  ]);
  expect([...new Set(imported.map(([, name]) => name))].sort()).toEqual(['@playwright/test', 'msw', 'vitest']);
});

test('has no comment of its declarations behind a member, where editors do not find it', ({ expect }) => {
  const dist = join(consumer, 'node_modules', packageJson.name, 'dist');
  for (const file of readdirSync(dist).filter((file) => /\.d\.c?ts$/.test(file))) {
    const lines = readFileSync(join(dist, file), 'utf8').split('\n');
    expect(lines.filter((line) => /\S.*\/\*\*.*\*\/$/.test(line))).toEqual([]);
  }
});

test('has declarations without an error, also where they say that none is to be shown', async ({ expect }) => {
  const project = join(folder, 'declarations');
  await mkdir(project);
  const dist = join(consumer, 'node_modules', packageJson.name, 'dist');
  const files = readdirSync(dist).filter((file) => /\.d\.c?ts$/.test(file));
  for (const file of files) {
    const text = readFileSync(join(dist, file), 'utf8');
    expect(text, file).toMatch(/^(?:#!.*\n)?\/\/ @ts-nocheck\n/);
    await writeFile(join(project, file), text.replace('// @ts-nocheck', ''));
  }
  await symlink(join(ROOT, 'node_modules'), join(project, 'node_modules'));
  await writeFile(join(project, 'package.json'), '{ "type": "module" }');
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2022',
    lib: ['es2023', 'dom', 'dom.iterable', 'esnext.disposable'],
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
  };
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  const found = String(await compileProject(project, 'typescript').then((result) => JSON.stringify(result)));
  // Errors in the declarations of other packages are theirs.
  expect(found.match(/(?:^|\\n|")[\w.-]+\.d\.c?ts\(.*?error.*?(?=\\n|$)/g) ?? []).toEqual([]);
});

test('bundles @mswjs/data without what the emulator never runs, and has the licence of each bundled package', ({
  expect,
}) => {
  const licences = readFileSync(join(consumer, 'node_modules', packageJson.name, 'dist/THIRD-PARTY-LICENSES'), 'utf8');
  const names = [...licences.matchAll(/^(\S+) \d+\.\d+\.\d+, (?:MIT|BSD-3-Clause|ISC)$/gm)].map(([, name]) => name);
  expect(names).toEqual(expect.arrayContaining(['@mswjs/data', 'outvariant', 'zod']));
  expect(names.filter((name) => ['graphql', 'lodash', 'msw'].includes(name as string))).toEqual([]);
});

test('bundles no package whose regular expressions nobody has looked at', ({ expect }) => {
  const licences = readFileSync(join(consumer, 'node_modules', packageJson.name, 'dist/THIRD-PARTY-LICENSES'), 'utf8');
  const names = [...licences.matchAll(/^(@?[a-z][^\s@]*) \d+\.\d+\.\d+, /gm)].map(([, name]) => name);
  const readers = Object.values(READERS_OF_FOREIGN_TEXT).flat();
  const others = Object.values(OTHER_PACKAGES).flatMap((list) => list.split(' '));
  const known = (name = '') => others.includes(name) || readers.some((file) => file.startsWith(`${name}/`));
  expect(names.length).toBeGreaterThan(50);
  expect(names.filter((name) => !known(name))).toEqual([]);
  expect(others.filter((name) => !names.includes(name))).toEqual([]);
});

/** The packages that a built file and its parts import, each once and in order. */
function packagesOf(file: string): string[] {
  const imported = importsOf(join(consumer, 'node_modules', packageJson.name, 'dist', file));
  return [...new Set([...imported].map((name) => name.replace(/^(@[^/]+\/[^/]+|(?!node:)[^@/][^/]*).*/, '$1')))].sort();
}

const IMPORT = "import { createMailbox } from 'agent-mailbox-mock';";
const REQUIRE = `
  import { createRequire } from 'node:module';
  const { createMailbox } = createRequire(process.cwd() + '/main.js')('agent-mailbox-mock');
`;
const READ_HANDLERS = `
  const mailbox = createMailbox();
  const { status } = await mailbox.fetch('https://mailbox.test/v1/me', { headers: { 'X-API-Key': mailbox.keys.acme.tenant } });
  let message = '';
  try {
    mailbox.handlers;
  } catch (error) {
    message = error.message;
  }
  console.log(JSON.stringify([status, message]));
`;

test('installs nothing else, in at most 9 MB, and works without msw, except for handlers', async (test) => {
  const project = join(folder, 'consumer-without-msw');
  await createConsumer(project);
  const { stdout } = await npm(project, 'ls', '--all', '--parseable');
  const installed = join(project, 'node_modules', packageJson.name);
  test.expect(stdout.trim().split('\n')).toEqual([project, installed]);

  const files = readdirSync(installed, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const sizes = files.map((file) => statSync(join(file.parentPath, file.name)).size);
  test.expect(sizes.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(9_000_000);
  test.expect(await evaluate(project, USE_OVER_HTTP)).toEqual([200, 2, 200, 200, true]);
  test.expect(await evaluate(project, USE_RECEIVER)).toEqual([true, 'Hi', 'delivered']);
  const advice =
    'The handlers of a mailbox need msw, which is not installed; install it with npm install --save-dev msw.';
  for (const line of [IMPORT, REQUIRE]) {
    test.expect(await evaluate(project, line + READ_HANDLERS)).toEqual([200, advice]);
  }
});

const COMPARE = `
  import { createRequire } from 'node:module';
  const require = createRequire(process.cwd() + '/main.js');
  const different = [];
  for (const entry of ['', '/client', '/server', '/express', '/receiver', '/matchers', '/samples', '/verify', '/evaluate']) {
    const namesOf = (module) => Object.keys(module).filter((name) => !/default|module.exports/.test(name)).sort();
    const [one, other] = [await import('agent-mailbox-mock' + entry), require('agent-mailbox-mock' + entry)];
    if (String(namesOf(one)) !== String(namesOf(other))) different.push(entry);
  }
  console.log(JSON.stringify(different));
`;

test('has the same exports for import and require', async ({ expect }) => {
  expect(await evaluate(consumer, COMPARE)).toEqual([]);
});

/** Uses both copies of the code in one process: what one makes, the other gets. */
const USE_TWO_COPIES = `
  import { createRequire } from 'node:module';
  import * as library from 'agent-mailbox-mock';
  import { ApiReplyError, createClient } from 'agent-mailbox-mock/client';
  import { startServer } from 'agent-mailbox-mock/server';
  import { http } from 'msw';
  import { setupServer } from 'msw/node';

  const require = createRequire(process.cwd() + '/main.js');
  const required = require('agent-mailbox-mock');
  const errorOf = async (run) => { try { return await run(); } catch (error) { return error; } };
  const wrongFixture = { tenants: { acme: { slogan: 'x' } } };
  const wrongBehaviour = { 'webhooks.list.secret': 'hidden' };
  const kinds = [];
  for (const [one, other] of [[library, required], [required, library]]) {
    const mailbox = one.createMailbox();
    const errors = {
      FixtureError: await errorOf(() => one.createMailbox({ fixtures: wrongFixture })),
      BehaviourError: await errorOf(() => one.createMailbox({ behaviours: wrongBehaviour })),
      ApiError: await errorOf(() => mailbox.addFault({ on: 'nothing' })),
    };
    kinds.push(Object.entries(errors).every(([name, error]) => error instanceof other[name]));
  }
  const serverError = await errorOf(() => startServer({ port: 0, fixtures: wrongFixture }));
  kinds.push(serverError instanceof required.FixtureError, serverError instanceof library.FixtureError);

  // Two mailboxes, one of each copy, behind one msw server: each answers for its own URL, and gets its own mail.
  const first = library.createMailbox({ baseUrl: 'https://first.test' });
  const second = required.createMailbox({ baseUrl: 'https://second.test' });
  const interception = setupServer(...first.handlers, ...second.handlers);
  interception.listen({ onUnhandledRequest: 'error' });
  const statuses = [];
  for (const mailbox of [first, second]) {
    const headers = { 'X-API-Key': mailbox.keys.acme.tenant };
    statuses.push((await fetch(mailbox.baseUrl + '/v1/me', { headers })).status);
  }
  await second.receiveMessage({ to: 'helpdesk@acme.test', from: 'dana@customer.test', subject: 'Only for the second' });
  const counts = [first, second].map((mailbox) => JSON.stringify(mailbox.snapshot()).includes('Only for the second'));
  interception.close();

  // The server of one copy, with the client, the handlers and the receiver of the other.
  const { createReceiver } = require('agent-mailbox-mock/receiver');
  const server = await startServer({ port: 0, handlers: [http.get('/v1/weather', () => Response.json({ sky: 'clear' }))] });
  const client = require('agent-mailbox-mock/client').createClient({ baseUrl: server.url, key: server.mailbox.keys.acme.tenant });
  const refusal = await client.getWebhook(crypto.randomUUID()).catch((error) => error);
  kinds.push(refusal instanceof ApiReplyError);
  const weather = (await fetch(server.url + '/v1/weather')).status;
  const receiver = createReceiver();
  const { secret } = await client.createWebhook({ url: await receiver.listen(), events: ['message.received'] });
  receiver.secret = secret;
  await server.mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'dana@customer.test', subject: 'Hi' });
  await server.mailbox.settled();
  const [{ verified }] = receiver.requests;
  await Promise.all([server.close(), receiver.close()]);
  console.log(JSON.stringify([kinds, statuses, counts, weather, verified]));
`;

test('harms nobody by its two copies in one process, for import and for require', async ({ expect }) => {
  const kinds = [true, true, true, true, true];
  expect(await evaluate(consumer, USE_TWO_COPIES)).toEqual([kinds, [200, 200], [false, true], 200, true]);
});

/** What a CommonJS file of a project without msw and test runners gets of the types, and a mistake in it. */
const USE_TYPES_ALONE = `
  import { createMailbox, type Mailbox } from 'agent-mailbox-mock';
  import type { ServiceClient } from 'agent-mailbox-mock/client';

  const mailbox: Mailbox = createMailbox();
  const client: ServiceClient = mailbox.client(mailbox.keys.acme.tenant);
  export const subject: Promise<string> = client.getMessage('i', 'm').then((message) => message.subject);
  // @ts-expect-error: the body has no such field.
  client.replyToMessage('i', 'm', { text: 'Hi' });
  // @ts-expect-error: the default fixture has no such inbox.
  mailbox.keys.acme.inboxes.nowhere;
`;

/** Compiles a file in a project that allows no error, not even in the declarations of packages. */
async function compileStrictly(project: string, file: string, source: string): Promise<unknown> {
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2022',
    lib: ['es2022', 'dom'],
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    noEmit: true,
  };
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [file] }));
  await writeFile(join(project, file), source);
  return compileProject(project, 'typescript');
}

test('has types that compile in a strict project, even one without the types of Node', async ({ expect }) => {
  expect(await compileStrictly(consumer, 'main.ts', USE_TYPES)).toEqual(NO_ERRORS);
});

test.for(['main.mts', 'main.cts'])(
  'has types that find mistakes in %s without msw and test runners',
  async (file, { expect }) => {
    const project = join(folder, `types-alone-${file}`);
    await createConsumer(project);
    expect(await compileStrictly(project, file, USE_TYPES_ALONE)).toEqual(NO_ERRORS);
  },
);

test('has types with which the code on the pages has no errors', async ({ expect }) => {
  const project = join(folder, 'pages');
  await mkdir(project);
  const tsconfig = {
    extends: join(ROOT, 'tsconfig.json'),
    // Without `paths`, the imports lead to the declarations of the build.
    compilerOptions: { types: ['node', 'vite/client'], paths: {} },
    include: ['*.ts'],
    exclude: ['playwright.config.ts', 'inbox.spec.ts', 'agent.jest.ts'],
  };
  fillReaderFolder(project, { 'tsconfig.json': JSON.stringify(tsconfig) });
  expect(await compileProject(project, 'typescript7')).toEqual(NO_ERRORS);
});

test('has types whose comments an editor shows, and whose names a compiler prints', ({ expect }) => {
  const { NodeNext } = ts.ModuleKind;
  const module = { module: NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, types: [] };
  const editor = openEditor(consumer, { ...module, target: ts.ScriptTarget.ES2022, strict: true });
  for (const [type, marked, comment] of HOVERS) expect(editor.hover(type, marked), type).toContain(comment);
  for (const [type, marked, message] of MISTAKES) expect(editor.problem(type, marked)).toContain(message);
});

test('works in process with msw 3', async ({ expect }) => {
  const project = join(folder, 'consumer-of-msw-3');
  await createConsumer(project, 'msw@^3');
  const { version } = JSON.parse(readFileSync(join(project, 'node_modules/msw/package.json'), 'utf8'));
  expect(version).toMatch(/^3\./);
  // msw 3 asks for Node 22, which has this function; it is all that keeps its interception from running on Node 20.
  const polyfill = `Promise.withResolvers ??= function () {
    const parts = {};
    parts.promise = new Promise((resolve, reject) => Object.assign(parts, { resolve, reject }));
    return parts;
  };`;
  const flags = ['--import', `data:text/javascript,${encodeURIComponent(polyfill)}`];
  expect(await evaluate(project, USE_IN_PROCESS, flags)).toEqual([201, 3, true, 401, true]);
});
