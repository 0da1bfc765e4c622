// Measures how the work of each row grows with its input, and prints one line for each, in a process of its own.
import { createMailbox } from '../../src/mailbox/index.ts';
import { NUMBERS } from './numbers.ts';
import { GROWTH, type GrowthRow } from './rows.ts';

const mailbox = createMailbox({ environment: { report: () => {} } } as never);
const RUNS = 5;
/** Shorter times are noise. */
const FLOOR_MS = 0.5;
/** Work that takes less for the largest input needs no look at its growth. */
const QUICK_MS = 4;
/** Work that takes this long is not given a larger input. */
const ENOUGH_MS = 40;
/** What is clearly below the limit at the first run needs no further ones. */
const CLEARLY_LINEAR = 1.2;
const LIMIT = 1.4;

/** Returns how much time of the processor one run takes; other processes do not count. */
async function timeOf({ input, run }: GrowthRow, size: number): Promise<number> {
  const made = await input(size);
  // Only these rows change it.
  if (run.length > 1) mailbox.reset();
  const start = process.cpuUsage();
  try {
    await run(made as never, mailbox);
  } catch {
    // A refusal is work too.
  }
  const { user, system } = process.cpuUsage(start);
  return Math.max(FLOOR_MS, (user + system) / 1000);
}

/** Returns the slope of the line that fits the logarithms: 1 if the time grows as the size does, 2 for its square. */
function exponentOf(times: readonly number[]): number {
  const points = times.map((time, at) => [at - (times.length - 1) / 2, Math.log2(time)] as const);
  return points.reduce((sum, [x, y]) => sum + x * y, 0) / points.reduce((sum, [x]) => sum + x * x, 0);
}

const sizesUpTo = (largest: number) => [8, 4, 2, 1].map((part) => Math.ceil(largest / part));

async function medianOf(row: GrowthRow, size: number): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < RUNS; run += 1) times.push(await timeOf(row, size));
  return times.sort((one, other) => one - other)[Math.floor(RUNS / 2)] ?? 0;
}

/** Measures each size once more, and returns the shorter times: what the engine does besides only adds to a time. */
async function shortestOf(row: GrowthRow, sizes: readonly number[], times: readonly number[]): Promise<number[]> {
  const shortest: number[] = [];
  for (const [at, size] of sizes.entries()) shortest.push(Math.min(times[at] ?? 0, await timeOf(row, size)));
  return shortest;
}

async function measure(row: GrowthRow): Promise<number> {
  const known = new Map<number, number>();
  /** The time of the first run at a size that counts. */
  const firstAt = async (size: number) => {
    const time = known.get(size) ?? (await timeOf(row, size));
    known.set(size, time);
    return time;
  };
  let largest = row.most / 8;
  // This run does not count, because the engine has not compiled the code yet.
  const uncompiled = await timeOf(row, largest);
  if (uncompiled < QUICK_MS && (await firstAt(row.most)) < QUICK_MS) return 0;
  while (largest < row.most && (await firstAt(largest)) < ENOUGH_MS) largest *= 2;
  const first: number[] = [];
  for (const size of sizesUpTo(largest)) first.push(await firstAt(size));
  let exponent = exponentOf(first);
  if (exponent >= CLEARLY_LINEAR) exponent = exponentOf(await shortestOf(row, sizesUpTo(largest), first));
  for (let tries = 0; tries < 2 && exponent >= (tries === 0 ? CLEARLY_LINEAR : LIMIT); tries += 1) {
    const medians: number[] = [];
    for (const size of sizesUpTo(largest)) medians.push(await medianOf(row, size));
    exponent = exponentOf(medians);
  }
  return exponent;
}

const [only = ''] = process.argv.slice(2);
for (const [name, row] of Object.entries({ ...NUMBERS, ...GROWTH })) {
  if (!name.includes(only)) continue;
  // The name comes first, so that it is known also if the work does not end.
  process.stdout.write(`${JSON.stringify({ name })}\n`);
  process.stdout.write(`${JSON.stringify({ name, exponent: await measure(row) })}\n`);
}
process.exit();
