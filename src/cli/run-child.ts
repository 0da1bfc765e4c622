import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { isatty } from 'node:tty';
import { CannotRunError, quote, type Terminal } from './command.ts';

/** The signals that a child gets too; those that a system does not have never come. */
const SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'];

/** The reasons why a command does not start, with the exit code that a shell has for each. */
const SPAWN_PROBLEMS: Readonly<Record<string, readonly [reason: string, exitCode: number]>> = {
  ENOENT: ['it was not found', 127],
  ENOTDIR: ['it was not found', 127],
  EACCES: ['it is not a program that you may run', 126],
};

/**
 * Runs a command with the standard input and output of this process, and resolves with its exit code: 128 and the
 * number of the signal, if one ended it. Signals to this process are passed on.
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
  const child = start(file, args, env);
  const passOn = (signal: NodeJS.Signals) => {
    if (signal !== 'SIGINT' || !isOnTerminal()) child.kill(signal);
  };
  for (const signal of SIGNALS) process.on(signal, passOn);
  void interrupted.then((signal) => signal ?? child.kill());
  try {
    return await new Promise((resolve, reject) => {
      child.once('close', (code, signal) => resolve(exitCodeOf(code, signal)));
      child.once('error', (error) => reject(explainSpawnError(error, file)));
    });
  } finally {
    for (const signal of SIGNALS) process.off(signal, passOn);
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

/** Whether a terminal sends an interrupt to the child itself. A second one would cut its shutdown short. */
function isOnTerminal(): boolean {
  return [0, 1, 2].some((stream) => isatty(stream));
}

function exitCodeOf(code: number | null, signal: NodeJS.Signals | null): number {
  return code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
}

function explainSpawnError(error: NodeJS.ErrnoException, file: string): CannotRunError {
  const [reason, exitCode] = SPAWN_PROBLEMS[error.code ?? ''] ?? [error.message, 126];
  return new CannotRunError(`The command ${quote(file)} cannot run: ${reason}.`, exitCode);
}
