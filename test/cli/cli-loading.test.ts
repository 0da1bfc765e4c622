import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, vi } from 'vitest';
import { COMMAND, run } from '../support/command.ts';
import { makeFolder } from '../support/folder.ts';

// Each process takes its time to start while other tests keep this machine busy.
vi.setConfig({ testTimeout: 60_000 });

type Test = Parameters<typeof makeFolder>[0];

/** The packages that a process of the built command loads, each once and in order, by what Node itself notes of it. */
async function packagesLoadedBy(test: Test, args: readonly string[]): Promise<string[]> {
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
  const packages = result.flatMap(({ url }) => /.*\/node_modules\/((?:@[^/]+\/)?[^@.][^/]*)\//.exec(url)?.[1] ?? []);
  return [...new Set(packages)].sort();
}

test.for([['--version'], ['--help'], ['help', 'start'], ['init']])('loads no package for %j', async (args, test) => {
  test.expect(await packagesLoadedBy(test, args)).toEqual([]);
});

const SERVER_PACKAGES = ['undici', 'ws', 'zod'];
const SMTP_PACKAGES = ['smtp-server', 'nodemailer'];

test('loads a server to start one, and SMTP only with a port for it', async (test) => {
  const loaded = await packagesLoadedBy(test, ['--port', '0']);
  test.expect(loaded).toEqual(test.expect.arrayContaining(SERVER_PACKAGES));
  test.expect(loaded.filter((name) => [...SMTP_PACKAGES, 'express', 'msw', '@mswjs/data'].includes(name))).toEqual([]);
  const withSmtp = await packagesLoadedBy(test, ['--port', '0', '--smtp-port', '0']);
  test.expect(withSmtp).toEqual(test.expect.arrayContaining(SMTP_PACKAGES));
});

test.for([['behaviours'], ['receive', '--to', 'a@b.test', '--from', 'c@d.test', '--url', 'http://127.0.0.1:1']])(
  'loads nothing of a server for %j',
  async (args, test) => {
    const loaded = await packagesLoadedBy(test, args);
    test.expect(loaded.filter((name) => ['undici', 'ws'].includes(name))).toEqual([]);
  },
);
