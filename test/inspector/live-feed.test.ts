import { expect, test, vi } from 'vitest';
import { createInspectorClient } from '../../src/inspector/inspector.ts';
import { LiveFeed } from '../../src/inspector/live-feed.ts';

/** Returns after how many seconds the feed asks, within 400 seconds, if these are the answers, the last again and again. */
async function secondsOf(...answers: (number | Error)[]): Promise<number[]> {
  const seconds: number[] = [];
  vi.useFakeTimers({ now: 0 });
  vi.stubGlobal('sessionStorage', { getItem: () => null });
  vi.stubGlobal('fetch', async () => {
    const answer = answers[Math.min(seconds.length, answers.length - 1)];
    seconds.push(Date.now() / 1_000);
    if (answer instanceof Error) throw answer;
    return new Response('', { status: answer ?? 500 });
  });
  void new LiveFeed(createInspectorClient(() => {})).follow();
  await vi.advanceTimersByTimeAsync(400_000);
  vi.useRealTimers();
  vi.unstubAllGlobals();
  return seconds;
}

test.sequential('a feed that is refused asks more and more seldom', async () => {
  expect(await secondsOf(401)).toEqual([0, 2, 6, 14, 30, 62, 122, 182, 242, 302, 362]);
});

test.sequential('a reader that was removed is told nothing more', async () => {
  const [kept, removed]: [string[], string[]] = [[], []];
  vi.useFakeTimers();
  vi.stubGlobal('sessionStorage', { getItem: () => null });
  vi.stubGlobal('fetch', async () => new Response(''));
  const feed = new LiveFeed(createInspectorClient(() => {}));
  feed.subscribe({ onState: (state) => kept.push(state) });
  feed.subscribe({ onState: (state) => removed.push(state) })();
  void feed.follow();
  await vi.advanceTimersByTimeAsync(500);
  vi.useRealTimers();
  vi.unstubAllGlobals();
  expect({ kept, removed }).toEqual({ kept: ['live', 'lost'], removed: [] });
});

test.sequential('a feed whose connection is lost asks again each second, also after refusals', async () => {
  const seconds = await secondsOf(401, 401, 401, new Error('refused'), 200, 401);
  expect(seconds.slice(0, 8)).toEqual([0, 2, 6, 14, 15, 16, 18, 22]);
});
