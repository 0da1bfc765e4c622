import { expect, test } from 'vitest';
import {
  benjaminiHochberg,
  fisherExact,
  leastExactly,
  listPassHatK,
  mcNemarExact,
  median,
  passHatK,
  reachesPassHatK,
  type TwoRuns,
  testJointly,
  wilsonInterval,
} from '../../src/evaluate/statistics.ts';
import { Choice } from '../support/choice.ts';

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

test('the list of pass^k has the value of each k', () => {
  for (const [passed, trials] of [
    [0, 5],
    [3, 8],
    [8, 8],
    [0, 0],
  ] as const) {
    const each = Array.from({ length: trials }, (_, index) => passHatK(passed, trials, index + 1));
    expect(listPassHatK(passed, trials)).toEqual(each);
  }
  // It is 0 only if fewer than k trials passed.
  expect(passHatK(5_000, 10_000, 5_000)).toBeGreaterThan(0);
  expect(passHatK(5_000, 10_000, 5_001)).toBe(0);
});

/** C(from, count), exactly. */
function choose(from: number, count: number): bigint {
  let ways = 1n;
  for (let index = 0; index < count; index += 1) ways = (ways * BigInt(from - index)) / BigInt(index + 1);
  return ways;
}

test('what is required of pass^k is compared as if nothing were rounded', () => {
  for (let trials = 1; trials <= 24; trials += 1) {
    for (let k = 1; k <= trials; k += 1) {
      for (let passed = 0; passed <= trials; passed += 1) {
        for (const percent of [0, 1, 5, 10, 20, 25, 40, 50, 60, 70, 75, 80, 90, 95, 99, 100]) {
          const isReached =
            passed >= k ? choose(passed, k) * 100n >= choose(trials, k) * BigInt(percent) : percent === 0;
          const found = reachesPassHatK(passHatK(passed, trials, k) ?? 0, k, percent / 100);
          expect(found, `pass^${k} of ${passed}/${trials} and ${percent} %`).toBe(isReached);
        }
      }
    }
  }
  expect(reachesPassHatK(9_999_998 / 9_999_999, 1, 1)).toBe(false);
});

/** Newcombe, "Two-sided confidence intervals for the single proportion" (Statistics in Medicine 17, 1998), table I. */
const WILSON = [
  [81, 263, 0.2553, 0.3662],
  [15, 148, 0.0624, 0.1605],
  [0, 20, 0, 0.1611],
  [1, 29, 0.0061, 0.1718],
  [29, 29, 1 - 0.117, 1],
] as const;

test.for(WILSON)('the Wilson interval of %i of %i is from %f to %f', ([passed, trials, low, high]) => {
  const interval = wilsonInterval(passed, trials);
  expect(interval?.low).toBeCloseTo(low, 4);
  expect(interval?.high).toBeCloseTo(high, 4);
});

test('a Wilson interval has the share in it, and its limits are those at which the score test just rejects', () => {
  const quantile = 1.959963984540054;
  for (let trials = 1; trials <= 40; trials += 1) {
    for (let passed = 0; passed <= trials; passed += 1) {
      const { low, high } = wilsonInterval(passed, trials) ?? { low: Number.NaN, high: Number.NaN };
      expect(low).toBeLessThanOrEqual(passed / trials);
      expect(high).toBeGreaterThanOrEqual(passed / trials);
      for (const limit of [low, high].filter((each) => each > 0 && each < 1)) {
        const score = Math.abs(passed / trials - limit) / Math.sqrt((limit * (1 - limit)) / trials);
        expect(score).toBeCloseTo(quantile, 8);
      }
    }
  }
  expect(wilsonInterval(0, 0)).toBeNull();
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

/**
 * McNemar's test by its definition: if the two agents are the same, each pair may as well be the other way round. Of all
 * ways to turn the pairs of a table around, counts those in which the numbers of the two agents are at least as far apart.
 */
function mcNemarByTurning(pairs: readonly (readonly [before: boolean, after: boolean])[]): number {
  const distanceOf = (turned: number) =>
    Math.abs(
      pairs.reduce((sum, [before, after], index) => {
        const difference = Number(after) - Number(before);
        return sum + ((turned >> index) & 1 ? -difference : difference);
      }, 0),
    );
  const ways = Array.from({ length: 2 ** pairs.length }, (_, turned) => distanceOf(turned));
  return ways.filter((distance) => distance >= distanceOf(0)).length / ways.length;
}

test('the test of McNemar has the value that turning all pairs around gives, in every table of up to 9 pairs', () => {
  let tables = 0;
  for (let both = 0; both <= 9; both += 1) {
    for (let lost = 0; both + lost <= 9; lost += 1) {
      for (let gained = 0; both + lost + gained <= 9; gained += 1) {
        for (let neither = 0; both + lost + gained + neither <= 9; neither += 1) {
          const repeat = (count: number, pair: readonly [boolean, boolean]) =>
            Array.from({ length: count }, () => pair);
          const pairs = [
            ...repeat(both, [true, true]),
            ...repeat(lost, [true, false]),
            ...repeat(gained, [false, true]),
            ...repeat(neither, [false, false]),
          ];
          expect(mcNemarExact({ lost, gained }), `${lost} lost, ${gained} gained`).toBeCloseTo(
            mcNemarByTurning(pairs),
            12,
          );
          tables += 1;
        }
      }
    }
  }
  // C(9 + 4, 4): all tables of four numbers that are 9 together, or less.
  expect(tables).toBe(715);
});

test('the test of McNemar has the values of the binomial test of R', () => {
  // binom.test(8, 8), binom.test(1, 10) and binom.test(5, 23), two-sided.
  expect(mcNemarExact({ lost: 8, gained: 0 })).toBeCloseTo(0.0078125, 12);
  expect(mcNemarExact({ lost: 1, gained: 9 })).toBeCloseTo(0.021484375, 12);
  expect(mcNemarExact({ lost: 18, gained: 5 })).toBeCloseTo(0.010622, 6);
  // For many pairs, it is the chi-squared of McNemar, corrected for continuity: 3.2016 standard errors here.
  expect(mcNemarExact({ lost: 5_000, gained: 5_325 })).toBeCloseTo(0.00142, 4);
});

/** All ways in which the trials that passed can divide between two runs, each with its share of all arrangements. */
function* divide([first, ...others]: readonly TwoRuns[]): Generator<{
  readonly after: number[];
  readonly share: number;
}> {
  if (!first) {
    yield { after: [], share: 1 };
    return;
  }
  const passed = first.passedBefore + first.passedAfter;
  const all = Number(choose(first.trialsBefore + first.trialsAfter, passed));
  for (let after = Math.max(0, passed - first.trialsBefore); after <= Math.min(passed, first.trialsAfter); after += 1) {
    const ways = Number(choose(first.trialsAfter, after) * choose(first.trialsBefore, passed - after));
    for (const other of divide(others)) yield { after: [after, ...other.after], share: (ways / all) * other.share };
  }
}

/** The three joint tests, by the list of all arrangements. */
function testByList(scenarios: readonly TwoRuns[]) {
  const expected = scenarios.map(({ passedBefore, trialsBefore, passedAfter, trialsAfter }) => {
    return ((passedBefore + passedAfter) * trialsAfter) / (trialsBefore + trialsAfter);
  });
  const scoresOf = (after: readonly number[]) => ({
    whole: after.reduce((a, b) => a + b, 0),
    // In eighths of a trial, as the source has it.
    losses: after.reduce((sum, each, index) => sum + Math.round(8 * Math.max(0, (expected[index] ?? 0) - each)), 0),
    gains: after.reduce((sum, each, index) => sum + Math.round(8 * Math.max(0, each - (expected[index] ?? 0))), 0),
  });
  const ways = [...divide(scenarios)].map(({ after, share }) => ({ ...scoresOf(after), share }));
  const observed = scoresOf(scenarios.map(({ passedAfter }) => passedAfter));
  const shareOf = (isCounted: (way: (typeof ways)[number]) => boolean) =>
    ways.filter(isCounted).reduce((sum, { share }) => sum + share, 0);
  const shareOfWhole = (whole: number) => shareOf((way) => way.whole === whole);
  const given = shareOfWhole(observed.whole) * (1 + 1e-7);
  const wholes = [...new Set(ways.map(({ whole }) => whole))].map(shareOfWhole);
  return {
    onTheWhole: wholes.filter((share) => share <= given).reduce((a, b) => a + b, 0),
    losses: shareOf((way) => way.losses >= observed.losses),
    gains: shareOf((way) => way.gains >= observed.gains),
  };
}

test('the joint tests have the values that the list of all arrangements gives', () => {
  const choice = new Choice(1);
  for (let round = 0; round < 300; round += 1) {
    const scenarios = Array.from({ length: 1 + choice.number(4) }, (): TwoRuns => {
      const [trialsBefore, trialsAfter] = [1 + choice.number(6), 1 + choice.number(6)];
      const [passedBefore, passedAfter] = [choice.number(trialsBefore + 1), choice.number(trialsAfter + 1)];
      return { passedBefore, trialsBefore, passedAfter, trialsAfter };
    });
    const [found, listed] = [testJointly(scenarios), testByList(scenarios)];
    for (const name of ['onTheWhole', 'losses', 'gains'] as const) {
      expect(found[name], `${name} of ${JSON.stringify(scenarios)}`).toBeCloseTo(listed[name], 10);
    }
  }
});

test('on the whole, pairs of several scenarios are tested as the pairs of one', () => {
  const choice = new Choice(3);
  for (let round = 0; round < 200; round += 1) {
    const scenarios = Array.from({ length: 1 + choice.number(5) }, () => {
      const trials = 7 + choice.number(6);
      const pairs = { lost: choice.number(4), gained: choice.number(4) };
      const passedBefore = pairs.lost + choice.number(trials - 6);
      const passedAfter = passedBefore - pairs.lost + pairs.gained;
      return { passedBefore, trialsBefore: trials, passedAfter, trialsAfter: trials, pairs };
    });
    const sumOf = (field: 'lost' | 'gained') => scenarios.reduce((sum, { pairs }) => sum + pairs[field], 0);
    const all = mcNemarExact({ lost: sumOf('lost'), gained: sumOf('gained') });
    expect(testJointly(scenarios).onTheWhole, JSON.stringify(scenarios)).toBeCloseTo(all, 10);
  }
});

test('on the whole, penicillin at once cures more rabbits than after 1.5 hours, with the value of R', () => {
  // Agresti, "Categorical Data Analysis" (1990), page 231: cured and died, at once and later, for five doses. R's
  // documentation of mantelhaen.test(Rabbits, exact = TRUE) has 0.040, which is 0.03994.
  const doses = [
    [0, 6, 0, 5],
    [3, 3, 0, 6],
    [6, 0, 2, 4],
    [5, 1, 6, 0],
    [2, 0, 5, 0],
  ] as const;
  const scenarios = doses.map(([cured, died, curedLater, diedLater]) => ({
    passedBefore: curedLater,
    trialsBefore: curedLater + diedLater,
    passedAfter: cured,
    trialsAfter: cured + died,
  }));
  expect(testJointly(scenarios).onTheWhole).toBeCloseTo(0.03994, 5);
});

test('of one scenario, the joint test is that of Fisher; of many trials, it is that of the normal distribution', () => {
  const one = { passedBefore: 8, trialsBefore: 10, passedAfter: 1, trialsAfter: 6 };
  expect(testJointly([one]).onTheWhole).toBeCloseTo(fisherExact(one), 12);
  // 52.5 / sqrt(1,250) = 1.485 standard errors, with a correction for continuity, and 169.5 / sqrt(12,500) = 1.516.
  const large = { passedBefore: 5_000, trialsBefore: 10_000, passedAfter: 5_106, trialsAfter: 10_000 };
  expect(fisherExact(large)).toBeCloseTo(0.1376, 3);
  const ten = Array.from({ length: 10 }, () => ({
    ...{ passedBefore: 5_000, trialsBefore: 10_000 },
    ...{ passedAfter: 5_034, trialsAfter: 10_000 },
  }));
  expect(testJointly(ten).onTheWhole).toBeCloseTo(0.1295, 2);
});

test('what losses and gains cancel out on the whole, they show', () => {
  const fall = { passedBefore: 5, trialsBefore: 5, passedAfter: 2, trialsAfter: 5 };
  const rise = { passedBefore: 2, trialsBefore: 5, passedAfter: 5, trialsAfter: 5 };
  const { onTheWhole, losses, gains } = testJointly(Array.from({ length: 12 }, () => [fall, rise]).flat());
  expect(onTheWhole).toBeCloseTo(1, 10);
  expect(losses).toBeLessThan(0.001);
  expect(gains).toBeCloseTo(losses, 12);
});

test('the smallest value of a test is that of the greatest difference', () => {
  for (const [passedBefore, passedAfter] of [
    [5, 5],
    [5, 4],
    [5, 2],
    [3, 2],
    [0, 0],
  ] as const) {
    const runs = { passedBefore, trialsBefore: 5, passedAfter, trialsAfter: 5 };
    const passed = passedBefore + passedAfter;
    const values = Array.from({ length: 6 }, (_, after) => ({
      ...runs,
      passedAfter: after,
      passedBefore: passed - after,
    }))
      .filter((each) => each.passedBefore >= 0 && each.passedBefore <= 5)
      .map(fisherExact);
    expect(leastExactly(runs)).toBeCloseTo(Math.min(...values), 12);
  }
});

test('the values of Benjamini and Hochberg are those of their paper and of R', () => {
  // The 15 values of the example in the paper: four are significant at 0.05, of which Bonferroni finds three.
  const given = [
    ...[0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344],
    ...[0.0459, 0.324, 0.4262, 0.5719, 0.6528, 0.759, 1],
  ];
  const adjusted = benjaminiHochberg(given);
  for (const [index, value] of [0.0015, 0.003, 0.0095, 0.035625, 0.0603].entries()) {
    expect(adjusted[index]).toBeCloseTo(value, 12);
  }
  expect(adjusted.filter((value) => value <= 0.05)).toHaveLength(4);
  // p.adjust(c(0.01, 0.04, 0.03, 0.005), method = "BH")
  for (const [index, value] of benjaminiHochberg([0.01, 0.04, 0.03, 0.005]).entries()) {
    expect(value).toBeCloseTo([0.02, 0.04, 0.04, 0.02][index] ?? 0, 12);
  }
  expect(benjaminiHochberg([])).toEqual([]);
});

test('the median of an even number of values is between the two in the middle', () => {
  expect(median([5, 1, 3])).toBe(3);
  expect(median([1, 2, 3, 10])).toBe(2.5);
  expect(median([])).toBeNull();
});
