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
/** What is clearly below the limit needs no further rounds. */
const CLEARLY_LINEAR = 1.2;
const LIMIT = 1.4;
/** In how many rounds each size is measured again until the exponent is clearly below the limit. */
const ROUNDS_TO_BE_CLEAR = 3;
/** In how many rounds each size is measured again until the exponent is below the limit. */
const ROUNDS = 20;

/** Returns the time of the processor and the pages of memory that this process has used so far. */
function readUsage() {
  const { userCPUTime, systemCPUTime, minorPageFault } = process.resourceUsage();
  return { ms: (userCPUTime + systemCPUTime) / 1000, pages: minorPageFault };
}

/** Returns how many milliseconds the system takes to give the process one page of memory. */
function timeOfPage(): number {
  const start = readUsage();
  const array = new Array(1_000_000).fill(1);
  const filled = readUsage();
  array.fill(2);
  const filledAgain = readUsage();
  const ms = filled.ms - start.ms - (filledAgain.ms - filled.ms);
  return Math.max(0, ms) / Math.max(1, filled.pages - start.pages);
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
  const start = readUsage();
  try {
    await run(made as never, mailbox);
  } catch {
    // A refusal is work too.
  }
  const end = readUsage();
  return Math.max(FLOOR_MS, end.ms - start.ms - (end.pages - start.pages) * PAGE_MS);
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
  const sizes = sizesUpTo(largest);
  let times: number[] = [];
  for (const size of sizes) times.push(await firstAt(size));
  const isDoubtful = (round: number) => exponentOf(times) >= (round < ROUNDS_TO_BE_CLEAR ? CLEARLY_LINEAR : LIMIT);
  for (let round = 0; round < ROUNDS && isDoubtful(round); round += 1) times = await shortestOf(row, sizes, times);
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
