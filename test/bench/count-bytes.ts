import { setTimeout } from 'node:timers/promises';

/** What is in use once everything that can be collected is; finalizers need turns of the loop in between. */
export async function usedMemory(): Promise<number> {
  for (let turn = 0; turn < 5; turn += 1) {
    globalThis.gc?.();
    await setTimeout(20);
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
