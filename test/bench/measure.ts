/** One line of the table. */
export interface Row {
  readonly what: string;
  readonly figure: string;
  readonly target: string;
  readonly met: boolean;
}

/** Some work, done once; it may be synchronous. */
export type Work = () => unknown;

/** How a comparison is cut up: many short rounds, so that a noisy neighbour spoils a few of them and not the median. */
export interface Rounds {
  readonly rounds: number;
  readonly warmUp: number;
}

/** What a comparison found, per call of the work. */
export interface Comparison {
  /** The median over the rounds of subject ÷ reference. */
  readonly ratio: number;
  readonly subjectUs: number;
  readonly referenceUs: number;
}

/** Measures one side of a comparison once: in any unit, as long as both sides have the same. */
export type Sample = () => Promise<number>;

/** Samples two sides in turn, each going first in every other round, and relates them round by round. */
export async function compare(subject: Sample, reference: Sample, { rounds, warmUp }: Rounds): Promise<Comparison> {
  const pairs: { subject: number; reference: number }[] = [];
  for (let round = -warmUp; round < rounds; round += 1) {
    const pair = round % 2 === 0 ? await inOrder(subject, reference) : (await inOrder(reference, subject)).reverse();
    const [first = 0, second = 0] = pair;
    if (round >= 0) pairs.push({ subject: first, reference: second });
  }
  return {
    ratio: median(pairs.map((pair) => pair.subject / pair.reference)),
    subjectUs: median(pairs.map((pair) => pair.subject)),
    referenceUs: median(pairs.map((pair) => pair.reference)),
  };
}

async function inOrder(first: Sample, second: Sample): Promise<number[]> {
  return [await first(), await second()];
}

/** Samples the microseconds that one call takes, as the mean of a batch of calls one after the other. */
export function timePerCall(calls: number, work: Work): Sample {
  return async () => {
    const startedAt = performance.now();
    for (let call = 0; call < calls; call += 1) await work();
    return ((performance.now() - startedAt) * 1000) / calls;
  };
}

/** The middle value. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Judges a ratio that may be at most so much. */
export function atMostTimes(limit: number, what: string, { ratio, subjectUs, referenceUs }: Comparison): Row {
  const figure = `${ratio.toFixed(2)}× (${subjectUs.toFixed(1)} µs against ${referenceUs.toFixed(1)} µs)`;
  return { what, figure, target: `at most ${limit}×`, met: ratio <= limit };
}

/** Judges an amount that may be at most so much. */
export function atMost(limit: number, unit: string, what: string, amount: number, note = ''): Row {
  return {
    what,
    figure: `${amount.toFixed(2)} ${unit}${note}`,
    target: `at most ${limit} ${unit}`,
    met: amount <= limit,
  };
}
