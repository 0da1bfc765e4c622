import { expect, test } from 'vitest';
import { formatClock, formatDistance, formatMs, formatOffset, formatSpan } from '../../src/inspector/text.tsx';

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

test.for<[ms: number, text: string]>([
  [-5_000, '+0:00'],
  [999, '+0:00'],
  [65_000, '+1:05'],
  [3_599_999, '+59:59'],
  [3_725_000, '+1:02:05'],
])('in a trace, %i ms after the start are written as %s', ([ms, text]) => {
  expect(formatOffset(ms)).toBe(text);
});

const NOON = Date.parse('2026-03-03T12:00:00.000Z');

test.for<[at: string, clock: string, distance: string]>([
  ['2026-03-03T12:00:00.000Z', '12:00:00', '0 s ago'],
  ['2026-03-03T11:59:59.900Z', '11:59:59', '0 s ago'],
  ['2026-03-03T11:58:01.000Z', '11:58:01', '1 min ago'],
  ['2026-03-03T00:00:00.000Z', '00:00:00', '12 h ago'],
  ['2026-03-02T23:59:59.000Z', '2 Mar, 23:59', '12 h ago'],
  ['2025-03-03T12:00:00.000Z', '3 Mar 2025, 12:00', '365 d ago'],
  ['2026-03-03T12:05:00.000Z', '12:05:00', 'in 5 min'],
])('in a row, the time %s is written as %s, %s', ([at, clock, distance]) => {
  expect([formatClock(Date.parse(at), NOON), formatDistance(Date.parse(at), NOON)]).toEqual([clock, distance]);
});

test('a duration has a decimal place only if it is short', () => {
  expect([0.04, 0.44, 3, 9.96, 12.6, 12_345].map(formatMs)).toEqual([
    '0.0 ms',
    '0.4 ms',
    '3 ms',
    '10.0 ms',
    '13 ms',
    '12,345 ms',
  ]);
});
