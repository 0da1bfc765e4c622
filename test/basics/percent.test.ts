import { expect, test } from 'vitest';
import { formatPercent, formatPercentBeside, formatPercentExactly } from '../../src/basics/percent.ts';

test('only none is 0 % and only all is 100 %', () => {
  expect([0, 1, null].map(formatPercent)).toEqual(['0 %', '100 %', '-']);
  for (const trials of [2, 3, 199, 200, 201, 1_000, 9_999_999]) {
    for (const passed of [1, Math.floor(trials / 2), trials - 1]) {
      expect(formatPercent(passed / trials)).not.toMatch(/^(?:0|100) %/);
    }
  }
  expect([0.0049, 0.005, 0.994, 0.995].map(formatPercent)).toEqual(['< 1 %', '1 %', '99 %', '> 99 %']);
});

test('a share beside a limit is never shown on the other side of it', () => {
  expect(formatPercentBeside(0.796, 0.8)).toBe('79.6 %');
  expect(formatPercentBeside(0.8, 0.8)).toBe('80 %');
  expect(formatPercentBeside(0.7999, 0.8)).toBe('79.99 %');
  expect(formatPercentBeside(0.5, 0.8)).toBe('50 %');
  expect(formatPercentBeside(0.999, 1)).toBe('> 99 %');
  expect(formatPercentBeside(0.9951, 0.999)).toBe('99.5 %');
  expect(formatPercentBeside(0.003, 0.004)).toBe('0.3 %');
  for (let trials = 1; trials <= 60; trials += 1) {
    for (let passed = 0; passed <= trials; passed += 1) {
      for (const limit of [0, 0.001, 1 / 3, 0.5, 0.57, 0.8, 0.95, 0.999, 1]) {
        const shown = formatPercentBeside(passed / trials, limit);
        const number = Number.parseFloat(shown.replace(/^< /, '0.').replace(/^> /, '')) / 100;
        const given = Number.parseFloat(formatPercentExactly(limit)) / 100;
        if (passed / trials >= limit)
          expect(number, shown).toBeGreaterThanOrEqual(given - 0.011 * Number(shown[0] === '>'));
        else expect(number, shown).toBeLessThan(given);
      }
    }
  }
});

test('a share that a person has given keeps its decimals', () => {
  expect([0.8, 0.805, 0.57, 1, 0].map(formatPercentExactly)).toEqual(['80 %', '80.5 %', '57 %', '100 %', '0 %']);
});
