import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { test, vi } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { makeFolder } from '../../support/folder.ts';
import { COMMAND, isRunning, run, runCommand, SCRIPT } from '../../support/processes.ts';

// Each process takes its time to start while other tests keep this machine busy.
vi.setConfig({ testTimeout: 60_000 });

/** Returns the numbers in the lines of an output that begin with a word. */
function idsOf(output: string, word: string): string[] {
  return [...output.matchAll(new RegExp(`^${word} (\\d+)\\r?$`, 'gm'))].map(([, id]) => String(id));
}

const testPosix = test.runIf(process.platform !== 'win32');
const testLinux = test.runIf(process.platform === 'linux');

const CHILDREN = 'sleep 300 & echo started $!; sh -c "sleep 300 & echo started \\$!; wait" & echo started $!;';
const ORPHANS = {
  'a process': '(sleep 300 & echo started $!);',
  'a process in another session': '(setsid sh -c "echo started \\$\\$; exec sleep 300" &);',
  'a process without the environment variables':
    '(env -i PATH="$PATH" setsid sh -c "echo started \\$\\$; exec sleep 300" &);',
};

testPosix.for(['SIGTERM', 'SIGHUP'] as const)(
  'exec passes on %s to everything that the command has started',
  async (signal, test) => {
    const running = runCommand(test, ['exec', '--', 'sh', '-c', `${CHILDREN} sleep 300`]);
    await running.untilStdout(/(started \d+\n){3}/);
    running.child.kill(signal);
    test.expect(await running.ended).toEqual({ code: 128 + constants.signals[signal], signal: null });
    for (const pid of idsOf(running.stdout, 'started')) {
      await eventually(() => test.expect([pid, isRunning(pid)]).toEqual([pid, false]));
    }
  },
);

/** A module that lets `spawn` return only when a file exists, as on a machine that is busy with the new process. */
const SLOW_SPAWN = `import processes from 'node:child_process';
import { existsSync } from 'node:fs';
const { spawn } = processes;
processes.spawn = (...args) => {
  const child = spawn(...args);
  while (!existsSync(process.env.SPAWNED));
  return child;
};`;

testPosix('exec passes on a signal that comes as soon as the command runs', async (test) => {
  const spawned = join(await makeFolder(test), 'spawned');
  const running = runCommand(test, ['exec', '--', 'sh', '-c', 'kill -HUP $PPID; : > "$SPAWNED"; exec sleep 300'], {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(SLOW_SPAWN)}`,
    SPAWNED: spawned,
  });
  test.expect(await running.ended).toEqual({ code: 128 + constants.signals.SIGHUP, signal: null });
});

testLinux.for(Object.entries(ORPHANS))('exec ends also %s whose parent has ended', async ([, script], test) => {
  const running = runCommand(test, ['exec', '--', 'sh', '-c', `${script} sleep 300`]);
  await running.untilStdout(/started \d+\n/);
  running.child.kill('SIGTERM');
  await running.ended;
  for (const pid of idsOf(running.stdout, 'started')) {
    await eventually(() => test.expect([pid, isRunning(pid)]).toEqual([pid, false]));
  }
});

testPosix('exec signals nothing that it did not start, and SIGUSR2 only the command', async (test) => {
  const words = [
    ...COMMAND,
    'exec',
    '--',
    'sh',
    '-c',
    'trap "echo usr2" USR2; sleep 300 & echo inner $!; while :; do wait; done',
  ];
  const line = words.map((word) => `'${word}'`).join(' ');
  const running = run(test, ['sh', '-c', `sleep 300 & echo outer $!; echo exec $$; exec ${line}`], { isGroup: true });
  const [outer, inner, exec] = await running
    .untilStdout(/inner \d+\n/)
    .then((output) => ['outer', 'inner', 'exec'].map((word) => String(idsOf(output, word)[0])));
  process.kill(Number(exec), 'SIGUSR2');
  await running.untilStdout(/usr2/);
  test.expect([outer, inner].map((pid) => isRunning(String(pid)))).toEqual([true, true]);
  process.kill(Number(exec), 'SIGTERM');
  await eventually(() => test.expect(isRunning(String(inner))).toBe(false));
  test.expect(isRunning(String(outer))).toBe(true);
});

test.runIf(process.platform === 'linux' && existsSync(SCRIPT) && existsSync('/bin/bash'))(
  'on a terminal the command of exec reads what is typed, stops by Ctrl-Z, goes on, and ends by Ctrl-C',
  async (test) => {
    const running = run(test, [SCRIPT, '-qefc', 'bash --norc --noprofile -i', '/dev/null'], {
      env: { TERM: 'dumb', PS1: 'prompt>' },
    });
    const type = (text: string) => running.child.stdin?.write(text);
    await running.untilStdout(/prompt>/);
    const words = [...COMMAND, 'exec', '--', 'sh', '-c', 'read line < /dev/tty; echo "got" $line; exec sleep 300'];
    type(`${words.map((word) => `'${word}'`).join(' ')}; echo "code" $?\n`);
    type('hello\n');
    await running.untilStdout(/got hello/);
    type('\u001a');
    await running.untilStdout(/Stopped/);
    type('fg; echo "code" $?\n');
    await running.untilStdout(/fg[\s\S]*sleep 300/);
    type('\u0003');
    await running.untilStdout(/code 130/);
    type('exit\n');
    await running.ended;
  },
);
