import { expect, test, vi } from 'vitest';
import type { FeedEvent } from '../../src/control/journal/feed-event.ts';
import { type ControlClient, RefusedCallError } from '../../src/control/table/client.ts';
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
  void new LiveFeed(createInspectorClient({ onRefused() {}, whenLive: async () => {} })).follow();
  await vi.advanceTimersByTimeAsync(400_000);
  vi.useRealTimers();
  vi.unstubAllGlobals();
  return seconds;
}

test.sequential('a feed that is refused asks more and more seldom', async () => {
  expect(await secondsOf(401)).toEqual([0, 2, 6, 14, 30, 62, 122, 182, 242, 302, 362]);
});

test.sequential('a listener that was removed is told nothing more', async () => {
  const [kept, removed]: [string[], string[]] = [[], []];
  vi.useFakeTimers();
  vi.stubGlobal('sessionStorage', { getItem: () => null });
  vi.stubGlobal('fetch', async () => new Response(''));
  const feed = new LiveFeed(createInspectorClient({ onRefused() {}, whenLive: async () => {} }));
  feed.subscribe({ onState: (state) => kept.push(state) });
  feed.subscribe({ onState: (state) => removed.push(state) })();
  void feed.follow();
  await vi.advanceTimersByTimeAsync(500);
  vi.useRealTimers();
  vi.unstubAllGlobals();
  expect({ kept, removed }).toEqual({ kept: ['live', 'interrupted'], removed: [] });
});

test.sequential('a feed that gets no answer asks less and less often, but at least every four seconds', async () => {
  const seconds = await secondsOf(200, new Error('no answer'));
  expect(seconds.slice(0, 6)).toEqual([0, 1, 3, 7, 11, 15]);
  const afterRefusals = await secondsOf(401, 401, 401, new Error('no answer'), 200, 401);
  expect(afterRefusals.slice(0, 8)).toEqual([0, 2, 6, 14, 18, 19, 21, 25]);
});

/** A feed whose every try to connect is answered by the test. */
function createAnsweredFeed() {
  const tries: { resolve(events: AsyncIterable<FeedEvent>): void; reject(error: Error): void }[] = [];
  const readFeed = () => new Promise((resolve, reject) => tries.push({ resolve, reject }));
  const feed = new LiveFeed({ readFeed } as Pick<ControlClient, 'readFeed'>);
  const states: string[] = [];
  feed.subscribe({ onState: (state) => states.push(state) });
  void feed.follow();
  /** Answers the latest try with a feed, and returns the function that ends this feed. */
  const accept = () => {
    let end = () => {};
    const next = () =>
      new Promise<IteratorResult<FeedEvent>>((resolve) => {
        end = () => resolve({ done: true, value: undefined });
      });
    tries.at(-1)?.resolve({ [Symbol.asyncIterator]: () => ({ next }) });
    return () => end();
  };
  const refuse = (error: Error) => tries.at(-1)?.reject(error);
  return { feed, states, tries, accept, refuse };
}

test.sequential('a break is reported as lost only after the first try to connect again has failed', async () => {
  vi.useFakeTimers({ now: 0 });
  const { feed, states, tries, accept, refuse } = createAnsweredFeed();
  const end = accept();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(feed.outage).toBeUndefined();
  end();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(tries).toHaveLength(2);
  const endAgain = accept();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(states).toEqual(['live', 'interrupted', 'live']);
  endAgain();
  await vi.advanceTimersByTimeAsync(1_000);
  refuse(new TypeError('Failed to fetch'));
  await vi.advanceTimersByTimeAsync(0);
  expect(states.slice(3)).toEqual(['interrupted', 'lost']);
  expect(feed.outage).toEqual({ sinceMs: 21_000, nextTryMs: 24_000, refusal: undefined });
  await vi.advanceTimersByTimeAsync(2_000);
  refuse(new RefusedCallError('The token is wrong.'));
  await vi.advanceTimersByTimeAsync(0);
  expect(feed.outage).toEqual({ sinceMs: 21_000, nextTryMs: 28_000, refusal: 'The token is wrong.' });
  vi.useRealTimers();
});

test.sequential('a feed that waits can be told to try now, and says when it is connected', async () => {
  vi.useFakeTimers({ now: 0 });
  const { feed, tries, accept, refuse } = createAnsweredFeed();
  let isBack = false;
  void feed.whenLive().then(() => {
    isBack = true;
  });
  refuse(new TypeError('Failed to fetch'));
  await vi.advanceTimersByTimeAsync(0);
  expect([tries.length, isBack]).toEqual([1, false]);
  feed.tryNow();
  await vi.advanceTimersByTimeAsync(0);
  expect([tries.length, isBack]).toEqual([2, false]);
  accept();
  await vi.advanceTimersByTimeAsync(0);
  expect([isBack, feed.state, feed.outage]).toEqual([true, 'live', undefined]);
  await feed.whenLive();
  vi.useRealTimers();
});
