import { get } from 'node:http';
import { startChild } from './child.ts';
import { atMostTimes, compare, type Row, type Sample } from './measure.ts';

/** How many large lists are asked for at the same time. */
const LISTS = 10;

/** How long one small request waits at most while ten lists of 12 MB are served, against the time of one such list. */
export async function benchFairness(): Promise<Row[]> {
  const { child, said } = await startChild('large-lists-server.ts', [], ['--max-old-space-size=256']);
  const { url, key, list } = said as { url: string; key: string; list: string };
  const read = (path: string) =>
    new Promise<void>((resolve, reject) => {
      const request = get(url + path, { headers: { 'X-API-Key': key } }, (response) => {
        response.on('end', resolve).on('error', reject).resume();
      });
      request.on('error', reject);
    });
  const time = async (path: string) => {
    const startedAt = performance.now();
    await read(path);
    return (performance.now() - startedAt) * 1000;
  };
  const longestWait: Sample = async () => {
    let isDone = false;
    const lists = Promise.all(Array.from({ length: LISTS }, () => read(list))).finally(() => {
      isDone = true;
    });
    let longest = 0;
    while (!isDone) longest = Math.max(longest, await time('/v1/me'));
    await lists;
    return longest;
  };
  try {
    const comparison = await compare(longestWait, () => time(list), { rounds: 7, warmUp: 1 });
    return [atMostTimes(1, `a small request during ${LISTS} lists of 12 MB ÷ one such list`, comparison)];
  } finally {
    child.kill();
  }
}
