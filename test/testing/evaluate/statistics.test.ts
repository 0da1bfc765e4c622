import { expect, test } from 'vitest';
import { fisherExact, holm, median, passHatK } from '../../../src/testing/evaluate/statistics.ts';

/** C(passed, k) / C(trials, k), computed by hand. */
const PASS_HAT_K = [
  [8, 8, 8, 1],
  [7, 8, 1, 7 / 8],
  [7, 8, 2, 21 / 28],
  [4, 8, 2, 6 / 28],
  [4, 8, 4, 1 / 70],
  [3, 8, 4, 0],
  [0, 5, 1, 0],
  [5, 10, 3, 10 / 120],
] as const;

test.for(PASS_HAT_K)('of %i passed in %i trials, pass^%i is %f', ([passed, trials, k, expected]) => {
  expect(passHatK(passed, trials, k)).toBeCloseTo(expected, 12);
});

test('pass^k is not estimated from fewer than k trials', () => {
  expect(passHatK(3, 3, 4)).toBeNull();
  expect(passHatK(0, 0, 1)).toBeNull();
  expect(passHatK(3, 3, 0)).toBeNull();
});

test('pass^k is unbiased: over all results of 5 trials, its mean is p to the power of k', () => {
  const choose = [1, 5, 10, 10, 5, 1];
  for (const p of [0.1, 0.5, 0.9]) {
    for (const k of [1, 2, 3, 5]) {
      const mean = choose.reduce(
        (sum, ways, passed) => sum + ways * p ** passed * (1 - p) ** (5 - passed) * (passHatK(passed, 5, k) ?? 0),
        0,
      );
      expect(mean).toBeCloseTo(p ** k, 12);
    }
  }
});

/**
 * Fisher's tea (3 of 4 and 1 of 4: 0.4857, R's `fisher.test` documentation), and tables whose two-sided values follow
 * from their hypergeometric probabilities.
 */
const FISHER = [
  [3, 4, 1, 4, 34 / 70],
  [4, 4, 0, 4, 2 / 70],
  [10, 10, 0, 10, 2 / 184_756],
  [2, 10, 2, 10, 1],
  // SciPy's documentation of fisher_exact: [[8, 2], [1, 5]] has the value 0.03496503….
  [8, 10, 1, 6, 0.034965034965034975],
  // The convictions of twins in R's documentation: [[2, 10], [15, 3]] has the value 0.0005367.
  [2, 12, 15, 18, 0.0005367241],
] as const;

test.for(FISHER)('%i of %i before and %i of %i after have the value %f', ([a, n, b, m, expected]) => {
  const value = fisherExact({ passedBefore: a, trialsBefore: n, passedAfter: b, trialsAfter: m });
  expect(value).toBeCloseTo(expected, 9);
  expect(fisherExact({ passedBefore: b, trialsBefore: m, passedAfter: a, trialsAfter: n })).toBeCloseTo(value, 12);
});

test('Holm multiplies the smallest value by the number of tests, and no value becomes smaller than one before it', () => {
  const adjusted = holm([0.01, 0.04, 0.03, 0.005]);
  for (const [index, value] of [0.03, 0.06, 0.06, 0.02].entries()) expect(adjusted[index]).toBeCloseTo(value, 12);
  expect(holm([0.9, 0.8])).toEqual([1, 1]);
  expect(holm([])).toEqual([]);
});

test('the median of an even number of values is between the two in the middle', () => {
  expect(median([5, 1, 3])).toBe(3);
  expect(median([1, 2, 3, 10])).toBe(2.5);
  expect(median([])).toBeNull();
});
