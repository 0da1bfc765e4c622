import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { constants } from 'node:os';
import { isatty } from 'node:tty';
import { CannotRunError, quote, type Terminal } from '../command.ts';
import { parentOf, readProcFile } from '../package-runner.ts';

/** The signals that end a command. They are also sent to every process that the command has started. */
const ENDING_SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];

/** The signals that are passed on. A signal that the operating system does not have is never received. */
const SIGNALS: readonly NodeJS.Signals[] = [...ENDING_SIGNALS, 'SIGUSR1', 'SIGUSR2'];

/** The signals that a terminal sends when a person presses a key such as Ctrl+C. */
const KEYBOARD_SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT'];

/**
 * How much time the command has to end after the first SIGTERM, in milliseconds, before a second SIGTERM kills it. Two
 * of them may come at once, because a package runner passes on a signal that this process also gets from its group.
 */
const KILL_DELAY_MS = 2_000;

/** How many times the processes are listed, because new processes can start while the signals are sent. */
const ROUNDS = 3;

/** The reasons why a command does not start, with the exit code that a shell has for each. */
const SPAWN_PROBLEMS: Readonly<Record<string, readonly [reason: string, exitCode: number]>> = {
  ENOENT: ['it was not found', 127],
  ENOTDIR: ['it was not found', 127],
  EACCES: ['it is not a program that you may run', 126],
};

/**
 * Runs a command with the standard input and output of this process, and resolves with its exit code. If a signal has
 * ended the command, the exit code is 128 plus the number of the signal. Signals to this process are passed on to the
 * command. A signal that ends the command is also sent to every process that the command has started. A second SIGTERM
 * kills all of them. The command stays in the process group of this process. In another group, it would lose the
 * terminal, and the signals that a shell or a runner sends to the group.
 *
 * @throws {CannotRunError} if the command does not start. The exit code is 127 if the command does not exist.
 */
export async function runChild(
  [file = '', ...args]: readonly string[],
  env: NodeJS.ProcessEnv,
  interrupted: Terminal['interrupted'],
): Promise<number> {
  const earlySignal = await Promise.race([interrupted, undefined]);
  if (earlySignal) return exitCodeOf(null, earlySignal);
  const runId = randomUUID();
  let child: ChildProcess;
  const passOn = (signal: NodeJS.Signals) => {
    // A terminal also sends the signal of a key to the command itself. After a second signal, many programs exit at
    // once, and do not finish their work.
    if (KEYBOARD_SIGNALS.includes(signal) && [0, 1, 2].some((stream) => isatty(stream))) return;
    if (ENDING_SIGNALS.includes(signal)) signalAll(child, runId, signal);
    else child.kill(signal);
  };
  let firstTermMs: number | undefined;
  let killTimer: ReturnType<typeof setTimeout> | undefined;
  const receive = (signal: NodeJS.Signals) => {
    passOn(signal);
    if (signal !== 'SIGTERM') return;
    const nowMs = performance.now();
    firstTermMs ??= nowMs;
    if (firstTermMs === nowMs) return;
    killTimer ??= setTimeout(() => signalAll(child, runId, 'SIGKILL'), firstTermMs + KILL_DELAY_MS - nowMs);
  };
  // The listeners are added before the command starts, because a signal may arrive before `spawn` returns.
  for (const signal of SIGNALS) process.on(signal, receive);
  try {
    child = spawnCommand(file, args, { ...env, [RUN_VARIABLE]: runId });
    // A signal is passed on by its listener. If there is no signal, the package runner has ended, and the command must
    // end, too.
    void interrupted.then((signal) => signal ?? passOn('SIGTERM'));
    return await new Promise((resolve, reject) => {
      child.once('close', (code, signal) => resolve(exitCodeOf(code, signal)));
      child.once('error', (error) => reject(explainSpawnError(error, file)));
    });
  } finally {
    for (const signal of SIGNALS) process.off(signal, receive);
    clearTimeout(killTimer);
  }
}

/**
 * Sends a signal to a child process and to every process that the child has started. The processes are listed before
 * the signal is sent, because a process whose parent has ended may no longer be found.
 */
function signalAll({ pid: root, exitCode, signalCode }: ChildProcess, runId: string, signal: NodeJS.Signals): void {
  if (root === undefined || (exitCode ?? signalCode) !== null) return;
  const signalled = new Set<number>();
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const pid of findDescendants(root, runId)) {
      if (!signalled.has(pid)) sendSignal(pid, signal);
      signalled.add(pid);
    }
  }
}

/** Sends a signal. Returns false if this is not possible: the process has ended, or belongs to another user. */
function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/** Starts a process. `spawn` throws some of its errors and emits the others. */
function spawnCommand(file: string, args: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
  try {
    // On Windows, only a shell finds commands such as npm, which are scripts there.
    return spawn(file, args, { env, stdio: 'inherit', shell: process.platform === 'win32' });
  } catch (error) {
    throw explainSpawnError(error as NodeJS.ErrnoException, file);
  }
}

function exitCodeOf(code: number | null, signal: NodeJS.Signals | null): number {
  return code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
}

function explainSpawnError(error: NodeJS.ErrnoException, file: string): CannotRunError {
  const [reason, exitCode] = SPAWN_PROBLEMS[error.code ?? ''] ?? [error.message, 126];
  return new CannotRunError(`The command ${quote(file)} cannot run: ${reason}.`, exitCode);
}

/** The environment variable that identifies the processes of a run, also after their parents have ended. */
const RUN_VARIABLE = 'MAILBOX_EXEC_ID';

/** The id of a process, the id of its parent, and whether the process has the variable of this run. */
type ProcessRow = readonly [pid: number, parent: number | undefined, isOfRun: boolean];

/**
 * Returns a process and all processes that it has started: its children, their children, and so on. On Linux, finds
 * also a process whose parent has ended, if the process has the variable of this run.
 */
function findDescendants(root: number, runId: string): ReadonlySet<number> {
  const found = new Set([root]);
  const all = listProcesses(`${RUN_VARIABLE}=${runId}`);
  for (let knownCount = 0; knownCount < found.size; ) {
    knownCount = found.size;
    for (const [pid, parent, isOfRun] of all) if (isOfRun || found.has(parent ?? 0)) found.add(pid);
  }
  return found;
}

/** Lists all processes; the list is empty if neither /proc nor `ps` exists. */
function listProcesses(variable: string): readonly ProcessRow[] {
  try {
    if (process.platform === 'linux') {
      const ids = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? Number(name) : []));
      return ids.map((id) => [id, parentOf(id), readProcFile(id, 'environ').split('\0').includes(variable)]);
    }
    const shown = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' });
    return [...shown.matchAll(/(?<!\d)(\d+) +(\d+)/g)].map(([, pid, parent]) => [Number(pid), Number(parent), false]);
  } catch {
    return [];
  }
}
