import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test, vi } from 'vitest';
import { NEVER, runHere } from '../support/command.ts';
import { makeFolder } from '../support/folder.ts';
import { runCommand } from '../support/processes.ts';

// Where such a file is opened in vain, a test ends by this.
vi.setConfig({ testTimeout: 60_000 });

const testOddFiles = test.runIf(process.platform !== 'win32');

/** Creates a pipe that nobody writes to. */
async function makePipe(test: TestContext): Promise<string> {
  const pipe = join(await makeFolder(test), 'pipe');
  spawnSync('mkfifo', [pipe]);
  return pipe;
}

testOddFiles.for<[what: string, args: readonly string[]]>([
  ['state file', ['--port', '0', '--state']],
  ['fixture file', ['--port', '0', '--fixtures']],
  ['fixture file', ['--port', '0', '--watch', '--fixtures']],
  ['fixture file', ['validate']],
  ['mail file', ['--port', '0', '--mail']],
  ['handlers file', ['--port', '0', '--handlers']],
  ['file', ['receive', '--to', 'a@b.test', '--eml']],
  ['file', ['receive', '--to', 'a@b.test', '--from', 'a@b.test', '--attach']],
])('a pipe as %s is refused at once: %s', async ([what, args], context) => {
  const pipe = await makePipe(context);
  const { code, err } = await runHere([...args, pipe], {}, { interrupted: NEVER });
  context
    .expect([code, err])
    .toEqual([
      1,
      `agent-mailbox-mock: The ${what} ${pipe} cannot be read: it is a pipe, a socket or a device; name a regular file instead.`,
    ]);
  context.expect(await readdir(join(pipe, '..'))).toEqual(['pipe']);
});

testOddFiles(
  'a pipe that a fixture or a report names is not opened, and neither is one as a file of variables',
  async (context) => {
    const { expect } = context;
    const pipe = await makePipe(context);
    const folder = join(pipe, '..');
    const fixture = join(folder, 'fixture.json');
    const messages = [{ eml: 'pipe' }];
    await writeFile(
      fixture,
      JSON.stringify({ tenants: { acme: { workspaces: { main: { inboxes: { a: { messages } } } } } } }),
    );
    const invalid = await runHere(['--port', '0', '--fixtures', fixture], {}, { interrupted: NEVER });
    expect([invalid.code, invalid.err]).toEqual([
      1,
      expect.stringMatching(/it is a pipe, a socket or a device; name a regular file instead/),
    ]);

    const env = await runHere(['--port', '0', '--env-file', pipe], {}, { interrupted: NEVER });
    expect([env.code, env.err]).toEqual([1, expect.stringContaining('was not written by agent-mailbox-mock')]);

    await mkdir(join(folder, 'report'));
    spawnSync('mkfifo', [join(folder, 'report', 'requests.har')]);
    const report = await runHere(
      ['exec', '--report', join(folder, 'report'), '--', 'true'],
      {},
      { interrupted: NEVER },
    );
    expect([report.code, report.err]).toEqual([1, expect.stringContaining('choose another folder for --report')]);
  },
);

testOddFiles('a device and a socket are refused as inputs and as a state file', async (context) => {
  const socket = join(await makeFolder(context), 'socket');
  const server = createServer().listen(socket);
  await once(server, 'listening');
  context.onTestFinished(() => void server.close());
  for (const [flag, what] of [
    ['--state', 'state file'],
    ['--fixtures', 'fixture file'],
  ] as const) {
    for (const file of ['/dev/zero', socket]) {
      const { code, err } = await runHere(['--port', '0', flag, file], {}, { interrupted: NEVER });
      const problem = `The ${what} ${file} cannot be read: it is a pipe, a socket or a device; name a regular file instead.`;
      context.expect([code, err]).toEqual([1, `agent-mailbox-mock: ${problem}`]);
    }
  }
});

testOddFiles('the standard input as a fixture is refused if it is a pipe', async (context) => {
  const running = runCommand(context, ['--port', '0', '--fixtures', '/dev/stdin']);
  context.expect(await running.ended).toEqual({ code: 1, signal: null });
  context
    .expect(running.stderr)
    .toMatch(/The fixture file \/dev\/stdin cannot be read: it is a pipe, a socket or a device; name a /);
});
