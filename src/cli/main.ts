#!/usr/bin/env node
import { text } from 'node:stream/consumers';
import { untilRunnerEnds } from './package-runner.ts';

/** How long what was written last may take to be read. */
const LINGER_MS = 250;

const { stdin, stdout, stderr, env, argv } = process;

// A reader that goes away, such as `| head -1`, must not end the emulator.
for (const stream of [stdout, stderr]) stream.on('error', () => {});

// Listened to for good: a second Ctrl-C, or the one that npx passes on, must not cut short an end that has begun.
const signalled = new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => resolve());
});
const interrupted = Promise.race([signalled, untilRunnerEnds(env)]);

// Loaded only now, so that a package runner that ends while it loads is noticed.
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

// Log lines that nobody reads must not keep the process of a command that has ended.
if (process.exitCode === 0) setTimeout(() => process.exit(), LINGER_MS).unref();
