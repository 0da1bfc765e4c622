import { askChild } from './child.ts';
import { atMost, type Row } from './measure.ts';

/** What 100,000 requests leave behind, and how much of it is msw's own: what it leaves with a static handler. */
export async function benchMemory(): Promise<Row[]> {
  const [ours, mswOwn] = await Promise.all(['mailbox', 'static'].map(grow));
  const note = ` (msw with a static handler: ${mswOwn?.toFixed(2)} MB)`;
  return [
    atMost(20, 'MB', 'memory after 100000 requests over that after 1000', ours ?? Number.NaN, note),
    await countEverything(),
    ...(await countMessages()),
  ];
}

/** What the second half of 100,000 requests adds with every part of a mailbox in use. */
async function countEverything(): Promise<Row> {
  const grown = Number(await askChild('count-everything-memory.ts', [], ['--expose-gc']));
  return atMost(5, 'MB', 'memory after 100000 requests over that after 50000, everything on', grown);
}

/** What 100,000 messages cost: those of a fixture of 20 MB in memory, and those of one of 100 MB in time. */
async function countMessages(): Promise<Row[]> {
  const [short, long] = [await loadMessages(100), await loadMessages(900)];
  return [
    atMost(250, 'MB', 'memory of 100000 messages of 100 characters', short.megabytes),
    atMost(5, 's', 'to load a fixture of 100 MB, with 100000 messages', long.ms / 1000),
  ];
}

async function loadMessages(bodyLength: number): Promise<{ readonly ms: number; readonly megabytes: number }> {
  const args = ['100000', String(bodyLength)];
  return (await askChild('load-messages.ts', args, ['--expose-gc'])) as { ms: number; megabytes: number };
}

async function grow(kind: string): Promise<number> {
  return Number(await askChild('count-memory.ts', [kind], ['--expose-gc']));
}
