import { benchBySize } from './by-size.ts';
import { benchDeliveries } from './deliveries.ts';
import { benchEvaluate } from './evaluate.ts';
import { benchFairness } from './fairness.ts';
import { benchHostile } from './hostile.ts';
import { benchImap } from './imap.ts';
import { benchInProcess } from './in-process.ts';
import { benchLifecycle } from './lifecycle.ts';
import { benchManyMessages } from './many-messages.ts';
import type { Row } from './measure.ts';
import { benchMemory } from './memory.ts';
import { benchRouting } from './routing.ts';
import { runParts } from './run-parts.ts';
import { benchSandboxes } from './sandboxes.ts';
import { benchStart } from './start.ts';
import { benchThroughput } from './throughput.ts';
import { benchTrace } from './trace.ts';

/** The parts of the bench by name; `npm run bench -- start throughput` runs only these. */
const BENCHES: Readonly<Record<string, () => Promise<Row[]>>> = {
  start: benchStart,
  throughput: benchThroughput,
  'in-process': benchInProcess,
  size: benchBySize,
  messages: benchManyMessages,
  lifecycle: benchLifecycle,
  sandboxes: benchSandboxes,
  routing: benchRouting,
  deliveries: benchDeliveries,
  fairness: benchFairness,
  hostile: benchHostile,
  imap: benchImap,
  memory: benchMemory,
  trace: benchTrace,
  evaluate: benchEvaluate,
};
const WIDTHS = [62, 55, 16];

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(BENCHES);
const unknown = names.filter((name) => !Object.hasOwn(BENCHES, name));
if (unknown.length > 0) {
  throw new Error(`There is no part ${unknown.join(', ')}; the parts are ${Object.keys(BENCHES).join(', ')}.`);
}

print(['what', 'figure', 'target', 'verdict']);
const { missed, failed } = await runParts(
  names.map((name) => [name, BENCHES[name] ?? (() => Promise.resolve([]))]),
  printRow,
);
if (failed.length > 0) process.stderr.write(`These parts failed: ${failed.join(', ')}.\n`);
process.exitCode = missed + failed.length > 0 ? 1 : 0;

function printRow({ what, figure, target, met }: Row): void {
  print([what, figure, target, met ? 'met' : 'MISSED']);
}

function print(cells: readonly string[]): void {
  process.stdout.write(`${cells.map((cell, column) => cell.padEnd(WIDTHS[column] ?? 0)).join('  ')}\n`);
}
