import type { Sample } from './emulator.ts';

const MIB = 1024 * 1024;

/** By how much the heap may be larger in the last quarter of the run than in the second one, in bytes. */
const MAX_GROWTH = 12 * MIB;

/** By how much the heap of one process may grow once its lists are full, in bytes for each minute. */
const MAX_SLOPE = 1 * MIB;

/**
 * After how long the journal and the log of deliveries of a process are full, in milliseconds, at 40 inputs a second or
 * more. A process that ends before that cannot show whether its memory grows; then only the quarters are compared.
 */
const FULL_MS = 15 * 60_000;

/** Says how the memory went, and judges whether it is flat. */
export function judgeMemory(samples: readonly Sample[]): { readonly lines: string[]; readonly isFlat: boolean } {
  if (samples.length < 8) return { lines: [`only ${samples.length} samples of the memory`], isFlat: true };
  const quarters = [0, 1, 2, 3].map((quarter) =>
    samples.slice((quarter * samples.length) / 4, ((quarter + 1) * samples.length) / 4),
  );
  const growth = meanOf(quarters[3] ?? [], 'heap') - meanOf(quarters[1] ?? [], 'heap');
  const slopes = [...new Set(samples.map(({ life }) => life))].flatMap((life) => {
    const full = samples.filter((sample) => sample.life === life && sample.ageMs > FULL_MS);
    return full.length < 8 ? [] : [slopeOf(full)];
  });
  const slope = slopes.length === 0 ? 0 : slopes.reduce((sum, each) => sum + each, 0) / slopes.length;
  const show = (part: readonly Sample[], name: string) =>
    `${name}: heap ${toMib(meanOf(part, 'heap'))}, RSS ${toMib(meanOf(part, 'rss'))}, external ${toMib(meanOf(part, 'external'))}`;
  const lines = [
    `memory in MiB, after a full collection, ${samples.length} samples`,
    show(samples.slice(0, 1), 'start'),
    ...quarters.map((part, index) => show(part, `quarter ${index + 1}`)),
    show(samples.slice(-1), 'end'),
    `largest: heap ${toMib(Math.max(...samples.map(({ heap }) => heap)))}, RSS ${toMib(Math.max(...samples.map(({ rss }) => rss)))}`,
    `growth of the heap from the second to the last quarter: ${toMib(growth)}`,
    slopes.length === 0
      ? `no process lived longer than ${FULL_MS / 60_000} minutes, so only the quarters were compared`
      : `slope of the heap within a process after ${FULL_MS / 60_000} minutes: ${toMib(slope)} each minute, over ${slopes.length} processes`,
    `processor: ${(100 * loadOf(samples)).toFixed(0)} % of a core`,
  ];
  return { lines, isFlat: growth < MAX_GROWTH && slope < MAX_SLOPE };
}

function toMib(bytes: number): string {
  return (bytes / MIB).toFixed(1);
}

function meanOf(samples: readonly Sample[], field: 'heap' | 'rss' | 'external'): number {
  return samples.reduce((sum, sample) => sum + sample[field], 0) / samples.length;
}

/** Returns the slope of the straight line that fits the heap best, in bytes for each minute. */
function slopeOf(samples: readonly Sample[]): number {
  const points = samples.map(({ ageMs, heap }) => [ageMs / 60_000, heap] as const);
  const [middleX, middleY] = [0, 1].map(
    (axis) => points.reduce((sum, point) => sum + (point[axis] ?? 0), 0) / points.length,
  ) as [number, number];
  const upper = points.reduce((sum, [x, y]) => sum + (x - middleX) * (y - middleY), 0);
  return upper / points.reduce((sum, [x]) => sum + (x - middleX) ** 2, 0);
}

/** Returns which part of a core the processes used, from their last samples. */
function loadOf(samples: readonly Sample[]): number {
  const last = new Map(samples.map((sample) => [sample.life, sample]));
  const [cpuMs, ageMs] = [...last.values()].reduce(
    ([cpu, age], each) => [cpu + each.cpu / 1_000, age + each.ageMs],
    [0, 0],
  );
  return (cpuMs ?? 0) / (ageMs ?? 1);
}
