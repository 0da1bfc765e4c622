import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { join } from 'node:path';
import { createMailbox } from 'agent-mailbox-mock';
import { test, vi } from 'vitest';
import { NEVER, runHere } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { COMMAND, run, runCommand, SCRIPT, startCommand } from '../../support/processes.ts';

// Each process takes its time to start while other tests keep this machine busy.
vi.setConfig({ testTimeout: 60_000 });

const { keys, ids } = createMailbox();
const CONNECTION = {
  MAILBOX_BASE_URL: /^http:\/\/127\.0\.0\.1:\d+$/,
  MAILBOX_TENANT_KEY: keys.acme.tenant,
  MAILBOX_WORKSPACE_KEY: keys.acme.workspaces.support,
  MAILBOX_INBOX_KEY: keys.acme.inboxes.helpdesk,
  MAILBOX_INBOX_ID: ids.acme.inboxes.helpdesk,
  MAILBOX_CONTROL_URL: /^http:\/\/127\.0\.0\.1:\d+\/__mock$/,
  MAILBOX_PYTHON_CLIENT: /^http:\/\/127\.0\.0\.1:\d+\/__mock\/client\.py$/,
  AGENT_MAILBOX_URL: /^http:\/\/127\.0\.0\.1:\d+$/,
  MAILBOX_EXEC_ID: /^[\da-f-]{36}$/,
};

/** A command that runs a program in Node. */
function inNode(program: string): string[] {
  return ['--', process.execPath, '--input-type=module', '-e', program];
}

const PRINT_ENV = inNode('console.log(JSON.stringify(process.env))');

/** Reads the variables of the emulator from the output of `PRINT_ENV`. */
function mailboxVariables(output: string): Record<string, string> {
  const env: Record<string, string> = JSON.parse(output);
  return Object.fromEntries(Object.entries(env).filter(([name]) => name.includes('MAILBOX')));
}

test('exec runs a command that finds the emulator, and prints nothing itself', async (test) => {
  const running = runCommand(test, ['exec', ...PRINT_ENV]);
  test.expect(await running.ended).toEqual({ code: 0, signal: null });
  test.expect(running.stderr).toBe('');
  const variables = mailboxVariables(running.stdout);
  test.expect(Object.keys(variables).sort()).toEqual(Object.keys(CONNECTION).sort());
  for (const [name, value] of Object.entries(CONNECTION)) test.expect(variables[name]).toMatch(value);
});

test('exec sets the variables of SMTP, IMAP and the token where they are on, and unsets those of no key', async (test) => {
  const folder = await makeFolder(test);
  await writeFile(join(folder, 'empty.json'), '{ "tenants": {} }');
  const args = [
    'exec',
    '--smtp-port',
    '0',
    '--imap-port',
    '0',
    '--token',
    'token-of-this-test',
    '-f',
    join(folder, 'empty.json'),
  ];
  const running = runCommand(test, [...args, ...PRINT_ENV], { MAILBOX_INBOX_KEY: 'ak_of_somebody_else' });
  test.expect(await running.ended).toEqual({ code: 0, signal: null });
  const variables = mailboxVariables(running.stdout);
  test.expect(variables).toMatchObject({ MAILBOX_SMTP_HOST: '127.0.0.1', AGENT_MAILBOX_TOKEN: 'token-of-this-test' });
  test.expect(variables.MAILBOX_SMTP_PORT).toMatch(/^\d+$/);
  test.expect(variables.MAILBOX_IMAP_PORT).toMatch(/^\d+$/);
  test.expect(variables).not.toHaveProperty('MAILBOX_INBOX_KEY');
});

test('exec sets the keys that its state file has', async (test) => {
  const state = join(await makeFolder(test), 'state.json');
  const rotate = `const { MAILBOX_BASE_URL: url, MAILBOX_INBOX_ID: id, MAILBOX_TENANT_KEY: key } = process.env;
    const reply = await fetch(url + '/v1/inboxes/' + id + '/keys', { method: 'POST', headers: { 'X-API-Key': key } });
    console.log((await reply.json()).key)`;
  const first = runCommand(test, ['exec', '--state', state, ...inNode(rotate)]);
  await first.ended;
  const second = runCommand(test, ['exec', '--state', state, ...PRINT_ENV]);
  await second.ended;
  test.expect(mailboxVariables(second.stdout)).toMatchObject({
    MAILBOX_INBOX_KEY: first.stdout.trim(),
    MAILBOX_INBOX_ID: ids.acme.inboxes.helpdesk,
  });
});

test('exec gives its standard input to the command', async (test) => {
  const running = runCommand(test, ['exec', '--', 'cat']);
  running.child.stdin?.end('as typed');
  test.expect(await running.ended).toEqual({ code: 0, signal: null });
  test.expect(running.stdout).toBe('as typed');
});

test.for<[program: string, code: number]>([
  ['process.exit(7)', 7],
  ["process.kill(process.pid, 'SIGKILL')", 128 + constants.signals.SIGKILL],
  ["process.kill(process.pid, 'SIGTERM')", 128 + constants.signals.SIGTERM],
])('exec ends as the command ends: %s', async ([program, code], test) => {
  const running = runCommand(test, ['exec', ...inNode(program)]);
  test.expect(await running.ended).toEqual({ code, signal: null });
  test.expect(running.stderr).toBe('');
});

test.for<[file: string, code: number, reason: string]>([
  ['no-such-command-anywhere', 127, 'it was not found'],
  ['/etc/passwd/no-folder', 127, 'it was not found'],
  ['/etc/passwd', 126, 'it is not a program that you may run'],
])('exec says why it cannot run %s, and ends with %i', async ([file, code, reason], { expect }) => {
  expect(await runHere(['exec', '--', file], { PATH: process.env.PATH }, { interrupted: NEVER })).toEqual({
    code,
    out: [],
    err: `agent-mailbox-mock: The command "${file}" cannot run: ${reason}.`,
  });
});

test.for(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2'] as const)('exec passes on %s', async (signal, test) => {
  const program = `process.on('${signal}', () => process.exit(42)); setInterval(() => {}, 60_000); console.log('ready')`;
  const running = runCommand(test, ['exec', ...inNode(program)]);
  await running.untilStdout(/ready/);
  running.child.kill(signal);
  test.expect(await running.ended).toEqual({ code: 42, signal: null });
});

test('exec passes on each signal, and runs as long as the command ignores them', async (test) => {
  const program = `let count = 0;
    for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => console.log(signal, count += 1));
    setInterval(() => count === 2 && process.exit(3), 10);
    console.log('ready')`;
  const running = runCommand(test, ['exec', ...inNode(program)]);
  await running.untilStdout(/ready/);
  running.child.kill('SIGINT');
  await running.untilStdout(/SIGINT 1/);
  running.child.kill('SIGTERM');
  test.expect(await running.ended).toEqual({ code: 3, signal: null });
});

test.runIf(process.platform === 'linux' && existsSync(SCRIPT))(
  'a Ctrl-C on a terminal reaches the command of exec once',
  async (test) => {
    const program = `let count = 0;
      process.on('SIGINT', () => { count += 1; setTimeout(() => process.exit(40 + count), 500); });
      setInterval(() => {}, 60_000);
      console.log('ready')`;
    const words = [...COMMAND, 'exec', ...inNode(program.replaceAll(/\s+/g, ' '))];
    const line = `exec ${words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')}`;
    const running = run(test, [SCRIPT, '-qefc', line, '/dev/null'], { env: { TERM: 'xterm' } });
    await running.untilStdout(/ready/);
    running.child.stdin?.write('\u0003');
    test.expect(await running.ended).toEqual({ code: 41, signal: null });
  },
);

test('exec does not run a command after it was interrupted', async ({ expect }) => {
  const interrupted = Promise.resolve('SIGTERM' as const);
  expect(await runHere(['exec', '--', 'no-such-command-anywhere'], {}, { interrupted })).toEqual({
    code: 128 + constants.signals.SIGTERM,
    out: [],
    err: '',
  });
});

test('exec ends the command when the package runner ends', async ({ expect }) => {
  const forever = inNode('setInterval(() => {}, 60_000)');
  const { code } = await runHere(['exec', ...forever], { PATH: process.env.PATH });
  expect(code).toBe(128 + constants.signals.SIGTERM);
});

test('exec prints its log to stderr with --log', async (test) => {
  const program = "await fetch(process.env.MAILBOX_BASE_URL + '/health')";
  const running = runCommand(test, ['exec', '--log', ...inNode(program)]);
  await running.ended;
  test.expect(running.stdout).toBe('');
  test.expect(running.stderr).toMatch(/^[\d:]+ getHealth {10}200 GET \/health [\d.]+ ms\n$/);
});

test('exec leaves a report of a command that failed', async (test) => {
  const folder = join(await makeFolder(test), 'of', 'this run');
  const program = `const json = { event: 'message.received', webhookId: '${ids.acme.webhooks.everything}' };
    const headers = { 'Content-Type': 'application/json' };
    await fetch(process.env.MAILBOX_CONTROL_URL + '/events', { method: 'POST', headers, body: JSON.stringify(json) });
    process.exit(1)`;
  const running = runCommand(test, ['exec', '--report', folder, ...inNode(program)]);
  test.expect(await running.ended).toEqual({ code: 1, signal: null });
  test.expect(running.stderr).toBe(`agent-mailbox-mock: The report is in ${folder}.\n`);
  const readJson = async (name: string) => JSON.parse(await readFile(join(folder, name), 'utf8'));
  test
    .expect((await readdir(folder)).sort())
    .toEqual(['deliveries.json', 'requests.har', 'requests.json', 'state.json']);
  test.expect((await readJson('deliveries.json')).deliveries[0]).toMatchObject({ event: 'message.received' });
  for (const name of await readdir(folder)) test.expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
  test
    .expect((await readJson('state.json')).tenants)
    .toMatchObject({ acme: { name: 'Acme' }, globex: { name: 'Globex' } });
});

test('exec replaces a report, and no file of another program', async (test) => {
  const folder = await makeFolder(test);
  const state = join(folder, 'state.json');
  const run = (...args: string[]) =>
    runHere(['exec', '--report', folder, ...args], { PATH: process.env.PATH }, { interrupted: NEVER });
  const refusal = `agent-mailbox-mock: The folder ${folder} has a file state.json that agent-mailbox-mock did not write as a report; choose another folder for --report, or replace it with --force.`;
  await writeFile(state, '{}');
  test.expect(await run('--', 'no-such-command-anywhere')).toEqual({ code: 1, out: [], err: refusal });
  test.expect(await readFile(state, 'utf8')).toBe('{}');

  await rm(state);
  test.expect(await run('--state', state, '--', 'false')).toEqual({ code: 1, out: [], err: refusal });
  test.expect(await readdir(folder)).toEqual(['state.json']);

  await rm(state);
  const written = { code: 1, out: [], err: `agent-mailbox-mock: The report is in ${folder}.` };
  test.expect(await run('--', 'false')).toEqual(written);
  test.expect(await run('--', 'false')).toEqual(written);
  await writeFile(join(folder, 'requests.har'), '{"log":{"creator":{"name":"a browser"}}}');
  test.expect((await run('--', 'false')).err).toMatch(/ has a file .+ that agent-mailbox-mock did not write /);
});

test('exec leaves no report of a command that succeeded', async (test) => {
  const folder = join(await makeFolder(test), 'report');
  const running = runCommand(test, ['exec', '--report', folder, '--', 'true']);
  test.expect(await running.ended).toEqual({ code: 0, signal: null });
  await test.expect(stat(folder)).rejects.toThrow('ENOENT');
});

test('exec leaves a trace of a command that failed, and show prints what happened', async (test) => {
  const file = join(await makeFolder(test), 'trace.jsonl');
  const program = `const { MAILBOX_CONTROL_URL: control, MAILBOX_BASE_URL: url, MAILBOX_INBOX_ID: id } = process.env;
    const headers = { 'Content-Type': 'application/json' };
    const mail = { to: 'helpdesk@acme.test', from: 'Dana <dana@customer.test>', subject: 'Hello\\u001b[2J tk_acme_tenant_key' };
    await fetch(control + '/messages', { method: 'POST', headers, body: JSON.stringify(mail) });
    await fetch(url + '/v1/inboxes/' + id + '/messages', { headers: { 'X-API-Key': 'ak_acme_billing_key' } });
    process.exit(3)`;
  const running = runCommand(test, ['exec', '--trace', file, ...inNode(program)]);
  test.expect(await running.ended).toEqual({ code: 3, signal: null });
  test
    .expect(running.stderr)
    .toBe(`agent-mailbox-mock: The trace is in ${file}; npx agent-mailbox-mock show ${file} prints what happened.\n`);
  const text = await readFile(file, 'utf8');
  test.expect((await stat(file)).mode & 0o777).toBe(0o600);
  test.expect(text).not.toMatch(/tk_acme_tenant_key|ak_acme_billing_key/);
  test
    .expect(
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).type),
    )
    .toEqual([
      ...['trace', 'tenant', 'tenant', 'webhook', 'webhook', 'webhook'],
      ...['entry', 'entry', 'mail', 'story'],
    ]);
  const { code, out } = await runHere(['show', file], {}, { interrupted: NEVER });
  test
    .expect([code, ...out])
    .toEqual([
      0,
      test.expect.stringMatching(/^Trace of \S+: 1 mail arrived, 0 were sent, 1 request\.$/),
      '',
      test.expect.stringMatching(
        /^\S+ "Hello\\u001b\[2J tk_acme_…" from Dana <dana@customer\.test> arrived at helpdesk@acme\.test\.$/,
      ),
      'No webhook of the tenant could be told of it.',
      '1 request came after it, and none read it:',
      test.expect.stringMatching(/^ {2}req_1, GET .* → 404 \(Inbox key of /),
      'Nothing was sent because of it.',
      '',
      'Refused requests:',
      test.expect.stringMatching(/^ {2}req_1, GET \/v1\/inboxes\/\S+\/messages → 404: Inbox key of /),
    ]);
  const asJson = await runHere(['show', file, '--json'], {}, { interrupted: NEVER });
  test.expect(asJson.out.map((line) => JSON.parse(line).lines.length)).toEqual([5]);
});

test('exec writes a trace after a success only if that is wanted, and replaces only a trace', async (test) => {
  const file = join(await makeFolder(test), 'trace.jsonl');
  const run = (...args: string[]) => runHere(['exec', ...args], { PATH: process.env.PATH }, { interrupted: NEVER });
  test.expect(await run('--trace', file, '--', 'true')).toEqual({ code: 0, out: [], err: '' });
  await test.expect(stat(file)).rejects.toThrow('ENOENT');
  for (const _ of [1, 2]) {
    test.expect(await run('--trace', file, '--trace-always', '--', 'true')).toMatchObject({
      code: 0,
      err: test.expect.stringContaining('The trace is in'),
    });
  }
  await writeFile(file, 'precious');
  test.expect(await run('--trace', file, '--', 'false')).toEqual({
    code: 1,
    out: [],
    err: `agent-mailbox-mock: The file ${file} exists, and this command did not write it; choose another name, or replace it with --force.`,
  });
  test.expect((await run('--trace-always', '--', 'true')).err).toContain('--trace-always needs --trace <file>.');
  test.expect(await readFile(file, 'utf8')).toBe('precious');
});

test.for<readonly [text: string, problem: string]>([
  ['', 'its first line must have the type "trace".'],
  ['{"type":"entry"', 'line 1 is not JSON.'],
  ['{"type":"trace","version":2}', 'has the version 2, and this agent-mailbox-mock reads up to 1; use a newer one.'],
  ['{"type":"trace","version":1}', 'line 1: writtenBy: '],
  ['[]', 'line 1: it: '],
])('show refuses a file that is no trace: %j', async ([text, problem], test) => {
  const file = join(await makeFolder(test), 'trace.jsonl');
  await writeFile(file, text);
  const { code, out, err } = await runHere(['show', file], {}, { interrupted: NEVER });
  test.expect([code, out]).toEqual([1, []]);
  test.expect(err).toContain(problem);
  test
    .expect((await runHere(['show', `${file}.missing`], {}, { interrupted: NEVER })).err)
    .toMatch(/^agent-mailbox-mock: The trace .* cannot be read: /);
});

test('exec ends with the code of the command even if the report cannot be written', async (test) => {
  const file = join(await makeFolder(test), 'a-file');
  await writeFile(file, '');
  const running = runCommand(test, ['exec', '--report', file, '--', 'false']);
  test.expect(await running.ended).toEqual({ code: 1, signal: null });
  test
    .expect(running.stderr)
    .toBe(`agent-mailbox-mock: The file ${file} cannot be written: it exists already; choose another name.\n`);
});

test('start and exec write a file of variables that only the user can read, and remove it at the end', async (test) => {
  const file = join(await makeFolder(test), 'mailbox.env');
  const { running, ready } = await startCommand(test, ['-e', file]);
  const text = await readFile(file, 'utf8');
  test.expect((await stat(file)).mode & 0o777).toBe(0o600);
  test
    .expect(text.split('\n'))
    .toEqual([
      '# Written by agent-mailbox-mock, which removes this file when it ends.',
      `MAILBOX_BASE_URL=${ready.url}`,
      `MAILBOX_TENANT_KEY=${ready.keys.tenant}`,
      `MAILBOX_WORKSPACE_KEY=${ready.keys.workspace}`,
      `MAILBOX_INBOX_KEY=${ready.keys.inbox}`,
      `MAILBOX_INBOX_ID=${ids.acme.inboxes.helpdesk}`,
      `MAILBOX_CONTROL_URL=${ready.control}`,
      `MAILBOX_PYTHON_CLIENT=${ready.control}/client.py`,
      `AGENT_MAILBOX_URL=${ready.url}`,
      '',
    ]);
  running.child.kill('SIGTERM');
  await running.ended;
  await test.expect(stat(file)).rejects.toThrow('ENOENT');

  const copy = runCommand(test, ['exec', '-e', file, '--', 'cat', file]);
  test.expect(await copy.ended).toEqual({ code: 0, signal: null });
  test.expect(copy.stdout).toMatch(/^# Written by .+\nMAILBOX_BASE_URL=http:.+\n/);
  test.expect(await readdir(join(file, '..'))).toEqual([]);
});

test('replaces an empty file and one of an earlier run, and leaves a file that was replaced meanwhile', async (test) => {
  const file = join(await makeFolder(test), 'mailbox.env');
  await writeFile(file, '');
  const first = await startCommand(test, ['--env-file', file]);
  const second = await startCommand(test, ['--env-file', file]);
  first.running.child.kill('SIGTERM');
  await first.running.ended;
  test.expect(await readFile(file, 'utf8')).toContain(`MAILBOX_BASE_URL=${second.ready.url}\n`);
  second.running.child.kill('SIGTERM');
  await second.running.ended;
  test.expect(await readdir(join(file, '..'))).toEqual([]);
});

test('refuses to replace the file of another program, a link or a folder', async (test) => {
  const folder = await makeFolder(test);
  await writeFile(join(folder, '.env'), 'SECRET=1\n');
  await symlink(join(folder, '.env'), join(folder, 'link'));
  await mkdir(join(folder, 'folder'));
  for (const name of ['.env', 'link', 'folder']) {
    const file = join(folder, name);
    test.expect(await runHere(['-p', '0', '--env-file', file])).toEqual({
      code: 1,
      out: [],
      err: `agent-mailbox-mock: The file ${file} was not written by agent-mailbox-mock; choose another name for --env-file.`,
    });
  }
  test.expect(await readFile(join(folder, '.env'), 'utf8')).toBe('SECRET=1\n');
  const nowhere = join(folder, 'none', 'x.env');
  test
    .expect((await runHere(['-p', '0', '--env-file', nowhere])).err)
    .toBe(`agent-mailbox-mock: The file ${nowhere} cannot be written: there is no such folder.`);
});
