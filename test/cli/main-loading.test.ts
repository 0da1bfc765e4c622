import { readdir, readFile } from 'node:fs/promises';
import * as nodeModule from 'node:module';
import { join } from 'node:path';
import { test, vi } from 'vitest';
import { makeFolder } from '../support/folder.ts';
import { COMMAND, run } from '../support/processes.ts';

// Each process takes its time to start while other tests keep this machine busy.
vi.setConfig({ testTimeout: 60_000 });

type Test = Parameters<typeof makeFolder>[0];

/** The built files that a process of the command loads, each once and in order, by what Node itself notes of it. */
async function filesLoadedBy(test: Test, args: readonly string[]): Promise<string[]> {
  const folder = await makeFolder(test);
  const running = run(test, [...COMMAND, ...args], {
    env: { NODE_V8_COVERAGE: join(folder, 'coverage') },
    cwd: folder,
  });
  // A command that does not end by itself is ended as a person would.
  running.untilStdout(/Ready\.\n/).then(
    () => running.child.kill('SIGINT'),
    () => undefined,
  );
  await running.ended;
  const [file = ''] = await readdir(join(folder, 'coverage'));
  const { result } = JSON.parse(await readFile(join(folder, 'coverage', file), 'utf8')) as {
    result: { url: string }[];
  };
  const names = result.flatMap(({ url }) => /\/dist\/([^/]+?)(?:-[\w-]{8})?\.cjs$/.exec(url)?.[1] ?? []);
  return [...new Set(names)].filter((name) => name !== 'rolldown-runtime').sort();
}

test.for([['--version'], ['--help'], ['help', 'start']])('loads nothing of the emulator for %j', async (args, test) => {
  const loaded = await filesLoadedBy(test, args);
  test.expect(loaded).toContain('run');
  for (const file of ['library', 'start-server', 'start']) test.expect(loaded).not.toContain(file);
});

test('loads a server to start one, and SMTP only with a port for it', async (test) => {
  const ofMail = ['client-limits', 'mail-listener', 'mail-servers', 'smtp-server'];
  const loaded = await filesLoadedBy(test, ['--port', '0']);
  test.expect(loaded).toEqual(test.expect.arrayContaining(['library', 'start-server', 'start']));
  for (const file of [...ofMail, 'imap-server', 'user-handlers', 'verify', 'create-sample']) {
    test.expect(loaded).not.toContain(file);
  }
  const withSmtp = await filesLoadedBy(test, ['--port', '0', '--smtp-port', '0']);
  test.expect(withSmtp).toEqual([...loaded, ...ofMail].sort());
});

test.for<[file: string, args: string[]]>([
  ['init', ['init']],
  ['behaviours', ['behaviours']],
  ['samples', ['samples']],
  ['print-openapi', ['openapi']],
  ['write-client', ['client', 'python']],
  ['receive', ['receive', '--to', 'a@b.test', '--from', 'c@d.test', '--url', 'http://127.0.0.1:1']],
])('loads %s and nothing of a server for %j', async ([file, args], test) => {
  const loaded = await filesLoadedBy(test, args);
  test.expect(loaded).toContain(file);
  test.expect(loaded).not.toContain('start');
});

test.runIf('flushCompileCache' in nodeModule)('stores its compiled code before SIGKILL can end it', async (test) => {
  const folder = await makeFolder(test);
  const running = run(test, [...COMMAND, '--port', '0'], { env: { NODE_COMPILE_CACHE: folder }, cwd: folder });
  await running.untilStdout(/Ready\.\n/);
  const countFiles = async () => (await readdir(folder, { recursive: true })).length;
  await test.expect.poll(countFiles).toBeGreaterThan(10);
  test.expect(running.child.exitCode).toBeNull();
  running.child.kill('SIGKILL');
  await running.ended;
});
