import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { TestContext } from 'vitest';
import type { ReadyLine } from './command.ts';
import { DIST } from './dist.ts';
import { ROOT } from './root.ts';

/** The command line that runs the command as it was built. */
export const COMMAND: readonly [string, ...string[]] = [process.execPath, join(DIST, 'main.cjs')];

/** The program that runs a command in a terminal, where it is installed. */
export const SCRIPT = '/usr/bin/script';

/** How a process ended. */
export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A process with what it has written so far. */
export interface Running {
  readonly child: ChildProcess;
  readonly stdout: string;
  readonly stderr: string;
  /** Resolves when the process has ended and everything it wrote is here. */
  readonly ended: Promise<Ending>;
  /** Resolves with stdout once it matches, and rejects if the process ends before. */
  untilStdout(pattern: RegExp): Promise<string>;
  untilStderr(pattern: RegExp): Promise<string>;
}

/** The minimal environment of a process: variables of the person who runs the tests must not have an effect. */
export const BARE_ENV: NodeJS.ProcessEnv = pick(process.env, ['PATH', 'HOME', 'TMPDIR', 'SystemRoot']);

/** Starts a process that ends with the test at the latest; if it is a group, then with everything that it started. */
export function run(
  { onTestFinished }: Pick<TestContext, 'onTestFinished'>,
  [file, ...args]: readonly [string, ...string[]],
  { env = {}, cwd = ROOT, isGroup = false }: { env?: NodeJS.ProcessEnv; cwd?: string; isGroup?: boolean } = {},
): Running {
  const child = spawn(file, args, { cwd, env: { ...BARE_ENV, ...env }, detached: isGroup });
  const stdout = collect(child.stdout);
  const stderr = collect(child.stderr);
  const ended = new Promise<Ending>((resolve, reject) => {
    child.once('error', reject).once('close', (code, signal) => resolve({ code, signal }));
  });
  ended.catch(() => {});
  onTestFinished(() => {
    child.kill('SIGKILL');
    if (isGroup) spawnSync('kill', ['-KILL', '--', `-${child.pid}`]);
  });
  const until = (output: Output, pattern: RegExp) =>
    untilMatch(output, pattern, ended, () => stdout.text + stderr.text);
  return {
    child,
    get stdout() {
      return stdout.text;
    },
    get stderr() {
      return stderr.text;
    },
    ended,
    untilStdout: (pattern) => until(stdout, pattern),
    untilStderr: (pattern) => until(stderr, pattern),
  };
}

/** Runs the command. */
export function runCommand(
  test: Pick<TestContext, 'onTestFinished'>,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Running {
  return run(test, [...COMMAND, ...args], { env });
}

/** Runs the command with `--json` on a free port, and resolves once it listens. */
export async function startCommand(
  test: Pick<TestContext, 'onTestFinished'>,
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<{ running: Running; ready: ReadyLine }> {
  const running = runCommand(test, ['--port', '0', '--json', ...args], env);
  return { running, ready: JSON.parse(await running.untilStdout(/\n/)) };
}

/** Whether a process runs. One that its parent has not noticed yet has ended too. */
export function isRunning(pid: string | number): boolean {
  const state = String(spawnSync('ps', ['-o', 'stat=', '-p', String(pid)]).stdout).trim();
  return state !== '' && !state.startsWith('Z');
}

interface Output {
  text: string;
  readonly stream: NodeJS.ReadableStream;
}

function collect(stream: NodeJS.ReadableStream): Output {
  const output = { text: '', stream };
  stream.setEncoding('utf8').on('data', (chunk) => {
    output.text += chunk;
  });
  return output;
}

function untilMatch(output: Output, pattern: RegExp, ended: Promise<Ending>, all: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    const look = () => {
      if (!pattern.test(output.text)) return;
      output.stream.off('data', look);
      resolve(output.text);
    };
    output.stream.on('data', look);
    look();
    ended.then(
      ({ code, signal }) => reject(new Error(`It ended with ${code ?? signal} without writing ${pattern}:\n${all()}`)),
      reject,
    );
  });
}

function pick(env: NodeJS.ProcessEnv, names: readonly string[]): NodeJS.ProcessEnv {
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}
