import { benchBySize } from './by-size.ts';
import { benchDeliveries } from './deliveries.ts';
import { benchInProcess } from './in-process.ts';
import { benchLifecycle } from './lifecycle.ts';
import { benchManyMessages } from './many-messages.ts';
import type { Row } from './measure.ts';
import { benchMemory } from './memory.ts';
import { benchOverHttp } from './over-http.ts';
import { benchRouting } from './routing.ts';

const BENCHES = [
  benchInProcess,
  benchOverHttp,
  benchBySize,
  benchManyMessages,
  benchLifecycle,
  benchRouting,
  benchDeliveries,
  benchMemory,
];
const WIDTHS = [62, 55, 16];

print(['what', 'figure', 'target', 'verdict']);
let missed = 0;
for (const bench of BENCHES) {
  for (const row of await bench()) {
    printRow(row);
    if (!row.met) missed += 1;
  }
}
process.exitCode = missed > 0 ? 1 : 0;

function printRow({ what, figure, target, met }: Row): void {
  print([what, figure, target, met ? 'met' : 'MISSED']);
}

function print(cells: readonly string[]): void {
  process.stdout.write(`${cells.map((cell, column) => cell.padEnd(WIDTHS[column] ?? 0)).join('  ')}\n`);
}
