// Measures how the work of each row grows with its input, and prints one line for each, in a process of its own.
import { createMailbox } from '../../src/mailbox/index.ts';
import { NUMBERS } from './numbers.ts';
import { GROWTH, type GrowthRow } from './rows.ts';

const mailbox = createMailbox({ environment: { report: () => {} } } as never);
/** Shorter times are noise. */
const FLOOR_MS = 0.5;
/** Work that takes less for the largest input needs no look at its growth. */
const QUICK_MS = 4;
/** Work that takes this long is not given a larger input. */
const ENOUGH_MS = 40;
/** How often each size is measured again, if the first times grow too fast: each round brings less noise. */
const ROUNDS = 20;
/** What is clearly below the limit needs no further rounds, the first ones at least. */
const CLEARLY_LINEAR = 1.2;
const LIMIT = 1.4;

/** Returns how many milliseconds the system takes to give the process one page of memory. */
function timeOfPage(): number {
  const pages = process.resourceUsage().minorPageFault;
  const start = process.cpuUsage();
  const array = new Array(1_000_000).fill(1);
  const { user, system } = process.cpuUsage(start);
  const later = process.cpuUsage();
  array.fill(2);
  const again = process.cpuUsage(later);
  const difference = user + system - again.user - again.system;
  return Math.max(0, difference) / 1000 / Math.max(1, process.resourceUsage().minorPageFault - pages);
}

/**
 * On a virtual machine, a page can cost fifty times what it costs elsewhere, and small inputs need no new ones, so this
 * is not counted. The shortest time, because to count too much is better than too little.
 */
const PAGE_MS = Math.min(...Array.from({ length: 9 }, timeOfPage));

/** Returns how much time of the processor one run takes; other processes do not count. */
async function timeOf({ input, run }: GrowthRow, size: number): Promise<number> {
  const made = await input(size);
  // Only these rows change it.
  if (run.length > 1) mailbox.reset();
  const pages = process.resourceUsage().minorPageFault;
  const start = process.cpuUsage();
  try {
    await run(made as never, mailbox);
  } catch {
    // A refusal is work too.
  }
  const { user, system } = process.cpuUsage(start);
  const memory = (process.resourceUsage().minorPageFault - pages) * PAGE_MS;
  return Math.max(FLOOR_MS, (user + system) / 1000 - memory);
}

/** Returns the slope of the line that fits the logarithms: 1 if the time grows as the size does, 2 for its square. */
function exponentOf(times: readonly number[]): number {
  const points = times.map((time, at) => [at - (times.length - 1) / 2, Math.log2(time)] as const);
  return points.reduce((sum, [x, y]) => sum + x * y, 0) / points.reduce((sum, [x]) => sum + x * x, 0);
}

const sizesUpTo = (largest: number) => [8, 4, 2, 1].map((part) => Math.ceil(largest / part));

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
  let times: readonly number[] = first;
  for (let round = 0; round < ROUNDS && exponentOf(times) >= (round < 3 ? CLEARLY_LINEAR : LIMIT); round += 1) {
    times = await shortestOf(row, sizesUpTo(largest), times);
  }
  return exponentOf(times);
}

const [only = ''] = process.argv.slice(2);
for (const [name, row] of Object.entries({ ...NUMBERS, ...GROWTH })) {
  if (!name.includes(only)) continue;
  // The name comes first, so that it is known also if the work does not end.
  process.stdout.write(`${JSON.stringify({ name })}\n`);
  process.stdout.write(`${JSON.stringify({ name, exponent: await measure(row) })}\n`);
}
process.exit();
