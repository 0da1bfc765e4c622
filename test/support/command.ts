import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import type { Mailbox } from 'agent-mailbox-mock';
import { inject, type TestContext } from 'vitest';
import { run as runInProcess } from '../../src/cli/run.ts';

/** The repository's folder. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The command line that runs the command as it was built for this run. */
export const COMMAND: readonly [string, ...string[]] = [process.execPath, join(inject('dist'), 'main.cjs')];

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

/** What the command prints with `--json`. */
export interface ReadyLine {
  readonly url: string;
  readonly port: number;
  readonly version: string;
  readonly keys: Readonly<Record<'operator' | 'tenant' | 'workspace' | 'inbox', string>>;
  readonly ids: Mailbox['ids'];
  readonly control: string;
  readonly fixtures?: string;
  readonly controlToken?: string;
  readonly smtp?: { readonly port: number };
}

/** The minimal environment of a process: variables of the person who runs the tests must not have an effect. */
export const BARE_ENV: NodeJS.ProcessEnv = pick(process.env, ['PATH', 'HOME', 'TMPDIR', 'SystemRoot']);

/** A command that ends by itself is not interrupted. */
export const NEVER = new Promise<undefined>(() => {});

/** Runs the command in this process and interrupts it as soon as it is ready, unless it ends by itself. */
export async function runHere(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  {
    input = '',
    interrupted = Promise.resolve(undefined),
  }: { input?: string; interrupted?: Promise<NodeJS.Signals | undefined> } = {},
) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runInProcess({
    args,
    env,
    colour: false,
    out: (line) => out.push(line),
    err: (line) => err.push(line),
    input: async () => input,
    interrupted,
  });
  return { code, out, err: err.join('\n') };
}

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

/** The lines of a text, without colour and without the empty one after the last line end. */
export function linesOf(text: string): string[] {
  return stripVTControlCharacters(text).trimEnd().split(/\r?\n/);
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
