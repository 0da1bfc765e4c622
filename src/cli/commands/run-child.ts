import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { constants } from 'node:os';
import { isatty } from 'node:tty';
import { CannotRunError, quote, type Terminal } from '../command.ts';
import { parentOf, readProcFile } from '../package-runner.ts';

/** The signals that end a command. They are also sent to every process that the command has started. */
const ENDING: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];

/** The signals that are passed on. A signal that the operating system does not have is never received. */
const SIGNALS: readonly NodeJS.Signals[] = [...ENDING, 'SIGUSR1', 'SIGUSR2'];

/** The signals that a terminal sends when a person presses a key such as Ctrl+C. */
const KEYBOARD_SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT'];

/** How many times the processes are listed, because new ones can start while the signals are sent. */
const ROUNDS = 3;

/** The reasons why a command does not start, with the exit code that a shell has for each. */
const SPAWN_PROBLEMS: Readonly<Record<string, readonly [reason: string, exitCode: number]>> = {
  ENOENT: ['it was not found', 127],
  ENOTDIR: ['it was not found', 127],
  EACCES: ['it is not a program that you may run', 126],
};

/**
 * Runs a command with the standard input and output of this process, and resolves with its exit code: 128 and the
 * number of the signal, if one ended it. Signals to this process are passed on to the command. A signal that ends it is
 * also sent to every process that the command has started. The command stays in the process group of this process,
 * because in another group it would lose the terminal, and the signals that a shell or a runner sends to the group.
 *
 * @throws {CannotRunError} if it does not start; its exit code is 127 if there is no such command.
 */
export async function runChild(
  [file = '', ...args]: readonly string[],
  env: NodeJS.ProcessEnv,
  interrupted: Terminal['interrupted'],
): Promise<number> {
  const early = await Promise.race([interrupted, undefined]);
  if (early) return exitCodeOf(null, early);
  const mark = randomUUID();
  let child: ChildProcess;
  const passOn = (signal: NodeJS.Signals) => {
    // A terminal sends an interrupt to the child itself. A second one would cut its shutdown short.
    if (KEYBOARD_SIGNALS.includes(signal) && [0, 1, 2].some((stream) => isatty(stream))) return;
    if (ENDING.includes(signal)) signalAll(child, mark, signal);
    else child.kill(signal);
  };
  // The listeners are added first, because the command may run, and a signal may come, before `spawn` returns.
  for (const signal of SIGNALS) process.on(signal, passOn);
  try {
    child = start(file, args, { ...env, [MARK]: mark });
    // A signal is passed on by its listener. Without a signal, the package runner has ended, so the command must end.
    void interrupted.then((signal) => signal ?? passOn('SIGTERM'));
    return await new Promise((resolve, reject) => {
      child.once('close', (code, signal) => resolve(exitCodeOf(code, signal)));
      child.once('error', (error) => reject(explainSpawnError(error, file)));
    });
  } finally {
    for (const signal of SIGNALS) process.off(signal, passOn);
  }
}

/**
 * Sends a signal to a child and to every process that it has started. They are listed before the signal is sent,
 * because a process whose parent has ended may not be found any more.
 */
function signalAll({ pid: root, exitCode, signalCode }: ChildProcess, mark: string, signal: NodeJS.Signals): void {
  if (root === undefined || (exitCode ?? signalCode) !== null) return;
  const signalled = new Set<number>();
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const pid of findDescendants(root, mark)) {
      if (!signalled.has(pid)) sendSignal(pid, signal);
      signalled.add(pid);
    }
  }
}

/** Sends a signal, and returns whether that was possible: the process may have ended, or run as another user. */
function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/** Starts a process. `spawn` throws some of its errors and emits the others. */
function start(file: string, args: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
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

/** The environment variable by which a process of the command is found, even if its parent has ended. */
const MARK = 'MAILBOX_EXEC_ID';

/** The id of a process, that of its parent, and whether it is marked. */
type ProcessRow = readonly [pid: number, parent: number | undefined, isMarked: boolean];

/**
 * Returns a process and all that it has started: its children, theirs, and so on. On Linux these are also the processes
 * whose parents have ended, if they have the variable `MARK` with the value `mark`.
 */
function findDescendants(root: number, mark: string): ReadonlySet<number> {
  const found = new Set([root]);
  const all = listProcesses(`${MARK}=${mark}`);
  for (let known = 0; known < found.size; ) {
    known = found.size;
    for (const [pid, parent, isMarked] of all) if (isMarked || found.has(parent ?? 0)) found.add(pid);
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
