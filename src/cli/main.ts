#!/usr/bin/env node
import { closeSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { watchRunner } from './package-runner.ts';

/** How long this process waits before it exits, so that a reader of stdout can read the last lines. */
const EXIT_DELAY_MS = 250;

/** After this time, a start is over, and the code that it needs is loaded. */
const START_MS = 1_000;

/** The functions of `node:module` that Node 20 lacks. */
interface CompileCache {
  enableCompileCache?(): unknown;
  flushCompileCache?(): void;
}

// Node 22 and later can store the compiled code, so that the next start is faster. Node writes it at the end of the
// process, which SIGKILL skips: the test runner Playwright, for example, ends servers in this way. So it is also written
// once the start is over.
const { enableCompileCache, flushCompileCache } = nodeModule as CompileCache;
enableCompileCache?.();
setTimeout(() => flushCompileCache?.(), START_MS).unref();

const { stdout, stderr, env, argv } = process;

// With these listeners, the emulator keeps running when the reader of its output ends, such as `| head -1`.
for (const stream of [stdout, stderr]) stream.on('error', () => {});

// The listeners are never removed, because a second signal, such as a signal from npx, must not abort the shutdown.
const signalled = new Promise<NodeJS.Signals>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, resolve);
});
// After SIGHUP the terminal may be gone. At its exit, Node restores the settings of its terminal, and aborts with a core
// dump if this fails. It does not restore them on file descriptors that are closed.
void signalled.then((signal) => {
  if (signal === 'SIGHUP') process.once('exit', () => [0, 1, 2].forEach(closeIfOpen));
});

function closeIfOpen(descriptor: number): void {
  try {
    closeSync(descriptor);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EBADF') throw error;
  }
}

async function main(): Promise<void> {
  // `run.ts` is loaded after `watchRunner()`, so that the end of a package runner is noticed also during the loading.
  const runner = await watchRunner(env);
  const { run } = await import('./run.ts');
  process.exitCode = await run({
    args: argv.slice(2),
    env,
    colour: stdout.isTTY === true && !env.NO_COLOR,
    get columns() {
      return stdout.columns;
    },
    out: (line) => stdout.write(`${line}\n`),
    err: (line) => stderr.write(`${line}\n`),
    showStatus: stderr.isTTY === true ? createStatusLine() : undefined,
    // `process.stdin` is used only in this function, because its first use opens it, and the command that `exec` runs
    // may read the same stdin.
    input: async () => (await import('node:stream/consumers')).text(process.stdin),
    readTypedLines:
      stdout.isTTY === true ? (await import('./commands/typed-commands.ts')).createLineReader() : undefined,
    interrupted: Promise.race([signalled, runner.ended.then(() => undefined)]),
  });
  // After the command has ended, output that nobody reads must not keep the process running.
  if (process.exitCode === 0) setTimeout(() => process.exit(), EXIT_DELAY_MS).unref();
}

/** Returns a function that replaces the text on the last line of the terminal. */
function createStatusLine(): (text: string) => void {
  let shown = '';
  return (text) => {
    if (text !== shown) stderr.write(`\r\u001b[K${text}`);
    shown = text;
  };
}

void main();
