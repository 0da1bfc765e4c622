import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type TestContext, test, vi } from 'vitest';
import { findProcess, listProcesses, parsePs } from '../../src/server/process-table.ts';
import { ProcessTrees } from '../../src/server/process-tree.ts';
import { eventually } from '../support/eventually.ts';
import { makeFolder } from '../support/folder.ts';
import { HOSTILE_SCRIPTS } from '../support/hostile-processes.ts';
import { BARE_ENV, isRunning } from '../support/processes.ts';

// Each process takes its time to start while other tests keep this machine busy.
vi.setConfig({ testTimeout: 60_000 });

const testLinux = test.runIf(process.platform === 'linux');
const testPosix = test.runIf(process.platform !== 'win32');

/** Starts a script, and returns its tree, and the ids that it writes to the file `$PIDS`. */
async function startScript(context: TestContext, script: string, env: NodeJS.ProcessEnv = {}) {
  const PIDS = join(await makeFolder(context), 'pids');
  const options = { env: { ...BARE_ENV, ...env, PIDS }, detached: true, stdio: ['ignore', 'pipe', 'pipe'] as never };
  const tree = new ProcessTrees().start('sh', ['-c', script], options);
  const idsOf = () => (existsSync(PIDS) ? (readFileSync(PIDS, 'utf8').match(/\d+(?=\n)/g) ?? []) : []);
  context.onTestFinished(() => {
    for (const pid of idsOf()) if (isRunning(pid)) process.kill(Number(pid), 'SIGKILL');
  });
  await eventually(() => expect(idsOf().length).toBeGreaterThan(0));
  return { tree, idsOf, beatsOf: () => (existsSync(`${PIDS}.beats`) ? readFileSync(`${PIDS}.beats`).length : 0) };
}

/** Starts a process that is none of a tree, and ends with the test. */
async function startOther(
  { onTestFinished }: TestContext,
  args: readonly string[],
  env = BARE_ENV,
): Promise<ChildProcess> {
  const other = spawn(args[0] ?? '', args.slice(1), { env, stdio: 'ignore', detached: true });
  await once(other, 'spawn');
  onTestFinished(() => void other.kill('SIGKILL'));
  return other;
}

testLinux.for(Object.entries(HOSTILE_SCRIPTS))('a tree ends %s', async ([, script], context) => {
  const { tree, idsOf, beatsOf } = await startScript(context, script);
  expect(await tree.end()).toBeUndefined();
  expect(idsOf().filter(isRunning)).toEqual([]);
  expect([tree.child.stdout?.destroyed, tree.child.stderr?.destroyed]).toEqual([true, true]);
  // A chain that goes on would start many processes in the time in which another process starts and ends.
  const beats = beatsOf();
  await once(await startOther(context, ['sleep', '0.2']), 'exit');
  expect(beatsOf()).toBe(beats);
});

testPosix('the end of a tree ends nothing else, though it has the same name, folder and parent', async (context) => {
  const script = 'echo $$ >> "$PIDS"; sleep 300 & wait';
  const PIDS = join(await makeFolder(context), 'pids');
  const before = await startOther(context, ['sh', '-c', script], { ...BARE_ENV, PIDS });
  const { tree } = await startScript(context, script);
  const other = await startScript(context, script);
  const after = await startOther(context, ['sh', '-c', script], { ...BARE_ENV, PIDS });
  await tree.end();
  // The shell may see the end of its own child first, and then end with a code.
  await eventually(() => expect(tree.child.exitCode ?? tree.child.signalCode).not.toBeNull());
  const others = [before, other.tree.child, after];
  expect(others.map(({ exitCode, signalCode }) => [exitCode, signalCode])).toEqual(others.map(() => [null, null]));
  await other.tree.end();
});

testPosix('a tree ends the processes of a tree that is inside it, but not the other way round', async (context) => {
  const program = `import { spawn } from 'node:child_process';
    import { appendFileSync } from 'node:fs';
    const { ProcessTrees } = await import(process.env.MODULE);
    const inner = new ProcessTrees().start('sh', ['-c', '(echo $$ >> "$PIDS"; exec sleep 300) & sleep 300'], { env: process.env });
    appendFileSync(process.env.PIDS, process.pid + '\\n');
    process.on('SIGUSR2', async () => { await inner.end(); process.stdout.write('ended'); });
    setInterval(() => {}, 1000);`;
  const module = new URL('../../src/server/process-tree.ts', import.meta.url).href;
  const command = `exec '${process.execPath}' --import tsx --input-type=module -e "$PROGRAM"`;
  const { tree, idsOf } = await startScript(context, command, { PROGRAM: program, MODULE: module });
  await eventually(() => expect(idsOf().length).toBe(2));
  const printed = once(tree.child.stdout as NodeJS.EventEmitter, 'data');
  tree.child.kill('SIGUSR2');
  await printed;
  expect(tree.child.exitCode ?? tree.child.signalCode).toBeNull();
  await tree.end();
  expect(idsOf().filter(isRunning)).toEqual([]);
});

testLinux(
  'a process belongs to a tree by its parent as long as no other process has got an id of the tree',
  async (context) => {
    const { tree } = await startScript(context, 'echo $$ >> "$PIDS"; sleep 300');
    const root = findProcess(tree.child.pid ?? 0);
    if (!root) throw new Error('The root has ended.');
    const later = root.startTime + 100;
    const none = { group: 1, session: 1, hasEnded: false, isStopped: false };
    const child = { ...none, pid: 4_000_001, parent: root.pid, startTime: later };
    const leader = {
      ...none,
      pid: 4_000_002,
      parent: child.pid,
      group: 4_000_002,
      session: 4_000_002,
      startTime: later,
    };
    const orphan = { ...none, pid: 4_000_003, parent: 1, group: 4_000_002, session: 4_000_002, startTime: later };
    const idsOf = (rows: Parameters<typeof tree.update>[0]) => tree.update(rows).map(({ pid }) => pid);
    expect(idsOf([orphan, leader, child, root])).toEqual([orphan.pid, leader.pid, child.pid, root.pid]);
    // The parents have ended, but the ids of the session and of the orphan are known.
    expect(idsOf([{ ...orphan, parent: 1 }, root])).toEqual([orphan.pid, root.pid]);
    const newChild = { ...none, pid: 4_000_004, parent: orphan.pid, startTime: later + 1 };
    expect(idsOf([newChild, orphan, root])).toEqual([newChild.pid, orphan.pid, root.pid]);
    // Other processes have the ids now.
    const foreign = { ...none, pid: newChild.pid, parent: 1, startTime: later + 50 };
    const ofForeign = { ...none, pid: 4_000_005, parent: foreign.pid, startTime: later + 51 };
    expect(idsOf([ofForeign, foreign, root])).toEqual([root.pid]);
    // A session whose processes have all ended is forgotten, because its id may be used again.
    expect(idsOf([{ ...orphan, startTime: later + 60 }, root])).toEqual([root.pid]);
    // What is older than the root is never part of the tree.
    expect(idsOf([root, { ...none, pid: 4_000_006, parent: root.pid, startTime: root.startTime - 1 }])).toEqual([
      root.pid,
    ]);
    await tree.end();
  },
);

testPosix('a command that does not exist is refused as by spawn', async (context) => {
  for (const file of ['no-such-command', '/no/such/command']) {
    const { child } = new ProcessTrees().start(file, [], { env: BARE_ENV });
    expect(await once(child, 'error')).toEqual([expect.objectContaining({ code: 'ENOENT', path: file })]);
  }
  const folder = await makeFolder(context);
  const { child } = new ProcessTrees().start(folder, [], { env: BARE_ENV });
  expect(await once(child, 'error')).toEqual([expect.objectContaining({ code: 'EACCES' })]);
});

test.runIf(process.platform === 'linux' && process.getuid?.() === 0)(
  'the processes that could not be ended are named',
  async (context) => {
    // The end runs as another user, and the process becomes one of root.
    const folder = await makeFolder(context);
    const perl = join(folder, 'perl');
    copyFileSync('/usr/bin/perl', perl);
    chmodSync(perl, 0o4755);
    chmodSync(folder, 0o777);
    const module = new URL('../../src/server/process-tree.ts', import.meta.url).href;
    const program = `const { ProcessTrees } = await import('${module}');
    const code = '$< = 0; $( = 0; POSIX::setuid(0); syswrite STDOUT, "ready"; sleep 300';
    const tree = new ProcessTrees().start('${perl}', ['-MPOSIX', '-e', code], { env: process.env });
    await new Promise((done) => tree.child.stdout.once('data', done));
    process.stdout.write(tree.child.pid + ' ' + await tree.end());`;
    const args = ['--import', 'tsx', '--input-type=module', '-e', program];
    const other = spawn(process.execPath, args, {
      uid: 65_534,
      gid: 65_534,
      env: { ...BARE_ENV, HOME: folder, TMPDIR: folder },
    });
    let printed = '';
    other.stdout.on('data', (data) => {
      printed += data;
    });
    await once(other, 'close');
    const [, pid] = /^(\d+) /.exec(printed) ?? [];
    context.onTestFinished(() => void process.kill(Number(pid), 'SIGKILL'));
    expect(printed).toMatch(/^(\d+) The process \1 \(".*perl -MPOSIX.*"\) could not be ended\.$/);
    expect(isRunning(String(pid))).toBe(true);
  },
);

test('the lines of ps are read, with the variables that it shows', () => {
  const printed = `    1     0     1 Ss   Sat Nov 28 08:00:00 2026 /sbin/launchd
  712     1   700 S+   Sat Nov  7 09:05:01 2026 node agent.js PATH=/bin MAILBOX_EXEC_ID=a b
  713   712   700 Z    Sat Nov 28 09:05:02 2026 (node)
  714   712   714 T    Sat Nov 28 09:05:03 2026
`;
  const rowOf = { session: 0, hasEnded: false, isStopped: false };
  expect(parsePs(printed)).toEqual([
    { ...rowOf, pid: 1, parent: 0, group: 1, startTime: Date.UTC(2026, 10, 28, 8), shown: '/sbin/launchd' },
    {
      ...rowOf,
      pid: 712,
      parent: 1,
      group: 700,
      startTime: Date.UTC(2026, 10, 7, 9, 5, 1),
      shown: 'node agent.js PATH=/bin MAILBOX_EXEC_ID=a b',
    },
    {
      ...rowOf,
      pid: 713,
      parent: 712,
      group: 700,
      startTime: Date.UTC(2026, 10, 28, 9, 5, 2),
      hasEnded: true,
      shown: '(node)',
    },
    {
      ...rowOf,
      pid: 714,
      parent: 712,
      group: 714,
      startTime: Date.UTC(2026, 10, 28, 9, 5, 3),
      isStopped: true,
      shown: '',
    },
  ]);
});

testPosix('all processes are listed, this one among them', () => {
  const own = listProcesses().find(({ pid }) => pid === process.pid);
  expect(own).toMatchObject({ parent: process.ppid, hasEnded: false, isStopped: false });
  expect(own).toEqual(findProcess(process.pid));
});
