import { expect, test } from 'vitest';
import { formatSpan } from '../../src/inspector/text.tsx';

test.for<[ms: number, text: string]>([
  [-5_000, '0 s'],
  [0, '0 s'],
  [1, '1 s'],
  [59_001, '1 min'],
  [295_000, '4 min 55 s'],
  [3_600_000, '1 h'],
  [3_601_000, '1 h 1 s'],
  [9_000_000, '2 h 30 min'],
  [90_061_000, '1 d 1 h'],
  [2 * 86_400_000, '2 d'],
])('a span of %i ms is written as %s', ([ms, text]) => {
  expect(formatSpan(ms)).toBe(text);
});
