import { askChild } from './child.ts';
import type { EvaluateCost } from './count-evaluate-cost.ts';
import { atMost, type Row } from './measure.ts';

/** What trials of an agent cost that answers at once: time, the work of the processor, and memory that stays. */
export async function benchEvaluate(): Promise<Row[]> {
  const cost = (await askChild('count-evaluate-cost.ts', [], ['--expose-gc'])) as EvaluateCost;
  return [
    atMost(60, 's', '1,000 trials of evaluate, 16 at a time', cost.seconds),
    atMost(20, 'ms', 'processor time of one of them, with the agent', cost.processorMs),
    atMost(8, 'kB', 'memory that one of them leaves, mostly its report', cost.leftKilobytes),
  ];
}
