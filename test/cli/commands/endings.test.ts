import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startServer } from 'agent-mailbox-mock/server';
import { type TestContext, test, vi } from 'vitest';
import { readLines } from '../../../src/server/state-lines.ts';
import { eventually } from '../../support/eventually.ts';
import { makeFolder } from '../../support/folder.ts';
import { COMMAND, isRunning, run, runCommand, SCRIPT, startCommand } from '../../support/processes.ts';
import { send } from '../../support/send.ts';

// Each process takes its time to start while other tests keep this machine busy.
vi.setConfig({ testTimeout: 60_000 });

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

const testPosix = test.runIf(process.platform !== 'win32');
const testTerminal = test.runIf(process.platform === 'linux' && existsSync(SCRIPT));

/** Returns a folder, and the flags with which a process keeps its data and its variables there. */
async function prepareFolder(test: TestContext) {
  const folder = await makeFolder(test);
  return { folder, flags: ['--state', join(folder, 'state.json'), '-e', join(folder, 'mailbox.env')] };
}

async function deliver(control: string, subject: string, bytes = 0): Promise<void> {
  const attachments = bytes === 0 ? [] : [{ filename: 'a', content: Buffer.alloc(bytes).toString('base64') }];
  const mail = { to: 'helpdesk@acme.test', from: 'dana@customer.test', subject, attachments };
  const { status } = await send(`${control}/messages`, 'POST', { json: mail });
  if (status !== 200) throw new Error(`The mail was refused with ${status}.`);
}

/** Expects that the state has these mails, and that the folder has nothing else than the state. */
async function expectSaved({ expect }: TestContext, folder: string, subjects: readonly string[]): Promise<void> {
  expect(await readdir(folder)).toEqual(['state.json']);
  const { tenants } = readLines(await readFile(join(folder, 'state.json')));
  const messages = subjects.map((subject) => expect.objectContaining({ subject }));
  expect(tenants.acme?.rows?.messages).toEqual(expect.arrayContaining(messages));
}

testPosix.for(SIGNALS)('start saves its data and removes its other files after %s', async (signal, test) => {
  const { folder, flags } = await prepareFolder(test);
  const { running, ready } = await startCommand(test, flags);
  test.expect((await readdir(folder)).sort()).toEqual(['mailbox.env', 'state.json', 'state.json.lock']);
  await deliver(ready.control, 'The last one');
  running.child.kill(signal);
  test.expect(await running.ended).toEqual({ code: 0, signal: null });
  await expectSaved(test, folder, ['The last one']);
});

testPosix.for(SIGNALS)('start saves its data if %s comes again and again while it saves', async (signal, test) => {
  const { folder, flags } = await prepareFolder(test);
  const { running, ready } = await startCommand(test, flags);
  const large = 8 * 1024 * 1024;
  await deliver(ready.control, 'Large', large);
  const subjects = ['Large'];
  while (!String(await readdir(folder)).includes('.part')) {
    subjects.push(`Small ${subjects.length}`);
    await deliver(ready.control, String(subjects.at(-1)));
  }
  running.child.kill(signal);
  const again = setInterval(() => existsSync(join(folder, 'state.json.lock')) && running.child.kill(signal), 5);
  test.onTestFinished(() => clearInterval(again));
  test.expect(await running.ended).toEqual({ code: 0, signal: null });
  await expectSaved(test, folder, subjects);
});

/** A module of handlers that is loaded when the data are locked, and returns when a file exists. */
const SLOW_HANDLERS = `import { existsSync, writeFileSync } from 'node:fs';
export default () => {
  writeFileSync(process.env.STARTING, '');
  while (!existsSync(process.env.GO_ON));
  return [];
};`;

testPosix.for(SIGNALS)('start ends after %s that comes before it is ready', async (signal, test) => {
  const { folder, flags } = await prepareFolder(test);
  const other = await makeFolder(test);
  const [module, STARTING, GO_ON] = ['handlers.mjs', 'starting', 'go-on'].map((name) => join(other, name)) as [
    string,
    string,
    string,
  ];
  await writeFile(module, SLOW_HANDLERS);
  const running = runCommand(test, ['-p', '0', ...flags, '--handlers', module], { STARTING, GO_ON });
  await eventually(() => test.expect(existsSync(STARTING)).toBe(true));
  test.expect(await readdir(folder)).toContain('state.json.lock');
  running.child.kill(signal);
  await writeFile(GO_ON, '');
  test.expect(await running.ended).toEqual({ code: 0, signal: null });
  await expectSaved(test, folder, []);
});

testPosix.for(SIGNALS)('start saves its data after %s although nobody reads its output', async (signal, test) => {
  const { folder, flags } = await prepareFolder(test);
  const { running, ready } = await startCommand(test, flags);
  running.child.stdout?.destroy();
  running.child.stderr?.destroy();
  await deliver(ready.control, 'Unread');
  await send(`${ready.url}/v1/nothing`, 'GET', {});
  running.child.kill(signal);
  test.expect(await running.ended).toEqual({ code: 0, signal: null });
  await expectSaved(test, folder, ['Unread']);
});

testTerminal.for<[words: string[], printed: RegExp]>([
  [['start', '-p', '0'], /Type h and Enter/],
  [['exec'], /inner/],
])('%j ends with its terminal, and saves its data', async ([words, printed], test) => {
  const { folder, flags } = await prepareFolder(test);
  const errors = join(await makeFolder(test), 'errors');
  const command = words.includes('exec') ? ['--', 'sh', '-c', 'echo inner; exec sleep 300'] : [];
  const line = [...COMMAND, ...words, ...flags, ...command].map((word) => `'${word}'`).join(' ');
  const running = run(test, [SCRIPT, '-qefc', `exec ${line} 2> '${errors}'`, '/dev/null'], { env: { TERM: 'xterm' } });
  await running.untilStdout(printed);
  const { pid } = JSON.parse(await readFile(join(folder, 'state.json.lock'), 'utf8'));
  running.child.kill('SIGKILL');
  await eventually(() => test.expect(isRunning(pid)).toBe(false));
  await expectSaved(test, folder, []);
  test.expect(await readFile(errors, 'utf8')).toBe('');
});

testPosix.for(['listen', 'logs', 'mcp', 'receive'])('%s ends with 0 after SIGHUP', async (name, test) => {
  await using server = await startServer({ port: 0 });
  const flags = { logs: ['--follow'], receive: ['--to', 'a@acme.test', '--from', 'b@c.test', '--text', '-'] }[name];
  const running = runCommand(test, [name, ...(flags ?? []), '--url', server.url]);
  if (name === 'listen') await running.untilStdout(/Listening/);
  else if (name === 'mcp') await running.untilStderr(/MCP for/);
  else if (name === 'logs') {
    await server.mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'dana@customer.test' });
    await running.untilStdout(/helpdesk/);
  } else {
    // It reads its input after it has added its listeners for signals.
    running.child.stdin?.write('x'.repeat(1024 * 1024));
    await eventually(() => test.expect(running.child.stdin?.writableLength).toBe(0));
  }
  running.child.kill('SIGHUP');
  test.expect(await running.ended).toEqual({ code: 0, signal: null });
});

/** A shell, and another one that it has started, which both ignore what asks them to end. */
const STUBBORN = `trap 'echo ignored' TERM HUP INT
  sh -c 'trap "" TERM HUP INT; while :; do sleep 1; done' & echo "started $!"
  while :; do sleep 1; done`;

testPosix('a second SIGTERM ends exec and a command that ignores the first', async (test) => {
  const { folder, flags } = await prepareFolder(test);
  const running = runCommand(test, ['exec', ...flags, '--', 'sh', '-c', STUBBORN]);
  const [, pid] = /started (\d+)\n/.exec(await running.untilStdout(/started \d+\n/)) ?? [];
  running.child.kill('SIGHUP');
  await running.untilStdout(/ignored\n/);
  running.child.kill('SIGTERM');
  await running.untilStdout(/(ignored\n){2}/);
  running.child.kill('SIGTERM');
  test.expect(await running.ended).toEqual({ code: 137, signal: null });
  await eventually(() => test.expect(isRunning(String(pid))).toBe(false));
  await expectSaved(test, folder, []);
});

testPosix('the command of exec has time to end if SIGTERM comes twice at once', async (test) => {
  const program = `let count = 0;
    process.on('SIGTERM', () => { console.log('term'); setTimeout(() => process.exit(7), 500); });
    setInterval(() => {}, 60_000);
    console.log('ready')`;
  const running = runCommand(test, ['exec', '--', process.execPath, '-e', program]);
  await running.untilStdout(/ready/);
  running.child.kill('SIGTERM');
  await running.untilStdout(/term/);
  running.child.kill('SIGTERM');
  test.expect(await running.ended).toEqual({ code: 7, signal: null });
});
