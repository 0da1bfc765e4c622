import { expect, test, vi } from 'vitest';
import { PacedWork } from '../../src/inspector/use-loaded.ts';

/** Returns the times, in milliseconds, at which the work begins. It is asked for once in each interval, until `untilMs`. */
async function startsOf(intervalMs: number, untilMs: number, tookMs = 0): Promise<number[]> {
  vi.useFakeTimers({ now: 0 });
  const starts: number[] = [];
  const work = new PacedWork(() => {
    // A timer without a delay takes a millisecond.
    starts.push(10 * Math.round(Date.now() / 10));
    return new Promise((resolve) => setTimeout(resolve, tookMs));
  });
  for (let now = 0; now < untilMs; now += intervalMs) {
    work.request();
    await vi.advanceTimersByTimeAsync(intervalMs);
  }
  work.stop();
  await vi.advanceTimersByTimeAsync(60_000);
  vi.useRealTimers();
  return starts;
}

test.sequential('work is done soon after an event, and more and more seldom while events keep coming', async () => {
  expect(await startsOf(5_000, 15_000)).toEqual([200, 5_200, 10_200]);
  expect(await startsOf(10, 7_500)).toEqual([200, 400, 800, 1_610, 3_210, 5_210, 7_210]);
});

test.sequential('after slow work there is a pause of ten times as long, but not longer than three seconds', async () => {
  expect(await startsOf(10, 6_000, 100)).toEqual([200, 1_300, 2_400, 3_500, 5_200]);
  expect(await startsOf(10, 9_000, 900)).toEqual([200, 4_100, 8_000]);
});
