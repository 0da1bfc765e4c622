import { describe, expect, test } from 'vitest';
import { WorkQueue } from '../../src/server/work-queue.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('The queue of long work', () => {
  test('runs all work together only for a while in each turn, and lets it take turns', async () => {
    let nowMs = 0;
    const queue = new WorkQueue(() => nowMs);
    const steps: string[] = [];
    function* work(name: string): Generator<undefined, string> {
      for (let step = 0; step < 6; step += 1) {
        nowMs += 3;
        steps.push(name);
        yield;
      }
      return name;
    }
    const results = Promise.all(['a', 'b'].map((name) => queue.run(work(name), () => false)));
    // Each step takes 3 of 10 ms.
    expect(steps.join('')).toBe('aaaa');
    await turn();
    expect(steps.length).toBe(8);
    expect(await results).toEqual(['a', 'b']);
    expect(steps.slice(4, 8).sort().join('')).toBe('aabb');
  });

  test('does short work at once, and returns what work yields piece by piece', async () => {
    const queue = new WorkQueue();
    function* work(): Generator<string | undefined, number> {
      yield 'one';
      yield;
      yield 'two';
      return 3;
    }
    const pieces = work();
    const never = () => false;
    expect(await queue.next(pieces, never)).toEqual({ done: false, value: 'one' });
    expect(await queue.next(pieces, never)).toEqual({ done: false, value: 'two' });
    expect(await queue.next(pieces, never)).toEqual({ done: true, value: 3 });
  });

  test('stops work, and reports its errors', async () => {
    const queue = new WorkQueue();
    let isStopped = false;
    let hasCleanedUp = false;
    function* endless(): Generator<undefined, void> {
      try {
        for (;;) yield;
      } finally {
        hasCleanedUp = true;
      }
    }
    const stopped = queue.run(endless(), () => isStopped);
    await turn();
    isStopped = true;
    expect(await stopped).toBeUndefined();
    expect(hasCleanedUp).toBe(true);
    // biome-ignore lint/correctness/useYield: it fails before it pauses.
    function* wrong(): Generator<undefined, void> {
      throw new Error('Something is wrong.');
    }
    await expect(queue.run(wrong(), () => false)).rejects.toThrow('Something is wrong.');
  });
});
