import { expect, test } from 'vitest';
import { isForbidding, mayStillBeMet } from '../../src/evaluate/expectation-table.ts';

/** Judges the form of an expectation that `mayStillBeMet` asks for, when there is this number of mails. */
const judgeBy = (count: number) => (_name: string, value: unknown) => {
  const { times } = value as { readonly times: { readonly min: number; readonly max: number } };
  return Promise.resolve(times.min <= count && count <= times.max);
};

test.for([
  [{ min: 2 }, 1, true],
  [{ min: 2, max: 3 }, 0, true],
  [{ min: 2, max: 3 }, 4, false],
  [{ max: 3 }, 4, false],
  [{ max: 0 }, 1, false],
  [2, 1, true],
  [2, 3, false],
  [5_000, 3_000, true],
] as const)('more mail can meet times %j, when there are %i, only if there are fewer', async ([times, count, can]) => {
  const expectation = { name: 'sent', value: { times }, isNever: false } as const;
  expect(await mayStillBeMet(expectation, judgeBy(count))).toBe(can);
});

test('that something must never be absent forbids nothing that an agent does', () => {
  const never = (times: unknown) => isForbidding({ name: 'sent', value: { times }, isNever: true });
  expect([never(0), never({ max: 0 }), never({ max: 2 }), never({ min: 1 }), never(2)]).toEqual([
    ...[false, false, false, true, true],
  ]);
});
