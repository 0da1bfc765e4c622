#!/usr/bin/env node
import { once } from 'node:events';
import { run } from './run.ts';

const { stdout, stderr, env, argv } = process;

// A reader that goes away, such as `| head -1`, must not end the emulator.
for (const stream of [stdout, stderr]) stream.on('error', () => {});

process.exitCode = await run({
  args: argv.slice(2),
  env,
  colour: stdout.isTTY === true && !env.NO_COLOR,
  out: (line) => stdout.write(`${line}\n`),
  err: (line) => stderr.write(`${line}\n`),
  interrupted: Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]),
});
