import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test, vi } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { makeFolder } from '../support/folder.ts';
import { type Running, runCommand, startCommand } from '../support/processes.ts';
import { send } from '../support/send.ts';

vi.setConfig({ testTimeout: 120_000 });

/** A reason why a file cannot be written for a while. */
interface Outage {
  /** Whether it can be caused here; a full disk needs a small file system, which only root may mount. */
  prepare?(folder: string, test: TestContext): boolean;
  begin(folder: string, server: Running): Promise<unknown> | unknown;
  end(folder: string, server: Running): Promise<unknown> | unknown;
  readonly problem: string;
}

function limitFileSize({ child }: Running, limit: string): void {
  spawnSync('prlimit', ['--pid', String(child.pid), `--fsize=${limit}:`]);
}

const OUTAGES: Readonly<Record<string, Outage>> = {
  'a full disk': {
    prepare(folder, { onTestFinished }) {
      const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', folder]).status === 0;
      if (mounted) onTestFinished(() => void spawnSync('umount', ['-l', folder]));
      return mounted;
    },
    begin: (folder) => writeFile(join(folder, 'filler'), Buffer.alloc(1_000_000)).catch(() => {}),
    end: (folder) => rm(join(folder, 'filler')),
    problem: 'the disk is full',
  },
  'a limit of its size': {
    prepare: () => existsSync('/usr/bin/prlimit'),
    begin: (_, server) => limitFileSize(server, '1000'),
    end: (_, server) => limitFileSize(server, 'unlimited'),
    problem: 'it would be larger than this process may write',
  },
  'a folder that is not there': {
    begin: (folder) => rename(folder, `${folder}.away`),
    end: (folder) => rename(`${folder}.away`, folder),
    problem: 'there is no such folder',
  },
};

/** Starts a server with a state file on a disk that fails, after a first change that is in the file. */
async function startOnFailingDisk(test: TestContext, { prepare, begin, problem }: Outage) {
  const folder = join(await makeFolder(test), 'disk');
  await mkdir(folder);
  test.skip(prepare !== undefined && !prepare(folder, test), 'This cannot be caused here.');
  const state = join(folder, 'state.json');
  const { running, ready } = await startCommand(test, ['--state', state]);
  const addWorkspace = (name: string) =>
    send(`${ready.url}/v1/workspaces`, 'POST', { key: ready.keys.tenant, json: { name } });
  const isKept = (name: string) => eventually(async () => test.expect(await readFile(state, 'utf8')).toContain(name));
  await addWorkspace('Before the outage');
  await isKept('Before the outage');
  await begin(folder, running);
  await addWorkspace('During the outage');
  await running.untilStderr(
    new RegExp(`The state file .+ cannot be written: ${problem}\\. The write is repeated until`),
  );
  return { folder, running, isKept };
}

test.for(Object.keys(OUTAGES))(
  'a state that could not be written because of %s is written after that',
  async (name, test) => {
    const outage = OUTAGES[name] as Outage;
    const { folder, running, isKept } = await startOnFailingDisk(test, outage);
    await outage.end(folder, running);
    await isKept('During the outage');
    running.child.kill('SIGTERM');
    test.expect(await running.ended).toEqual({ code: 0, signal: null });
    test.expect(await readdir(folder)).toEqual(['state.json']);
  },
);

test.for(Object.keys(OUTAGES))('a server that ends with %s says what is lost, and exits with 1', async (name, test) => {
  const outage = OUTAGES[name] as Outage;
  const { folder, running } = await startOnFailingDisk(test, outage);
  running.child.kill('SIGTERM');
  test.expect(await running.ended).toEqual({ code: 1, signal: null });
  test
    .expect(running.stderr)
    .toMatch(
      new RegExp(
        `agent-mailbox-mock: The state file .+ cannot be written: ${outage.problem}\\. All changes since \\S+Z are lost\\.`,
      ),
    );
  test.expect(running.stderr.match(/The write is repeated/g)).toHaveLength(1);
  await outage.end(folder, running);
  test.expect(await readFile(join(folder, 'state.json'), 'utf8')).not.toContain('During the outage');
});

test('exec with a state that cannot be written ends with the code of its command, or with 1', async (test) => {
  for (const [code, expected] of [
    [0, 1],
    [7, 7],
  ] as const) {
    const folder = join(await makeFolder(test), 'disk');
    await mkdir(folder);
    const program = `mv ${folder} ${folder}.away; curl -s -X POST $MAILBOX_CONTROL_URL/messages -H 'Content-Type: application/json' -d '{"to":"helpdesk@acme.test","from":"a@b.test"}'; exit ${code}`;
    const running = runCommand(test, ['exec', '--state', join(folder, 'state.json'), '--', 'sh', '-c', program]);
    test.expect(await running.ended).toEqual({ code: expected, signal: null });
    test
      .expect(running.stderr)
      .toMatch(/cannot be written: there is no such folder\. All changes since \S+Z are lost\.\n$/);
  }
});
