import { expect, test } from 'vitest';
import {
  type ComparableEvaluation,
  type Comparison,
  compareEvaluations,
  isWorse,
  writeComparison,
} from '../../src/evaluate/compare-evaluations.ts';
import { Choice } from '../support/choice.ts';

/** How many trials of each scenario passed, of how many. */
type Results = readonly (readonly [passed: number, trials: number])[];

function toReport(results: Results): ComparableEvaluation {
  return {
    scenarios: results.map(([passed, trials], index) => ({ name: `s${index}`, passed, failed: trials - passed })),
  };
}

function compare(before: Results, after: Results): Comparison {
  return compareEvaluations(toReport(before), toReport(after));
}

/** The same result for so many scenarios. */
function repeat(scenarios: number, passed: number, trials: number): Results {
  return Array.from({ length: scenarios }, () => [passed, trials] as const);
}

/** Returns whether a comparison says that anything has changed. */
function findsAny({ overall, scenarios }: Comparison): boolean {
  return (
    overall.change !== 'within chance' || scenarios.some(({ change }) => change === 'better' || change === 'worse')
  );
}

/** Runs every scenario of an agent so often; `shares` are the probabilities that a trial of each passes. */
function simulate(choice: Choice, shares: readonly number[], trials: number): Results {
  const passes = (share: number) => choice.number(1_000_000) < share * 1_000_000;
  return shares.map((share) => [Array.from({ length: trials }, () => passes(share)).filter(Boolean).length, trials]);
}

/** Returns the share of simulated comparisons in which something is so. */
function shareOf(
  rounds: number,
  [before, after]: readonly [before: readonly number[], after: readonly number[]],
  trials: number,
  isSo: (comparison: Comparison) => boolean,
): number {
  const choice = new Choice(55);
  const compared = Array.from({ length: rounds }, () =>
    compare(simulate(choice, before, trials), simulate(choice, after, trials)),
  );
  return compared.filter(isSo).length / rounds;
}

test.for([
  [1, 5],
  [2, 4],
  [3, 3],
] as const)(
  'of all comparisons of an agent with itself, by %i scenarios of %i trials, at most 5 %% find a change',
  ([scenarios, trials]) => {
    // The probability of each pair of results is known, so nothing is left to chance.
    const choose = (count: number): number => (count === 0 ? 1 : (choose(count - 1) * (trials - count + 1)) / count);
    const counts = Array.from({ length: trials + 1 }, (_, count) => count);
    const lists = counts.slice(1, scenarios).reduce<number[][]>(
      (all) => all.flatMap((list) => counts.map((count) => [...list, count])),
      counts.map((count) => [count]),
    );
    const found = lists.flatMap((before) =>
      lists
        .filter((after) =>
          findsAny(
            compare(
              before.map((n) => [n, trials]),
              after.map((n) => [n, trials]),
            ),
          ),
        )
        .map((after) => [...before, ...after]),
    );
    for (const share of [0.05, 0.3, 0.5, 0.8, 0.95]) {
      const probabilityOf = (count: number) => choose(count) * share ** count * (1 - share) ** (trials - count);
      const alarms = found.reduce((sum, list) => sum + list.reduce((all, count) => all * probabilityOf(count), 1), 0);
      expect(alarms).toBeLessThanOrEqual(0.05);
    }
  },
);

/** How probable it is that a trial of each of 24 scenarios passes, for agents of several kinds. */
const AGENTS = {
  'that is middling': Array.from({ length: 24 }, () => 0.5),
  'that is good': Array.from({ length: 24 }, () => 0.95),
  'that is good at some things': Array.from({ length: 24 }, (_, index) => (index + 0.5) / 24),
} as const;

test.for(Object.entries(AGENTS))('an agent %s is rarely found to differ from itself', ([, shares]) => {
  for (const [trials, rounds] of [
    [5, 300],
    [20, 100],
  ] as const) {
    // The seed is fixed; another one could add what chance adds to so many rounds.
    expect(shareOf(rounds, [shares, shares], trials, findsAny)).toBeLessThanOrEqual(0.05);
  }
});

/** Changes of 24 scenarios, in how many of 100 comparisons each is at least found, and what is found. */
const CHANGES: Readonly<
  Record<string, { before: readonly number[]; after: readonly number[]; trials: number; least: number; change: string }>
> = {
  'everything breaks': { before: all(1), after: all(0), trials: 5, least: 1, change: 'worse' },
  'everything works at last': { before: all(0), after: all(1), trials: 5, least: 1, change: 'better' },
  'everything gets a little worse': { before: all(0.9), after: all(0.75), trials: 10, least: 0.95, change: 'worse' },
  'everything gets a little better': { before: all(0.6), after: all(0.75), trials: 10, least: 0.8, change: 'better' },
  'half breaks, and half works': { before: half(1, 0), after: half(0, 1), trials: 5, least: 1, change: 'mixed' },
  'half gets worse, and half better': {
    before: half(0.9, 0.3),
    after: half(0.3, 0.9),
    trials: 5,
    least: 0.95,
    change: 'mixed',
  },
  'a third gets worse': { before: all(0.95), after: third(0.95, 0.4), trials: 5, least: 0.95, change: 'worse' },
};

function all(share: number): number[] {
  return Array.from({ length: 24 }, () => share);
}

function half(one: number, other: number): number[] {
  return all(0).map((_, index) => (index % 2 === 0 ? one : other));
}

function third(most: number, some: number): number[] {
  return all(0).map((_, index) => (index % 3 === 0 ? some : most));
}

test.for(Object.entries(CHANGES))('the change is found if %s', ([, { before, after, trials, least, change }]) => {
  const found = shareOf(100, [before, after], trials, ({ overall }) => overall.change === change);
  expect(found).toBeGreaterThanOrEqual(least);
});

test('the more trials, the smaller the loss that is found', () => {
  const foundAt = [2, 5, 10, 20].map((trials) => shareOf(100, [all(0.9), all(0.8)], trials, isWorse));
  expect(foundAt).toEqual([...foundAt].sort((a, b) => a - b));
  expect(foundAt[0]).toBeLessThan(0.3);
  expect(foundAt[3]).toBeGreaterThan(0.95);
});

test('24 scenarios from all to none are worse, each of them and on the whole', () => {
  const comparison = compare(repeat(24, 5, 5), repeat(24, 0, 5));
  expect(comparison.overall).toMatchObject({ change: 'worse', passedBefore: 120, passedAfter: 0 });
  expect(new Set(comparison.scenarios.map(({ change }) => change))).toEqual(new Set(['worse']));
  expect(isWorse(comparison)).toBe(true);
});

test('one scenario that breaks is found among others that vary', () => {
  const before = [[7, 7], ...repeat(23, 6, 7)] as Results;
  const after = [[0, 7], ...repeat(23, 5, 7)] as Results;
  const { scenarios } = compare(before, after);
  expect(scenarios[0]?.change).toBe('worse');
  expect(new Set(scenarios.slice(1).map(({ change }) => change))).toEqual(new Set(['within chance']));
});

test('what a scenario could have shown is what it shows, and no less', () => {
  const choice = new Choice(7);
  for (let round = 0; round < 60; round += 1) {
    const [trialsBefore, trialsAfter] = [1 + choice.number(12), 1 + choice.number(12)];
    const before = Array.from(
      { length: 1 + choice.number(6) },
      () => [choice.number(trialsBefore + 1), trialsBefore] as const,
    );
    const [own] = before;
    if (!own) throw new Error('There is no scenario.');
    // The others do not change, as far as the numbers of trials allow.
    const others = before.slice(1).map(([passed]) => [passed === trialsBefore ? trialsAfter : 0, trialsAfter] as const);
    const stable = others.map(([passed]) => [passed === 0 ? 0 : trialsBefore, trialsBefore] as const);
    const changeTo = (passed: number) =>
      compare([own, ...stable], [[passed, trialsAfter], ...others]).scenarios[0]?.change ?? '';
    const same = (own[0] * trialsAfter) / trialsBefore;
    const changes = Array.from({ length: trialsAfter + 1 }, (_, passed) => changeTo(passed));
    // The limits are those for a scenario that was not found to change.
    const index = changes.findIndex((change) => change === 'within chance' || change === 'unchanged');
    if (index < 0) continue;
    const { worseFrom, betterFrom } = compare([own, ...stable], [[index, trialsAfter], ...others]).scenarios[0] ?? {};
    const about = JSON.stringify({ own, trialsAfter, same, changes });
    expect(changes.lastIndexOf('worse'), about).toBe(worseFrom ?? -1);
    expect(changes.indexOf('better'), about).toBe(betterFrom ?? -1);
  }
});

test('a difference is found from the number of trials that it is said to need', () => {
  for (const [passedBefore, passedAfter, trials] of [
    [5, 3, 5],
    [5, 0, 5],
    [4, 3, 5],
    [3, 3, 3],
    [2, 0, 2],
  ] as const) {
    for (const scenarios of [1, 24]) {
      // The others vary too, so that the value has to stand out from theirs.
      const others = repeat(scenarios - 1, 5, 10);
      const changeOf = (before: number, after: number, n: number) =>
        compare([[before, n], ...others], [[after, n], ...others]).scenarios[0];
      const found = changeOf(passedBefore, passedAfter, trials);
      if (found?.change === 'worse') continue;
      const needed = found?.neededTrials ?? Number.NaN;
      const [one, other] = passedBefore === passedAfter ? [1, 0] : [passedBefore / trials, passedAfter / trials];
      const at = (n: number) => changeOf(Math.round(one * n), Math.round(other * n), n)?.change;
      expect(at(needed)).toBe('worse');
      expect(at(needed <= 50 ? needed - 1 : Math.floor(needed * 0.9))).not.toBe('worse');
    }
  }
});

test('among 24 scenarios that vary, one that changes from all to none needs 7 trials', () => {
  const others = repeat(23, 5, 10);
  const [first] = compare([[2, 2], ...others], [[2, 2], ...others]).scenarios;
  expect(first).toMatchObject({ change: 'unchanged', worseFrom: null, betterFrom: null, neededTrials: 7 });
});

test('the text names what is gone, new, unchanged and told less often, and what it could have shown', () => {
  const before: ComparableEvaluation = {
    scenarios: [
      { name: 'same', passed: 10, failed: 0, cannotTell: 0 },
      { name: 'dark', passed: 5, failed: 0, cannotTell: 0 },
      { name: 'less', passed: 5, failed: 0 },
      { name: 'gone', passed: 1, failed: 0 },
      { name: 'never run', passed: 0, failed: 0 },
    ],
  };
  const after: ComparableEvaluation = {
    scenarios: [
      { name: 'same', passed: 10, failed: 0, cannotTell: 0 },
      { name: 'dark', passed: 0, failed: 0, cannotTell: 5 },
      { name: 'less', passed: 4, failed: 1 },
      { name: 'new', passed: 1, failed: 0 },
      { name: 'never run', passed: 3, failed: 0 },
    ],
  };
  const comparison = compareEvaluations(before, after);
  expect(writeComparison(comparison).split('\n')).toEqual([
    'Worse: 20/20 (100 %) → 14/20 (70 %); on the whole p = 0.012, losses in single scenarios p = 0.012, gains in single scenarios p = 1.000.',
    '',
    'Worse:',
    '  dark: 5/5 (100 %) → 0/5 (0 %), p = 0.024',
    '',
    'Within chance:',
    '  less: 5/5 (100 %) → 4/5 (80 %), p = 1.000; these trials could have shown a fall to 0/5; this difference needs 38 trials',
    '',
    'No trial in one of the runs:',
    '  never run: 0/0 (-) → 3/3 (100 %)',
    '',
    'Cannot be told more often than before:',
    '  dark: 0/5 → 5/5 trials, which count as not passed',
    '',
    'Gone, so nothing is compared:',
    '  gone',
    '',
    'New, so nothing is compared:',
    '  new',
    '',
    'Unchanged: 1 scenario; --all lists it.',
    '',
    'If the agent is the same, any change is found in at most 5 % of such comparisons.',
  ]);
  expect(writeComparison(comparison, { all: true })).toContain(
    '\nUnchanged:\n  same: 10/10 (100 %) → 10/10 (100 %); these trials could have shown a fall to 3/10\n',
  );
});

test('a value of p is never shown on the other side of the level', () => {
  for (let trials = 1; trials <= 40; trials += 1) {
    for (let passed = 0; passed <= trials; passed += 1) {
      const comparison = compare([[trials, trials]], [[passed, trials]]);
      const [scenario] = comparison.scenarios;
      const p = Number(/p (?:=|<) ([\d.]+)/.exec(writeComparison(comparison).split('\n\n')[1] ?? '')?.[1]);
      if (scenario?.change === 'worse') expect(p).toBeLessThanOrEqual(0.05);
      if (scenario?.change === 'within chance') expect(p).toBeGreaterThan(0.05);
    }
  }
});
