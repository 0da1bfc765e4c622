import { constants } from 'node:os';
import { isatty } from 'node:tty';
import { type ProcessTree, ProcessTrees } from '../../server/process-tree.ts';
import { CannotRunError, quote, type Terminal } from '../command.ts';

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
  let tree: ProcessTree | undefined;
  const passOn = (signal: NodeJS.Signals) => {
    // What a command leaves behind that has ended by itself goes on.
    if (!tree || (tree.child.exitCode ?? tree.child.signalCode) !== null) return;
    // A terminal also sends the signal of a key to the command itself. After a second signal, many programs exit at
    // once, and do not finish their work.
    if (KEYBOARD_SIGNALS.includes(signal) && [0, 1, 2].some((stream) => isatty(stream))) return;
    if (ENDING_SIGNALS.includes(signal)) tree.signal(signal);
    else tree.child.kill(signal);
  };
  let firstTermMs: number | undefined;
  let killTimer: ReturnType<typeof setTimeout> | undefined;
  const receive = (signal: NodeJS.Signals) => {
    passOn(signal);
    if (signal !== 'SIGTERM') return;
    const nowMs = performance.now();
    firstTermMs ??= nowMs;
    if (firstTermMs === nowMs) return;
    killTimer ??= setTimeout(() => tree?.signal('SIGKILL'), firstTermMs + KILL_DELAY_MS - nowMs);
  };
  // The listeners are added before the command starts, because a signal may arrive before `spawn` returns.
  for (const signal of SIGNALS) process.on(signal, receive);
  try {
    tree = startCommand(file, args, env);
    const { child } = tree;
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
    tree?.stopFollowing();
  }
}

/** Starts a process. `spawn` throws some of its errors and emits the others. */
function startCommand(file: string, args: readonly string[], env: NodeJS.ProcessEnv): ProcessTree {
  try {
    // On Windows, only a shell finds commands such as npm, which are scripts there.
    return new ProcessTrees().start(file, args, { env, stdio: 'inherit', shell: process.platform === 'win32' });
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
