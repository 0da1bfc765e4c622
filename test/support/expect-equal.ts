import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';

/** Expects two large values to be equal: `toEqual` takes ten times as long, so it only describes a difference. */
export function expectEqual(actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected);
}
