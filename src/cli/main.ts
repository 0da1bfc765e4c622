#!/usr/bin/env node
import { text } from 'node:stream/consumers';
import { untilRunnerEnds } from './package-runner.ts';

/** How long the reader of stdout has for the last lines. */
const EXIT_DELAY_MS = 250;

const { stdin, stdout, stderr, env, argv } = process;

// The emulator must keep running when the reader of its output ends, such as `| head -1`.
for (const stream of [stdout, stderr]) stream.on('error', () => {});

// The listeners are never removed: a second signal, such as the one that npx passes on, must not abort the shutdown.
const signalled = new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => resolve());
});
const interrupted = Promise.race([signalled, untilRunnerEnds(env)]);

// This is loaded only now, so that `untilRunnerEnds` notices a package runner that ends during the loading.
const { run } = await import('./run.ts');

process.exitCode = await run({
  args: argv.slice(2),
  env,
  colour: stdout.isTTY === true && !env.NO_COLOR,
  out: (line) => stdout.write(`${line}\n`),
  err: (line) => stderr.write(`${line}\n`),
  input: () => text(stdin),
  interrupted,
});

// Unread output must not keep the process alive after the command has ended.
if (process.exitCode === 0) setTimeout(() => process.exit(), EXIT_DELAY_MS).unref();
