import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer, type IncomingHttpHeaders, request } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { BEHAVIOURS, createMailbox, type Delivery } from 'agent-mailbox-mock';
import { type MailboxServer, startServer } from 'agent-mailbox-mock/server';
import { type TestContext, test, vi } from 'vitest';
import packageJson from '../package.json' with { type: 'json' };
import { maskKeys } from '../src/adapters/server/request-log.ts';
import { parseCommandLine } from '../src/cli/command-line.ts';
import { COMMANDS } from '../src/cli/commands.ts';
import { FLAG_ROWS, variableOf } from '../src/cli/flags.ts';
import { parseStartSettings } from '../src/cli/start-settings.ts';
import { COMMAND, linesOf, NEVER, ROOT, run, runCommand, runHere, startCommand } from './support/command.ts';

// Each process takes its time to start while other tests keep this machine busy.
vi.setConfig({ testTimeout: 60_000 });

const { acme, globex, operator } = createMailbox().keys;
const ONE_KEY_PER_TIER = {
  operator,
  tenant: acme.tenant,
  workspace: acme.workspaces.support,
  inbox: acme.inboxes.helpdesk,
};

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

/** Makes a folder that is gone with the test. */
async function makeFolder({ onTestFinished }: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-mailbox-mock-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

async function writeFixture(test: TestContext, content: string): Promise<string> {
  const file = join(await makeFolder(test), 'fixture.json');
  await writeFile(file, content);
  return file;
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

/** Opens a connection that stays open until the test ends, whatever becomes of it. */
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

const DEFAULTS = {
  port: 4025,
  host: '127.0.0.1',
  fixtures: undefined,
  behaviours: {},
  allowHosts: [],
  corsOrigins: [],
  deliverTo: [],
  maxMailBytes: undefined as number | undefined,
  json: false,
  quiet: false,
};

/** What `start` is told, or what is wanted instead. */
function settingsOf(args: readonly string[], env: NodeJS.ProcessEnv) {
  const line = parseCommandLine(args, env);
  return line.wants === 'start' ? parseStartSettings(line.given) : line;
}

test.for<[title: string, args: string[], env: NodeJS.ProcessEnv, told: Partial<typeof DEFAULTS> | object]>([
  ['nothing', [], {}, {}],
  ['the command', ['start'], {}, {}],
  ['--port', ['--port', '80'], {}, { port: 80 }],
  ['-p', ['-p', '80'], {}, { port: 80 }],
  ['a flag after the command', ['start', '-p80'], {}, { port: 80 }],
  ['a flag before the command', ['-p', '80', 'start'], {}, { port: 80 }],
  ['PORT', [], { PORT: '80' }, { port: 80 }],
  ['AGENT_MAILBOX_PORT over PORT', [], { PORT: '80', AGENT_MAILBOX_PORT: '81' }, { port: 81 }],
  ['--port over both', ['-p', '82'], { PORT: '80', AGENT_MAILBOX_PORT: '81' }, { port: 82 }],
  ['--port over what is no port', ['-p', '82'], { PORT: 'x', AGENT_MAILBOX_PORT: 'y' }, { port: 82 }],
  ['AGENT_MAILBOX_PORT over what is no port', [], { PORT: 'x', AGENT_MAILBOX_PORT: '81' }, { port: 81 }],
  ['empty variables', [], { PORT: '', AGENT_MAILBOX_PORT: '', AGENT_MAILBOX_JSON: '' }, {}],
  ['the last of two ports', ['-p', '1', '-p', '2'], {}, { port: 2 }],
  ['--host', ['--host', '::1'], {}, { host: '::1' }],
  ['-f', ['-f', 'a.json'], {}, { fixtures: 'a.json' }],
  ['--behaviour', ['--behaviour', 'a=b', '--behaviour=c=d=e'], {}, { behaviours: { a: 'b', c: 'd=e' } }],
  ['the last of two values', ['--behaviour', 'a=b', '--behaviour', 'a=c'], {}, { behaviours: { a: 'c' } }],
  ['a list', [], { AGENT_MAILBOX_BEHAVIOUR: 'a=b, c=d,' }, { behaviours: { a: 'b', c: 'd' } }],
  ['a flag over a list', ['--behaviour', 'c=d'], { AGENT_MAILBOX_BEHAVIOUR: 'a=b' }, { behaviours: { c: 'd' } }],
  ['--max-mail in MiB', ['--max-mail', '512MiB'], {}, { maxMailBytes: 536_870_912 }],
  ['--max-mail in GiB, in small letters', ['--max-mail', '2gib'], {}, { maxMailBytes: 2_147_483_648 }],
  ['--max-mail in bytes', ['--max-mail=1000'], {}, { maxMailBytes: 1000 }],
  ['--allow-host', ['--allow-host', 'a.example', '--allow-host', 'b'], {}, { allowHosts: ['a.example', 'b'] }],
  [
    'an IPv6 address',
    ['--allow-host', 'fd00::2:1', '--allow-host', '[::2]'],
    {},
    { allowHosts: ['fd00::2:1', '[::2]'] },
  ],
  [
    '--cors-origin',
    ['--cors-origin', 'https://a.example:1', '--cors-origin', '*'],
    {},
    { corsOrigins: ['https://a.example:1', '*'] },
  ],
  [
    '--deliver-to',
    ['--deliver-to', 'hooks.internal', '--deliver-to=10.0.0.0/8', '--deliver-to', 'fd00::/8', '--deliver-to', '*'],
    {},
    { deliverTo: ['hooks.internal', '10.0.0.0/8', 'fd00::/8', '*'] },
  ],
  ['--json', ['--json'], {}, { json: true }],
  ['-q', ['-q'], {}, { quiet: true }],
  ['a switch that is on', [], { AGENT_MAILBOX_QUIET: 'yes' }, { quiet: true }],
  ['a switch that is off', [], { AGENT_MAILBOX_QUIET: '0', AGENT_MAILBOX_JSON: 'False' }, {}],
])('reads %s', ([, args, env, told], { expect }) => {
  expect(settingsOf(args, env)).toEqual({ ...DEFAULTS, ...told });
});

test.for<[args: string[], env: NodeJS.ProcessEnv, wants: string]>([
  [['-h'], {}, 'help'],
  [['-v'], {}, 'version'],
  [['-h'], { PORT: 'x', AGENT_MAILBOX_JSON: 'x' }, 'help'],
  [['init', '--help', '--port', '1'], {}, 'help'],
  [['validate', '-v'], {}, 'version'],
])('takes %j with %j in the environment for %s', ([args, env, wants], { expect }) => {
  expect(parseCommandLine(args, env)).toEqual({ wants });
});

test.for<[args: string[], env: NodeJS.ProcessEnv, wants: string, argument: string | undefined]>([
  [['init'], {}, 'init', undefined],
  [['init', 'a.jsonc'], { PORT: 'x', AGENT_MAILBOX_JSON: 'x' }, 'init', 'a.jsonc'],
  [['validate', 'a.json'], { AGENT_MAILBOX_FIXTURES: 'b.json' }, 'validate', 'a.json'],
  [['validate', '--', '-h'], {}, 'validate', '-h'],
])('reads %j with %j in the environment as %s of %s', ([args, env, wants, argument], { expect }) => {
  expect(parseCommandLine(args, env)).toEqual({ wants, argument, given: {} });
});

const SAMPLES: Record<string, string> = {
  port: '81',
  'smtp-port': '82',
  host: 'localhost',
  fixtures: 'a.json',
  behaviour: 'a=b',
  'allow-host': 'a.example',
  'cors-origin': 'https://a.example',
  'deliver-to': '10.0.0.0/8',
  'max-mail': '1GiB',
};

test.for(FLAG_ROWS)('takes --%s from the environment too', ([name, { type, short }], { expect }) => {
  const value = type === 'string' ? [SAMPLES[name] ?? ''] : [];
  const settings = settingsOf([`--${name}`, ...value], {});
  expect(settings).not.toEqual(DEFAULTS);
  expect(settingsOf([], { [variableOf(name)]: value[0] ?? '1' })).toEqual(settings);
  if (short) expect(settingsOf([`-${short}`, ...value], {})).toEqual(settings);
});

test.for<[args: string[], env: NodeJS.ProcessEnv, said: RegExp]>([
  [['--bogus'], {}, /unknown option '--bogus'/i],
  [['-x'], {}, /unknown option '-x'/i],
  [['--no-json'], {}, /unknown option '--no-json'/i],
  [['serve'], {}, /no command "serve"; there are: start, receive, trigger, init, validate\.$/],
  [['__proto__'], {}, /no command "__proto__"/],
  [['init', '--port', '80'], {}, /init does not take --port; see --help\.$/],
  [['validate', '-q', 'a.json'], {}, /validate does not take --quiet/],
  [['init', 'a', 'b'], {}, /init takes one file, but got "b" too/],
  [['init', ''], {}, /file of init must not be empty/],
  [['validate'], {}, /validate needs <file>; see --help\.$/],
  [['validate', 'a', 'b'], {}, /validate takes one file, but got "b" too/],
  [[''], {}, /no command ""/],
  [['--', '--port'], {}, /no command "--port"/],
  [['start', 'now'], {}, /start takes no argument, but got "now"/],
  [['--json=yes'], {}, /'--json' does not take an argument/],
  [['--port'], {}, /'-p, --port <value>' argument missing/],
  [['--port', '--json'], {}, /'--port' argument is ambiguous/],
  [['-p', '-1'], {}, /'-p' argument is ambiguous/],
  [['--max-mail', '5 TB'], {}, /--max-mail must be a size such as 512MiB or 1GiB, not "5 TB"/],
  [['--max-mail=0'], {}, /--max-mail must be a size/],
  [['--port='], {}, /--port must be a whole number from 0 to 65535, not ""/],
  [['--port=-1'], {}, /--port must be .+, not "-1"/],
  [['--port', '65536'], {}, /--port must be .+, not "65536"/],
  [['--port', '80.5'], {}, /--port must be .+, not "80\.5"/],
  [['--port', '0x50'], {}, /--port must be .+, not "0x50"/],
  [['--port', ' 80'], {}, /--port must be .+, not " 80"/],
  [['--port', '1\n\u001b[31m2'], {}, /--port must be .+, not "1\\n\\u001b\[31m2"/],
  [[], { PORT: 'http' }, / PORT must be .+, not "http"/],
  [[], { AGENT_MAILBOX_PORT: 'http', PORT: '80' }, / AGENT_MAILBOX_PORT must be .+, not "http"/],
  [[], { AGENT_MAILBOX_JSON: 'maybe' }, /AGENT_MAILBOX_JSON must be 1 or 0, not "maybe"/],
  [['--host='], {}, /--host must not be empty/],
  [['--fixtures='], {}, /--fixtures must not be empty/],
  [['--behaviour', 'webhooks.list.secret'], {}, /--behaviour must be <id>=<value>, not "webhooks\.list\.secret"/],
  [['--behaviour', '=omitted'], {}, /--behaviour must be <id>=<value>, not "=omitted"/],
  [['--behaviour', 'webhooks.list.secret='], {}, /cannot be ""; it can be: included, omitted/],
  [[], { AGENT_MAILBOX_BEHAVIOUR: 'webhooks' }, /AGENT_MAILBOX_BEHAVIOUR must be <id>=<value>, not "webhooks"/],
  [['--behaviour', 'a=b=c'], {}, new RegExp(`no behaviour "a"; there are: ${Object.keys(BEHAVIOURS).join(', ')}\\.`)],
  [['--behaviour', '__proto__=x'], {}, /no behaviour "__proto__"/],
  [['--behaviour', 'webhooks.list.secret=no'], {}, /cannot be "no"; it can be: included, omitted/],
  [['--behaviour', 'webhooks.list.secret=omitted=no'], {}, /cannot be "omitted=no"/],
  [
    ['--allow-host', 'a.example:80'],
    {},
    /--allow-host must be a host name without scheme and port, not "a\.example:80"/,
  ],
  [['--allow-host', '[::1]:80'], {}, /--allow-host must be/],
  [['--allow-host', 'http://a.example'], {}, /--allow-host must be/],
  [['--allow-host', '*'], {}, /--allow-host must be/],
  [['--allow-host='], {}, /--allow-host must be/],
  [['--cors-origin', 'a.example'], {}, /--cors-origin must be an origin such as https:.+, not "a\.example"/],
  [['--cors-origin', 'https://a.example/page'], {}, /--cors-origin must be/],
  [
    ['--deliver-to', 'https://hooks.example'],
    {},
    /--deliver-to must be a host name without scheme and port, a range such as 10\.0\.0\.0\/8, or \*, not "https:.+"/,
  ],
  [['--deliver-to', 'hooks.example:443'], {}, /--deliver-to must be/],
  [['--deliver-to', '10.0.0.0/33'], {}, /--deliver-to must be/],
  [['--deliver-to='], {}, /--deliver-to must be/],
  [[], { AGENT_MAILBOX_DELIVER_TO: '*,10.0.0.0/' }, /AGENT_MAILBOX_DELIVER_TO must be .+, not "10\.0\.0\.0\/"/],
])('refuses %j with %j in the environment as wrong usage', async ([args, env, said], { expect }) => {
  const { code, out, err } = await runHere(args, env);
  expect(err).toMatch(said);
  expect(err).toMatch(/^agent-mailbox-mock: .+[^.]\.$/);
  expect({ code, out }).toEqual({ code: 2, out: [] });
});

const TO = 'helpdesk@acme.test';
const MAIL = ['receive', '--to', TO, '--from', 'dana@customer.test'];

test.for<[args: string[], env: NodeJS.ProcessEnv, said: string]>([
  [['receive'], {}, 'The command receive needs --to, or --eml; see --help.'],
  [['receive', '--to', TO], {}, 'The command receive needs --from, or --eml; see --help.'],
  [['receive', '--port', '1'], {}, 'The command receive does not take --port; see --help.'],
  [['receive', 'now'], {}, 'The command receive takes no argument, but got "now".'],
  [
    [...MAIL, '--url', 'localhost:4025'],
    {},
    '--url must be the URL of an emulator such as http://127.0.0.1:4025, not "localhost:4025".',
  ],
  [
    MAIL,
    { AGENT_MAILBOX_URL: 'ftp://x' },
    'AGENT_MAILBOX_URL must be the URL of an emulator such as http://127.0.0.1:4025, not "ftp://x".',
  ],
  [[...MAIL, '--eml', 'a.eml', '--text', 'x'], {}, '--eml takes no --from, --text besides it.'],
])('refuses to receive with %j and %j in the environment', async ([args, env, said], { expect }) => {
  expect(await runHere(args, env, { interrupted: NEVER })).toEqual({
    code: 2,
    out: [],
    err: `agent-mailbox-mock: ${said}`,
  });
});

test.for<[title: string, args: string[], input: string, arrived: object]>([
  ['a text', ['--subject', 'Hi', '--text', 'Hello!'], 'unread', { subject: 'Hi', plainBody: 'Hello!', htmlBody: null }],
  ['a text from stdin', ['--text', '-'], 'Hello\nthere!\n', { subject: '', plainBody: 'Hello\nthere!\n' }],
  ['HTML', ['--html', '<p>Hi</p>'], '', { plainBody: '', htmlBody: '<p>Hi</p>' }],
  ['an answer', ['--in-reply-to', '<login-1@customer.test>'], '', { threadId: 'ac3e0000-0007-4000-8000-000000000001' }],
])('receives %s', async ([, args, input, arrived], { expect }) => {
  await using server = await startServer({ port: 0 });
  const received = await runHere(
    [...MAIL, ...args],
    { AGENT_MAILBOX_URL: `${server.url}/` },
    { input, interrupted: NEVER },
  );
  const [message] = latestIn(server, 'Acme', 1);
  expect(received).toEqual({
    code: 0,
    out: [`Message ${message?.id} arrived in inbox ${message?.inboxId}, thread ${message?.threadId}.`],
    err: '',
  });
  expect(message).toMatchObject({ from: 'dana@customer.test', to: [TO], ...arrived });
});

test('receives in several inboxes, with files, and says so in one line of JSON', async (test) => {
  await using server = await startServer({ port: 0 });
  const file = join(await makeFolder(test), 'order.txt');
  await writeFile(file, 'one chair');
  const args = [...MAIL, '--to', 'Info <info@globex.test>', '--attach', file, '--json', '--url', server.url];
  const { code, out, err } = await runHere(args, {}, { interrupted: NEVER });
  test.expect([code, out.length, err]).toEqual([0, 1, '']);
  const { messages } = JSON.parse(out.join());
  const arrived = [...latestIn(server, 'Acme', 1), ...latestIn(server, 'Globex', 1)];
  test.expect(messages.map(({ id }: { id: string }) => id)).toEqual(arrived.map(({ id }) => id));
  const files = server.mailbox.snapshot().tenants.flatMap(({ attachments }) => attachments);
  test
    .expect(files.filter(({ filename }) => filename === 'order.txt').map(({ content }) => atob(content)))
    .toEqual(['one chair', 'one chair']);
});

test('receives a mail as it travels, with the token where one is asked for', async (test) => {
  await using server = await startServer({ port: 0, host: '0.0.0.0' });
  const file = join(await makeFolder(test), 'mail.eml');
  const eml = `From: Dana <dana@customer.test>\r\nTo: ${TO}\r\nSubject: Whole\r\n\r\nHello!\r\n`;
  await writeFile(file, eml);
  const args = ['receive', '--eml', file, '--url', `http://127.0.0.1:${server.port}`];

  const refused = await runHere(args, {}, { interrupted: NEVER });
  test.expect([refused.code, refused.out]).toEqual([1, []]);
  test.expect(refused.err).toMatch(/^agent-mailbox-mock: .*token.*\.$/i);

  const { code, err } = await runHere([...args, '--token', String(server.controlToken)], {}, { interrupted: NEVER });
  test.expect([code, err]).toEqual([0, '']);
  const [message] = latestIn(server, 'Acme', 1);
  test.expect([message?.subject, atob(String(message?.raw))]).toEqual(['Whole', eml]);
});

test('says why a mail does not arrive', async (test) => {
  await using server = await startServer({ port: 0 });
  const before = server.mailbox.snapshot();
  const { port } = server;
  const folder = await makeFolder(test);
  const cases: [args: string[], said: string][] = [
    [[...MAIL, '--to', 'no@acme.test'], 'There is no inbox with the address no@acme.test.'],
    [[...MAIL, '--attach', folder], `The file ${folder} cannot be read: it is a directory.`],
    [['receive', '--eml', join(folder, 'x')], `The file ${join(folder, 'x')} cannot be read: there is no such file.`],
    [[...MAIL, '--url', `http://127.0.0.1:${port}/x`], 'There is no such route.'],
    [
      [...MAIL, '--url', 'http://127.0.0.1:1'],
      'No emulator answers at http://127.0.0.1:1; start one, or say where it is with --url.',
    ],
  ];
  for (const [args, said] of cases) {
    const { code, out, err } = await runHere(args, { AGENT_MAILBOX_URL: server.url }, { interrupted: NEVER });
    test.expect([code, out]).toEqual([1, []]);
    test.expect(err).toContain(`agent-mailbox-mock: ${said}`);
  }
  test.expect(server.mailbox.snapshot()).toEqual(before);
});

/** The latest messages of a tenant. */
function latestIn({ mailbox }: MailboxServer, tenant: string, count: number) {
  return (
    mailbox
      .snapshot()
      .tenants.find(({ name }) => name === tenant)
      ?.messages.slice(-count) ?? []
  );
}

test.for<[host: string, said: string]>([
  ['203.0.113.1', 'This machine has no address 203.0.113.1; choose another with --host.'],
  ['no-such-host.invalid', 'There is no host no-such-host.invalid; choose an address of this machine with --host.'],
])('cannot run on the host %s', async ([host, said], { expect }) => {
  expect(await runHere(['-p', '0', '--host', host])).toEqual({ code: 1, out: [], err: `agent-mailbox-mock: ${said}` });
});

test.for<[title: string, content: string, said: RegExp]>([
  ['is empty', '', /cannot be read as JSON: value expected at line 1, column 1\.$/],
  ['is not JSON', '{\n  "operator":\n}\n', /cannot be read as JSON: value expected at line 3, column 1\.$/],
  ['has words after it', '{}\r\n  {}', /cannot be read as JSON: end of file expected at line 2, column 3\.$/],
  ['has a comment without end', '{}\n/* ', /cannot be read as JSON: unexpected end of comment at line 2, column 1\.$/],
  [
    'names something twice',
    '{\n  "tenants": {},\n  "tenants": {}\n}',
    /cannot be read as JSON: "tenants" stands there twice, again at line 3, column 3\.$/,
  ],
  [
    'hides a handle from JavaScript',
    '{"tenants":{"__proto__":{}}}',
    /:\n {2}\$\.tenants\.__proto__ must not be a handle$/,
  ],
  ['is null', 'null', /\n {2}\$ must be an object$/],
  ['is a list', '[]', /\n {2}\$ must be an object$/],
  ['holds nothing', '{}', /:\n {2}\$\.tenants is required$/],
  ['has a tenant that is null', '{"tenants":{"acme":null}}', /\n {2}\$\.tenants\.acme must be an object$/],
  ['has a name that breaks lines', '{"tenants":{"a\\n\\u001b":{}}}', /\n {2}\$\.tenants\["a\\n\\u001b"\] as a handle/],
])('cannot run on a fixture file that %s', async ([, content, said], test) => {
  const file = await writeFixture(test, content);
  const { code, out, err } = await runHere(['-p', '0', '-f', file]);
  test.expect(err).toMatch(said);
  test.expect(err).toContain(file);
  test.expect({ code, out }).toEqual({ code: 1, out: [] });
});

test.for<[title: string, path: string, said: RegExp]>([
  [
    'is not there',
    join(ROOT, 'fixtures/none.json'),
    /^agent-mailbox-mock: .+none\.json cannot be read: there is no such file\.$/,
  ],
  ['is a folder', join(ROOT, 'fixtures'), /^agent-mailbox-mock: .+fixtures cannot be read: it is a directory\.$/],
])('cannot run on a fixture file that %s, nor check it', async ([, path, said], { expect }) => {
  for (const args of [
    ['-p', '0', '-f', path],
    ['validate', path],
  ]) {
    const { code, out, err } = await runHere(args);
    expect(err).toMatch(said);
    expect({ code, out }).toEqual({ code: 1, out: [] });
  }
});

test('tells every problem of a fixture with its JSON path, without a stack', async (test) => {
  const fixture = JSON.parse(await readFile(join(ROOT, 'fixtures/default.json'), 'utf8'));
  fixture.tenants.acme.key.key = 'secret';
  fixture.tenants.acme.workspaces.support.inboxes.helpdesk.messages[0].to = [];
  fixture.tenants.acme.webhooks.stray = {
    ...Object.values<object>(fixture.tenants.acme.webhooks)[0],
    workspace: 'none',
  };
  fixture.tenants.globex.name = '';
  const file = await writeFixture(test, JSON.stringify(fixture));

  const running = runCommand(test, ['--port', '0', '--fixtures', file]);

  test.expect(await running.ended).toEqual({ code: 1, signal: null });
  test.expect(running.stdout).toBe('');
  const [head, ...problems] = linesOf(running.stderr);
  test.expect(head).toBe(`agent-mailbox-mock: ${file}: The fixture is not valid:`);
  test
    .expect(problems.map((line) => line.trim().split(' ')[0]).sort())
    .toEqual([
      '$.tenants.acme.key.key',
      '$.tenants.acme.webhooks.stray.id',
      '$.tenants.acme.webhooks.stray.workspace',
      '$.tenants.acme.workspaces.support.inboxes.helpdesk.messages[0].to',
      '$.tenants.globex.name',
    ]);
});

test('starts with the fixture that init writes, which validate accepts', async (test) => {
  const file = join(await makeFolder(test), 'mailbox.jsonc');

  const written = await runHere(['init', file]);
  test.expect(written).toEqual({
    code: 0,
    out: [`Wrote ${file}. Change it, then run: agent-mailbox-mock --fixtures ${file}`],
    err: '',
  });
  test.expect(await readFile(file, 'utf8')).toMatch(/^\/\/ .+\n/);

  test.expect(await runHere(['validate', file])).toEqual({
    code: 0,
    out: [
      `${file} is a valid fixture: 1 tenant, 1 workspace, 1 inbox, 2 messages, 1 attachment, 1 draft, 1 list, 2 domains, 1 webhook.`,
    ],
    err: '',
  });

  const started = await runHere(['-p', '0', '-f', file, '--json']);
  test.expect(started.code).toBe(0);
  test.expect(JSON.parse(started.out.join()).keys).toEqual(ONE_KEY_PER_TIER);
});

test('says no more in the comments of what init writes than is so', async (test) => {
  const file = join(await makeFolder(test), 'mailbox.jsonc');
  await runHere(['init', file]);
  const told = (await readFile(file, 'utf8')).match(/\b[tw]k_\w+|\bak_\w+|\w+@acme\.test/g);
  test.expect(told).toEqual([acme.tenant, acme.workspaces.support, 'helpdesk@acme.test', acme.inboxes.helpdesk]);
});

test('writes mailbox.jsonc if init is given no file, and never over a file', async (test) => {
  const folder = await makeFolder(test);
  const init = async () => {
    const command = COMMAND.map((word) => (word.startsWith('src/') ? join(ROOT, word) : word));
    const tsx = import.meta.resolve('tsx');
    const [node, ...args] = [...command.map((word) => (word === 'tsx' ? tsx : word)), 'init'];
    const running = run(test, [String(node), ...args], { cwd: folder });
    return { ...(await running.ended), out: running.stdout, err: running.stderr };
  };
  const file = join(folder, 'mailbox.jsonc');

  test.expect(await init()).toMatchObject({ code: 0, err: '' });
  await writeFile(file, 'mine');
  test.expect(await init()).toEqual({
    code: 1,
    signal: null,
    out: '',
    err: 'agent-mailbox-mock: The file mailbox.jsonc cannot be written: it exists already; choose another name.\n',
  });
  test.expect(await readFile(file, 'utf8')).toBe('mine');
});

test('cannot write a fixture into a folder that is not there', async (test) => {
  const { code, out, err } = await runHere(['init', join(await makeFolder(test), 'none/mailbox.jsonc')]);
  test.expect(err).toMatch(/cannot be written: there is no such folder\.$/);
  test.expect({ code, out }).toEqual({ code: 1, out: [] });
});

test.for<[file: string, counts: string]>([
  [
    'fixtures/default.json',
    '2 tenants, 3 workspaces, 4 inboxes, 6 messages, 2 attachments, 1 draft, 1 list, 3 domains, 3 webhooks',
  ],
  ['fixtures/empty.json', '0 tenants'],
])('finds %s valid', async ([name, counts], { expect }) => {
  const file = join(ROOT, String(name));
  const out = [`${file} is a valid fixture: ${counts}.`];
  expect(await runHere(['validate', file])).toEqual({ code: 0, out, err: '' });
});

test('names every problem of the fixture that it checks', async (test) => {
  const file = await writeFixture(
    test,
    '{ "operator": { "key": "mine" }, // a comment\n "tenants": { "a b": {}, "c": { "webhooks": { "d": {}, } } } }',
  );
  test.expect(await runHere(['validate', file])).toEqual({
    code: 1,
    out: [],
    err: [
      `agent-mailbox-mock: ${file}: The fixture is not valid:`,
      '  $.operator.key must be sa_ and at least ten letters, digits, _ or -',
      '  $.tenants["a b"] as a handle must start with a lower-case letter, then letters, digits or -',
      '  $.tenants.c.webhooks.d.url is required',
    ].join('\n'),
  });
});

test('starts with a fixture file of any editor', async (test) => {
  const file = await writeFixture(test, `\uFEFF${await readFile(join(ROOT, 'fixtures/empty.json'), 'utf8')}`);
  const { code, out } = await runHere(['-p', '0', '-f', file, '--json']);
  test.expect(code).toBe(0);
  test.expect(JSON.parse(out.join()).keys).toEqual({ operator });
});

test('cannot run on a port that is taken, and says by which flag to choose another', async (test) => {
  const port = await takePort(test);

  const running = runCommand(test, [], { PORT: String(port) });

  test.expect(await running.ended).toEqual({ code: 1, signal: null });
  test.expect(running.stdout).toBe('');
  test
    .expect(running.stderr)
    .toBe(`agent-mailbox-mock: Port ${port} on 127.0.0.1 is taken; choose another with --port, or 0 for a free one.\n`);
});

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

test('shows every command, every flag, its short form and its default in help', async (test) => {
  const running = runCommand(test, ['--help']);
  test.expect(await running.ended).toEqual({ code: 0, signal: null });
  test.expect(running.stderr).toBe('');
  const help = linesOf(running.stdout);
  test.expect(help[0]).toBe('Usage: agent-mailbox-mock [command] [flags]');
  for (const [name, { help: line }] of Object.entries(COMMANDS)) {
    test
      .expect(
        help.filter((each) => each.startsWith(`  ${name} `)),
        name,
      )
      .toEqual([test.expect.stringContaining(line)]);
  }
  test.expect(running.stdout).toMatch(/^ {2}init \[file\] {2,}.+\n {2}validate <file> {2}/m);
  const startFlags = help.slice(help.indexOf('Flags of start:'), help.indexOf('Flags of receive:'));
  const commonFlags = help.slice(help.indexOf('Flags of every command:'));
  for (const [name, { short }] of FLAG_ROWS) {
    const start = short ? `  -${short}, --${name}` : `      --${name}`;
    test
      .expect(
        [...startFlags, ...commonFlags].filter((line) => line.startsWith(start)),
        start,
      )
      .toHaveLength(1);
  }
  test.expect(running.stdout).toMatch(/--port .+default 4025; also PORT/);
  test.expect(running.stdout).toMatch(/--host .+default 127\.0\.0\.1/);
  test.expect(running.stdout).toContain('AGENT_MAILBOX_PORT');
  test.expect(Math.max(...help.map((line) => line.length))).toBeLessThanOrEqual(100);
});

test.for(['SIGINT', 'SIGTERM'] as const)(
  'prints what a person needs, and ends with 0 after %s',
  async (signal, test) => {
    const running = runCommand(test, ['--port', '0']);

    const [name, url = '', ...rest] = linesOf(await running.untilStdout(/Ready\.\n/));
    const { origin, port } = new URL(url.replace('  URL', '').trim());
    test.expect(name).toBe(`agent-mailbox-mock ${packageJson.version}`);
    test.expect(origin).toBe(`http://127.0.0.1:${port}`);
    test
      .expect(rest)
      .toEqual([
        `  sa_ key  ${operator}`,
        `  tk_ key  ${acme.tenant}`,
        `  wk_ key  ${acme.workspaces.support}`,
        `  ak_ key  ${acme.inboxes.helpdesk}`,
        `  Control  ${origin}/__mock`,
        'Ready.',
      ]);
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
    control: `${ready.url}/__mock`,
  });
  test.expect((await get(`${ready.control}/health`)).status).toBe(200);
  for (const key of [ready.keys.tenant, ready.keys.workspace]) {
    test.expect((await get(`${ready.url}/v1/webhooks`, { 'x-api-key': key })).status).toBe(200);
  }
  await running.untilStderr(/(?:.+\n){3}/);

  running.child.kill('SIGINT');
  test.expect(await running.ended).toEqual({ code: 0, signal: null });
  test.expect(running.stdout).toBe(`${JSON.stringify(ready)}\n`);
  test
    .expect(linesOf(running.stderr).map((line) => line.replace(/[\d.]+ ms/, 'N ms')))
    .toEqual([
      'GET /__mock/health 200 N ms',
      'GET /v1/webhooks 200 N ms tk_acme_…',
      'GET /v1/webhooks 200 N ms wk_acme_…',
    ]);
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

test.for(TOLD)('does what %s tell it', async ([, args, env], test) => {
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

/** Lets a command bring an event to a webhook, and answers what became of it. */
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

test.runIf(OUTER_ADDRESS)('delivers beyond loopback only where --deliver-to says so', async (test) => {
  const receiver = createHttpServer((_, response) => response.end()).listen(0, OUTER_ADDRESS);
  test.onTestFinished(() => void receiver.close());
  await once(receiver, 'listening');
  const url = `http://${OUTER_ADDRESS}:${(receiver.address() as AddressInfo).port}/hook`;

  const [refused, ...delivered] = await Promise.all([
    deliver(test, url, []),
    deliver(test, url, ['--deliver-to', String(OUTER_ADDRESS)]),
    deliver(test, url, ['--deliver-to', `${OUTER_ADDRESS}/24`]),
  ]);
  const reason = `${OUTER_ADDRESS} is no loopback address; to let it be called, start with --deliver-to ${OUTER_ADDRESS}.`;
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

test('prints the token of the control plane for a person too, and another one each time', async ({ expect }) => {
  const runs = await Promise.all([
    runHere(['-p', '0', '--host', '0.0.0.0']),
    runHere(['-p', '0', '--host', '0.0.0.0']),
  ]);
  const tokens = runs.map(({ out }) => out.join().match(/^ {2}Token {4}X-Mock-Token: ([\w-]{20,})$/m)?.[1]);
  expect(tokens).toEqual([expect.any(String), expect.any(String)]);
  expect(tokens[0]).not.toBe(tokens[1]);
});

/** What a line could be read as by somebody who looks for a key in it. */
function readingsOf(line: string): string {
  const decode = (text: string) =>
    text.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  const base64 = line.split(/[^\w+/=-]+/).map((word) => Buffer.from(word, 'base64').toString('latin1'));
  return [line, decode(line), decode(decode(line)), decode(decode(decode(line))), ...base64].join('\n');
}

const KEY = 'tk_acme_tenant_key';
const REQUESTS: [path: string, headers: Record<string, string>, line: RegExp][] = [
  ['/v1/webhooks', { 'x-api-key': KEY }, /^GET \/v1\/webhooks 200 [\d.]+ ms tk_acme_…$/],
  ['/v1/webhooks', { authorization: `Bearer ${KEY}` }, /^GET \/v1\/webhooks 200 [\d.]+ ms tk_acme_…$/],
  ['/v1/webhooks', { authorization: `bearer   ${KEY}` }, /^GET \/v1\/webhooks 200 [\d.]+ ms tk_acme_…$/],
  ['/v1/webhooks', { authorization: KEY }, /^GET \/v1\/webhooks 401 /],
  ['/v1/webhooks', { authorization: `Bearer Bearer ${KEY}` }, /^GET \/v1\/webhooks 401 /],
  ['/v1/webhooks', { authorization: `Basic ${btoa(`${KEY}:`)}` }, /^GET \/v1\/webhooks 401 /],
  ['/v1/webhooks', { 'x-api-key': `${KEY}, ${KEY}` }, /^GET \/v1\/webhooks 401 /],
  ['/v1/webhooks', { 'x-api-key': `\u00e9${KEY}\u0085` }, /^GET \/v1\/webhooks 401 /],
  ['/v1/webhooks', { 'x-api-key': KEY.toUpperCase() }, /^GET \/v1\/webhooks 401 /],
  ['/v1/webhooks', { 'x-api-key': 'sk_live_tenant_key' }, /^GET \/v1\/webhooks 401 /],
  [`/v1/webhooks?api_key=${KEY}`, {}, /^GET \/v1\/webhooks\?api_key=tk_acme_… 401 /],
  [`/v1/webhooks?api_key=tk%5Facme_tenant%5fkey`, {}, /^GET \/v1\/webhooks\?api_key=tk_acme_… 401 /],
  [`/v1/webhooks?a=1&b=x${KEY}`, {}, /^GET \/v1\/webhooks\?a=1&b=xtk_acme_… 401 /],
  [`/v1/${KEY}`, {}, /^GET \/v1\/tk_acme_… 404 /],
  [`/v1/x_${KEY}/y`, {}, /^GET \/v1\/x_tk_acme_…\/y 404 /],
  ['/v1/%74%6b_acme_tenant_key', {}, /^GET \/v1\/tk_acme_… 404 /],
  ['/v1/tk%255facme%25255ftenant_key', {}, /^GET \/v1\/tk_acme_… 404 /],
  [`/v1/%0a${KEY}`, {}, /^GET \/v1\/\S+tk_acme_… 404 /],
  [`/v1/%C3%A9${KEY}`, {}, /^GET \/v1\/\S+tk_acme_… 404 /],
  [`/v1/${'x'.repeat(5_000)}${KEY}`, {}, /^GET \/v1\/x{50,} 404 /],
  ['/v1/a%0d%0aGET%20/fake%20200%1b[31m', {}, /^GET \/v1\/a\S+ 404 /],
];

test('logs one line for each request, which shows no whole key and can fake nothing', async (test) => {
  const running = runCommand(test, ['--port', '0']);
  const banner = linesOf(await running.untilStdout(/Ready\.\n/));
  const url = banner[1]?.trim().split(/\s+/)[1];

  for (const [index, [path, headers, line]] of REQUESTS.entries()) {
    await get(url + path, headers);
    const lines = linesOf(await running.untilStdout(new RegExp(`Ready\\.\\n(?:.*\\n){${index + 1}}`)));
    test.expect(lines).toHaveLength(banner.length + index + 1);
    test.expect(lines.at(-1)).toMatch(line);
    test.expect(lines.at(-1)).toMatch(/^[\x20-\x7e…]{1,300}$/);
    test.expect(readingsOf(lines.at(-1) ?? ''), path).not.toMatch(/tenant_key/i);
  }
});

test.for([
  ['no key here', 'no key here'],
  ['tk_acme_tenant_key', 'tk_acme_…'],
  ['sa_platform_operator_key, wk_acme_support_key', 'sa_platf…, wk_acme_…'],
  ['xak_acme_helpdesk_key', 'xak_acme_…'],
  ['tk_short', 'tk_…'],
])('masks %j as %j', ([given, masked], { expect }) => {
  expect(maskKeys(given ?? '')).toBe(masked);
});

test('ends soon after SIGINT with connections open, and once more SIGINT does not change that', async (test) => {
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

test('goes on without a reader of its output', async (test) => {
  const running = runCommand(test, ['--port', '0']);
  const url = linesOf(await running.untilStdout(/Ready\.\n/))[1]
    ?.trim()
    .split(/\s+/)[1];
  running.child.stdout?.destroy();
  for (const _ of [1, 2, 3]) test.expect((await get(`${url}/health`)).status).toBe(200);
  running.child.kill('SIGTERM');
  test.expect((await running.ended).code).toBe(0);
});

test('answers and ends though nobody reads its log', async (test) => {
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

const SCRIPT = '/usr/bin/script';
const COLOUR = '\u001b[';

test.runIf(process.platform === 'linux' && existsSync(SCRIPT)).for<[env: NodeJS.ProcessEnv, coloured: boolean]>([
  [{}, true],
  [{ NO_COLOR: '1' }, false],
  [{ NO_COLOR: '1', FORCE_COLOR: '1' }, false],
])('on a terminal with %j, colour is %j, and Ctrl-C ends it with 0', async ([env, coloured], test) => {
  const line = `exec ${[...COMMAND, '--port', '0'].map((word) => `'${word}'`).join(' ')}`;
  const running = run(test, [SCRIPT, '-qefc', line, '/dev/null'], { env: { TERM: 'xterm', ...env } });
  const banner = await running.untilStdout(/Ready\.\r\n/);
  running.child.stdin?.write('\u0003');
  test.expect(await running.ended).toEqual({ code: 0, signal: null });
  test.expect(banner.includes(COLOUR)).toBe(coloured);
  test.expect(linesOf(banner)).toContain(`agent-mailbox-mock ${packageJson.version}`);
});

test('has no colour in a pipe, even if colour is wanted', async (test) => {
  const running = runCommand(test, ['--port', '0'], { FORCE_COLOR: '1', TERM: 'xterm' });
  test.expect(await running.untilStdout(/Ready\.\n/)).not.toContain(COLOUR);
});
