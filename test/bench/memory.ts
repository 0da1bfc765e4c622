import { askChild } from './child.ts';
import { atMost, type Row } from './measure.ts';

/** What 100,000 requests leave behind, and how much of it is msw's own: what it leaves with a static handler. */
export async function benchMemory(): Promise<Row[]> {
  const [ours, mswOwn] = await Promise.all(['mailbox', 'static'].map(grow));
  const note = ` (msw with a static handler: ${mswOwn?.toFixed(2)} MB)`;
  return [atMost(20, 'MB', 'memory after 100000 requests over that after 1000', ours ?? Number.NaN, note)];
}

async function grow(kind: string): Promise<number> {
  return Number(await askChild('count-memory.ts', [kind], ['--expose-gc']));
}
