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

/** The trials of one scenario: whether each passed. Trials with the same place have the same seed. */
type Trials = readonly boolean[];

function toReportOfTrials(scenarios: readonly Trials[], seeds: (index: number) => number = (index) => index) {
  return {
    scenarios: scenarios.map((trials, index) => ({
      name: `s${index}`,
      passed: trials.filter(Boolean).length,
      failed: trials.filter((isPassed) => !isPassed).length,
      trials: trials.map((isPassed, place) => ({
        number: place + 1,
        seed: seeds(place),
        verdict: isPassed ? ('passed' as const) : ('failed' as const),
      })),
    })),
  };
}

/** All ways in which so many pairs of trials can end: how many passed in both runs, only before, only after, in neither. */
function* listTables(pairs: number): Generator<readonly [both: number, lost: number, gained: number, neither: number]> {
  for (let both = 0; both <= pairs; both += 1)
    for (let lost = 0; both + lost <= pairs; lost += 1)
      for (let gained = 0; both + lost + gained <= pairs; gained += 1)
        yield [both, lost, gained, pairs - both - lost - gained];
}

function toTrials([both, lost, gained, neither]: readonly [number, number, number, number]) {
  const repeat = (count: number, value: boolean) => Array.from({ length: count }, () => value);
  return {
    before: [...repeat(both + lost, true), ...repeat(gained + neither, false)],
    after: [...repeat(both, true), ...repeat(lost, false), ...repeat(gained, true), ...repeat(neither, false)],
  };
}

test.for([5, 6, 7, 10, 14])(
  'of pairs of trials too, at most 5 %% find a change if there is none: %i pairs',
  (pairs) => {
    const factorial = (number: number): number => (number < 2 ? 1 : number * factorial(number - 1));
    const found = [...listTables(pairs)].filter((table) => {
      const { before, after } = toTrials(table);
      return findsAny(compareEvaluations(toReportOfTrials([before]), toReportOfTrials([after])));
    });
    // Some trials are harder than others, for both agents: easy ones pass with one probability, hard ones with another.
    for (const [easy, hard] of [
      [0.5, 0.5],
      [0.9, 0.9],
      [0.95, 0.2],
      [0.7, 0.1],
      [1, 0.5],
      [0.8, 0],
    ] as const) {
      const mean = (value: (share: number) => number) => (value(easy) + value(hard)) / 2;
      const [both, one, neither] = [mean((p) => p * p), mean((p) => p * (1 - p)), mean((p) => (1 - p) ** 2)];
      const alarms = found.reduce((sum, table) => {
        const ways = table.reduce((all, count) => all / factorial(count), factorial(pairs));
        return sum + ways * both ** table[0] * one ** (table[1] + table[2]) * neither ** table[3];
      }, 0);
      expect(alarms, `${easy} and ${hard}`).toBeLessThanOrEqual(0.05);
    }
  },
);

test('trials are compared in pairs if both runs have the same ones and enough, and the text says so', () => {
  const trials = (pattern: string) => [...pattern].map((each) => each === '+');
  const [before, after] = [trials('+++++++++------'), trials('+++++++++++++++')];
  // All six that failed pass now, and none was lost.
  const paired = compareEvaluations(toReportOfTrials([before]), toReportOfTrials([after]));
  expect(paired.scenarios[0]).toMatchObject({ change: 'better', pairs: { lost: 0, gained: 6 }, adjustedP: 0.03125 });
  expect(paired.notes).toEqual([
    'The trials of 1 scenario are compared in pairs of the same number and seed, by the exact test of McNemar.',
  ]);
  const otherSeeds = compareEvaluations(
    toReportOfTrials([before]),
    toReportOfTrials([after], (index) => index + 1),
  );
  expect(otherSeeds.scenarios[0]?.pairs).toBeUndefined();
  expect(otherSeeds.notes).toEqual([
    'The trials of 1 scenario are no pairs, because their seeds or numbers are not the same.',
  ]);
  const few = compareEvaluations(toReportOfTrials([trials('+++++')]), toReportOfTrials([trials('-----')]));
  expect(few.scenarios[0]).toMatchObject({ change: 'worse', pairs: undefined });
  expect(few.notes).toEqual([
    'The trials of 1 scenario are not compared in pairs, because fewer than 6 pairs cannot show even a complete change.',
  ]);
  const mixed = compareEvaluations(toReportOfTrials([trials('++++++----')]), toReportOfTrials([trials('+++---+---')]));
  expect(writeComparison(mixed)).toContain(
    's0: 6/10 (60 %) → 4/10 (40 %), 3 lost and 1 gained, p = 1.000; these trials could have shown a fall to 0/10; this difference needs ',
  );
});

test('what pairs could have shown is what they show, if nothing else turns around', () => {
  for (const passed of [10, 8, 6]) {
    const before = Array.from({ length: 10 }, (_, index) => index < passed);
    const changeTo = (after: number) =>
      compareEvaluations(
        toReportOfTrials([before]),
        toReportOfTrials([Array.from({ length: 10 }, (_, index) => index < after)]),
      ).scenarios[0];
    const { worseFrom, betterFrom } = changeTo(passed) ?? {};
    const changes = Array.from({ length: 11 }, (_, after) => changeTo(after)?.change ?? '');
    expect(changes.lastIndexOf('worse')).toBe(worseFrom ?? -1);
    expect(changes.indexOf('better')).toBe(betterFrom ?? -1);
  }
});

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
