import { formatPercent } from '../basics/percent.ts';
import { toPrintable } from '../basics/printable.ts';
import { plural } from '../basics/text.ts';
import type { AgentSource, Evaluation, TrialReport } from './evaluation.ts';
import {
  benjaminiHochberg,
  type DifferentPairs,
  leastExactly,
  mcNemarExact,
  type TwoRuns,
  testExactly,
  testJointly,
} from './statistics.ts';

/** How probable it may be that a comparison of two runs of the same agent finds any change. */
const LEVEL = 0.05;

/**
 * The three questions of a comparison share the level: whether the agent has changed on the whole, whether more was lost
 * or gained in single scenarios than by chance, and which scenarios have changed. With one scenario they are the same.
 */
const QUESTIONS = 3;

/** How many trials `neededTrials` looks at. */
const MOST_TRIALS = 1_000;

/** How one scenario has changed between two runs. */
export interface ComparedScenario extends TwoRuns {
  /** Its name. */
  readonly name: string;
  /**
   * `better` or `worse` only if chance alone is improbable; `unchanged` if the share of trials that passed is the same;
   * `not judged` if one of the runs has no trial of it; `other scenario` if what it asks of an agent has changed in between,
   * so that nothing shows what is due to the agent.
   */
  readonly change: 'better' | 'worse' | 'within chance' | 'unchanged' | 'not judged' | 'other scenario';
  /** How many trials could not be told before. They count as trials that did not pass. */
  readonly cannotTellBefore: number;
  /** How many trials cannot be told after. They count as trials that did not pass. */
  readonly cannotTellAfter: number;
  /**
   * The value of the exact test of McNemar if the trials are compared in pairs, and otherwise of that of Fisher, adjusted; a
   * change is significant if it is at most 0.05. Null if `not judged`.
   */
  readonly adjustedP: number | null;
  /**
   * If no other scenario changes: a run after that has as many trials, of which at most so many passed, would have been
   * found worse; of pairs, if none is gained. Null if so few trials cannot show any loss.
   */
  readonly worseFrom: number | null;
  /** In the same way: a run of which at least so many passed would have been found better. */
  readonly betterFrom: number | null;
  /**
   * From how many trials in each run the difference that was observed would be found or, without any, a change from all
   * to none. Above 50 it is right to within 5 %. Null if more than 1,000 are needed, and if the change was found.
   */
  readonly neededTrials: number | null;
}

/** How all scenarios together have changed. */
export interface OverallChange extends TwoRuns {
  /**
   * `better` or `worse` if that shows on the whole, by losses or gains, or in a scenario; `mixed` if both do, so that some
   * scenarios got better and others worse.
   */
  readonly change: 'better' | 'worse' | 'mixed' | 'within chance' | 'not judged';
  /** How probable so large a difference on the whole is by chance, adjusted; null if `not judged`. */
  readonly adjustedP: number | null;
  /** How probable such losses in single scenarios are by chance, adjusted; null if `not judged`. */
  readonly adjustedPOfLosses: number | null;
  /** How probable such gains in single scenarios are by chance, adjusted; null if `not judged`. */
  readonly adjustedPOfGains: number | null;
}

/** Two runs, compared. */
export interface Comparison {
  /** The names of the agents of the run before and of the run after; null for one without a name. */
  readonly agents: {
    readonly before: string | null;
    readonly after: string | null;
  };
  /** All scenarios that both runs have, together. */
  readonly overall: OverallChange;
  /** The scenarios that both runs have. */
  readonly scenarios: readonly ComparedScenario[];
  /** The names of the scenarios that only the run before has. */
  readonly onlyBefore: readonly string[];
  /** The names of the scenarios that only the run after has. */
  readonly onlyAfter: readonly string[];
  /** The two runs, and what else than the agent differs between them, in sentences. */
  readonly notes: readonly string[];
}

/** What a comparison reads of a scenario in a report. A report of an earlier version may lack `cannotTell`. */
export type ComparableScenario = Pick<Evaluation['scenarios'][number], 'name' | 'passed' | 'failed'> & {
  readonly cannotTell?: number | undefined;
  readonly hash?: string | undefined;
  readonly trials?: readonly Pick<TrialReport, 'number' | 'seed' | 'verdict'>[] | undefined;
};

/** What a comparison reads of a report: the column of one agent. */
export interface ComparableEvaluation {
  /** The agent. */
  readonly agent?: AgentSource | undefined;
  /** The scenarios. */
  readonly scenarios: readonly ComparableScenario[];
  /** The program that wrote it. */
  readonly writtenBy?: Evaluation['writtenBy'] | undefined;
  /** How it came about. */
  readonly provenance?: Evaluation['provenance'] | undefined;
  /** The seed of the run. */
  readonly seed?: number | undefined;
}

/** Returns the columns of a report: what each of its agents has reached. */
export function listColumns({ agents, scenarios, writtenBy, provenance, seed }: Evaluation): ComparableEvaluation[] {
  return agents.map((agent) => {
    const own = scenarios.filter((scenario) => scenario.agent === agent.name);
    return { agent, scenarios: own, writtenBy, provenance, seed };
  });
}

/**
 * Compares two runs by the scenarios that both have: of an agent before and after, or of two agents. If the agent is the
 * same, a comparison finds any change in at most 5 % of all cases. Every trial counts; one that cannot be told did not
 * pass. The trials of a scenario are compared in pairs if both runs have the same ones, by their numbers and seeds, and
 * if they are enough to show anything in this way.
 */
export function compareEvaluations(before: ComparableEvaluation, after: ComparableEvaluation): Comparison {
  const afterByName = new Map(after.scenarios.map((scenario) => [scenario.name, scenario]));
  const beforeNames = new Set(before.scenarios.map(({ name }) => name));
  const both = before.scenarios.flatMap((scenario) => {
    const other = afterByName.get(scenario.name);
    return other ? [numbersOf(scenario, other)] : [];
  });
  const judged = both.filter((runs) => isJudged(runs) && !runs.isOther);
  const questions = judged.length > 1 ? QUESTIONS : 1;
  const leastPairs = countLeastPairs(questions);
  // The number of trials decides on the test, and not their results, so that chance finds no more changes.
  for (const runs of both) if (runs.trialsBefore < leastPairs) runs.pairs = undefined;
  // What could not be found in any case, because all trials passed or they are few, takes nothing from the others (Tarone,
  // "A Modified Bonferroni Method for Discrete Data", Biometrics 46, 1990).
  const testable = judged.filter((runs) => leastExactly(runs) * questions <= LEVEL);
  const values = benjaminiHochberg(testable.map((runs) => Math.min(1, testExactly(runs) * questions)));
  const adjusted = new Map(testable.map((runs, index) => [runs, values[index] ?? 1]));
  const scenarios = both.map((runs): ComparedScenario => {
    const { isOther, canPair: _, ...numbers } = runs;
    if (isOther || !isJudged(numbers)) {
      return {
        ...numbers,
        change: isOther ? 'other scenario' : 'not judged',
        adjustedP: null,
        worseFrom: null,
        betterFrom: null,
        neededTrials: null,
      };
    }
    const adjustedP = adjusted.get(runs) ?? 1;
    // How many tests a change of this scenario alone has to stand out from.
    const tests = questions * (testable.length + (adjusted.has(runs) ? 0 : 1));
    const change = findChange(numbers, adjustedP);
    return {
      ...numbers,
      change,
      adjustedP,
      ...findLimits(numbers, tests),
      neededTrials: change === 'worse' || change === 'better' ? null : countNeededTrials(numbers, tests),
    };
  });
  return {
    agents: { before: before.agent?.name ?? null, after: after.agent?.name ?? null },
    overall: compareOverall(judged, questions, new Set(scenarios.map(({ change }) => change))),
    scenarios,
    onlyBefore: before.scenarios.map(({ name }) => name).filter((name) => !afterByName.has(name)),
    onlyAfter: after.scenarios.map(({ name }) => name).filter((name) => !beforeNames.has(name)),
    // Agents of one report differ in what they are, and in nothing else.
    notes: [
      ...(before.provenance !== undefined && before.provenance === after.provenance
        ? []
        : listDifferences(before, after)),
      ...describePairs(judged, leastPairs),
    ],
  };
}

/** Returns whether a comparison shows that the agent got worse: on the whole, or in some scenarios. */
export function isWorse({ overall }: Comparison): boolean {
  return overall.change === 'worse' || overall.change === 'mixed';
}

/** A scenario that two runs have. */
interface TwoRunsOfScenario extends TwoRuns {
  readonly name: string;
  readonly cannotTellBefore: number;
  readonly cannotTellAfter: number;
  /** Whether it asks something else of an agent after than before. */
  readonly isOther: boolean;
  /** Whether its trials are pairs, also if these are too few; undefined if a report does not list its trials. */
  readonly canPair: boolean | undefined;
  pairs: DifferentPairs | undefined;
}

function numbersOf(before: ComparableScenario, after: ComparableScenario): TwoRunsOfScenario {
  const [cannotTellBefore, cannotTellAfter] = [before.cannotTell ?? 0, after.cannotTell ?? 0];
  const pairs = before.trials && after.trials && countPairs(before.trials, after.trials);
  return {
    name: before.name,
    passedBefore: before.passed,
    trialsBefore: before.passed + before.failed + cannotTellBefore,
    passedAfter: after.passed,
    trialsAfter: after.passed + after.failed + cannotTellAfter,
    cannotTellBefore,
    cannotTellAfter,
    isOther: before.hash !== undefined && after.hash !== undefined && before.hash !== after.hash,
    canPair: before.trials && after.trials && pairs !== undefined,
    pairs,
  };
}

/** Counts the pairs of trials with different results; undefined if the two runs have not the same trials. */
function countPairs(
  before: NonNullable<ComparableScenario['trials']>,
  after: NonNullable<ComparableScenario['trials']>,
): DifferentPairs | undefined {
  const others = new Map(after.map((trial) => [trial.number, trial]));
  if (others.size !== before.length || after.length !== before.length) return undefined;
  let [lost, gained] = [0, 0];
  for (const { number, seed, verdict } of before) {
    const other = others.get(number);
    if (other?.seed !== seed) return undefined;
    const [passedBefore, passedAfter] = [verdict === 'passed', other.verdict === 'passed'];
    if (passedBefore && !passedAfter) lost += 1;
    if (!passedBefore && passedAfter) gained += 1;
  }
  return { lost, gained };
}

/** Returns how many pairs of trials are needed so that a change of all of them is found. */
function countLeastPairs(questions: number): number {
  let pairs = 1;
  while (mcNemarExact({ lost: pairs, gained: 0 }) * questions > LEVEL) pairs += 1;
  return pairs;
}

function describePairs(judged: readonly TwoRunsOfScenario[], leastPairs: number): string[] {
  const paired = judged.filter(({ pairs }) => pairs !== undefined).length;
  const few = judged.filter(({ pairs, canPair }) => canPair === true && pairs === undefined).length;
  const others = judged.filter(({ canPair }) => canPair === false).length;
  const notes: string[] = [];
  if (paired > 0) {
    notes.push(
      `The trials of ${plural(paired, 'scenario')} are compared in pairs of the same number and seed, by the exact test of McNemar.`,
    );
  }
  if (few > 0) {
    notes.push(
      `The trials of ${plural(few, 'scenario')} are not compared in pairs, because fewer than ${leastPairs} pairs cannot show even a complete change.`,
    );
  }
  if (others > 0) {
    notes.push(
      `The trials of ${plural(others, 'scenario')} are no pairs, because their seeds or numbers are not the same.`,
    );
  }
  return notes;
}

/** What else than the agent may differ between two runs, and how people call it. */
const FACTS: readonly (readonly [name: string, of: (run: ComparableEvaluation) => unknown])[] = [
  [
    'commit',
    ({ provenance }) =>
      provenance?.git && `${provenance.git.commit.slice(0, 12)}${provenance.git.isClean ? '' : ' with changes'}`,
  ],
  ['command', ({ agent }) => agent?.command?.join(' ') ?? agent?.url],
  ['seed', ({ seed }) => seed],
  ['version of agent-mailbox-mock', ({ writtenBy }) => writtenBy?.version],
  ['version of Node.js', ({ provenance }) => provenance?.node],
  ['longest time of a trial', ({ provenance }) => provenance && `${provenance.timeoutMs} ms`],
  ['quiet time', ({ provenance }) => provenance && `${provenance.quietMs} ms`],
  ['fixture', ({ provenance }) => provenance && (provenance.fixtures?.slice(0, 12) ?? 'the default one')],
];

function listDifferences(before: ComparableEvaluation, after: ComparableEvaluation): string[] {
  return FACTS.flatMap(([name, of]) => {
    const [was, is] = [of(before) ?? undefined, of(after) ?? undefined];
    return was === undefined || is === undefined || was === is ? [] : `The ${name} was ${was}, and is ${is}.`;
  });
}

function isJudged({ trialsBefore, trialsAfter }: TwoRuns): boolean {
  return trialsBefore > 0 && trialsAfter > 0;
}

function compareOverall(
  judged: readonly TwoRuns[],
  questions: number,
  found: ReadonlySet<ComparedScenario['change']>,
): OverallChange {
  const sumOf = (field: Exclude<keyof TwoRuns, 'pairs'>) => judged.reduce((sum, runs) => sum + runs[field], 0);
  const sums = {
    passedBefore: sumOf('passedBefore'),
    trialsBefore: sumOf('trialsBefore'),
    passedAfter: sumOf('passedAfter'),
    trialsAfter: sumOf('trialsAfter'),
  };
  if (judged.length === 0) {
    return { ...sums, change: 'not judged', adjustedP: null, adjustedPOfLosses: null, adjustedPOfGains: null };
  }
  const { onTheWhole, losses, gains } = testJointly(judged);
  const adjustedP = Math.min(1, onTheWhole * questions);
  // Losses and gains are two tests. With one scenario, the test on the whole says all.
  const isOne = judged.length === 1;
  const adjustedPOfLosses = isOne ? 1 : Math.min(1, losses * 2 * questions);
  const adjustedPOfGains = isOne ? 1 : Math.min(1, gains * 2 * questions);
  // Compared with what was to be expected in each scenario, not by the sums: the scenarios may have different numbers of
  // trials.
  const gained = judged.reduce((sum, runs) => {
    if (runs.pairs) return sum + (runs.pairs.gained - runs.pairs.lost) / 2;
    const passed = runs.passedBefore + runs.passedAfter;
    return sum + runs.passedAfter - (passed * runs.trialsAfter) / (runs.trialsBefore + runs.trialsAfter);
  }, 0);
  const hasLost = found.has('worse') || adjustedPOfLosses <= LEVEL || (adjustedP <= LEVEL && gained < 0);
  const hasGained = found.has('better') || adjustedPOfGains <= LEVEL || (adjustedP <= LEVEL && gained > 0);
  const change = hasLost && hasGained ? 'mixed' : hasLost ? 'worse' : hasGained ? 'better' : 'within chance';
  return { ...sums, change, adjustedP, adjustedPOfLosses, adjustedPOfGains };
}

function findChange(
  { passedBefore, trialsBefore, passedAfter, trialsAfter }: TwoRuns,
  adjustedP: number,
): ComparedScenario['change'] {
  // Multiplied, because shares are rounded.
  const difference = passedAfter * trialsBefore - passedBefore * trialsAfter;
  if (difference === 0) return 'unchanged';
  if (adjustedP > LEVEL) return 'within chance';
  return difference > 0 ? 'better' : 'worse';
}

/** Finds the results of the run after that would have been found worse or better than the one before. */
function findLimits(runs: TwoRuns, tests: number): Pick<ComparedScenario, 'worseFrom' | 'betterFrom'> {
  const { passedBefore, trialsBefore, trialsAfter } = runs;
  const isFound = (passedAfter: number) => {
    const [lost, gained] = [passedBefore - passedAfter, passedAfter - passedBefore].map((each) => Math.max(0, each));
    const pairs = runs.pairs && { lost: lost ?? 0, gained: gained ?? 0 };
    return testExactly({ ...runs, passedAfter, pairs }) * tests <= LEVEL;
  };
  const same = (passedBefore * trialsAfter) / trialsBefore;
  // The farther from the result before, the smaller the value of the test, so the limits are found by halving.
  const worse = findFirst(Math.ceil(same), (distance) => isFound(Math.ceil(same) - distance));
  const better = findFirst(trialsAfter - Math.floor(same), (distance) => isFound(Math.floor(same) + distance));
  return {
    worseFrom: worse === undefined ? null : Math.ceil(same) - worse,
    betterFrom: better === undefined ? null : Math.floor(same) + better,
  };
}

/** Returns the smallest number from 1 to `most` for which something holds that holds for all greater ones, too. */
function findFirst(most: number, holds: (number: number) => boolean): number | undefined {
  if (most < 1 || !holds(most)) return undefined;
  let [low, high] = [1, most];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Returns from how many trials in each run the shares of two runs would be found to differ. */
function countNeededTrials({ passedBefore, trialsBefore, passedAfter, trialsAfter, pairs }: TwoRuns, tests: number) {
  const isSame = passedBefore * trialsAfter === passedAfter * trialsBefore;
  const [before, after] = isSame ? [1, 0] : [passedBefore / trialsBefore, passedAfter / trialsAfter];
  const [lost, gained] = isSame ? [1, 0] : [(pairs?.lost ?? 0) / trialsBefore, (pairs?.gained ?? 0) / trialsBefore];
  for (let trials = 1; trials <= MOST_TRIALS; trials = Math.ceil(trials < 50 ? trials + 1 : trials * 1.05)) {
    const runs = {
      passedBefore: Math.round(before * trials),
      trialsBefore: trials,
      passedAfter: Math.round(after * trials),
      trialsAfter: trials,
      pairs: pairs && { lost: Math.round(lost * trials), gained: Math.round(gained * trials) },
    };
    if (testExactly(runs) * tests <= LEVEL) return trials;
  }
  return null;
}

/** The sections of a comparison, and the changes that each lists. */
const SECTIONS = [
  ['Worse:', 'worse'],
  ['Better:', 'better'],
  ['Within chance:', 'within chance'],
  ['Unchanged:', 'unchanged'],
  ['No trial in one of the runs:', 'not judged'],
  ['The scenario has changed in between, so nothing is compared:', 'other scenario'],
] as const;

/** What people read of a comparison: the terminal and Markdown show these texts, each in its form. */
export interface DescribedComparison {
  /** The agents, if they have names: one before and after, such as `rules`, or two, such as `rules → model`. */
  readonly agents: string | null;
  /** What has changed on the whole. */
  readonly headline: string;
  /** The scenarios by what has become of them. None is empty. */
  readonly sections: readonly { readonly title: string; readonly lines: readonly string[] }[];
  /** How many unchanged scenarios are not listed; null if there are none. */
  readonly unlisted: string | null;
  /** What a reader must know. */
  readonly notes: readonly string[];
}

/**
 * Describes what has changed on the whole, and which scenarios got better or worse, differ within chance, can be told less
 * often, are gone or are new. Unchanged ones are only counted, unless `all` is set.
 */
export function describeComparison(comparison: Comparison, { all = false } = {}): DescribedComparison {
  const { overall, scenarios, onlyBefore, onlyAfter, notes } = comparison;
  const unchanged = scenarios.filter(({ change }) => change === 'unchanged').length;
  const shown = SECTIONS.filter(([, change]) => all || change !== 'unchanged');
  const lessTold = scenarios.filter(({ cannotTellBefore, trialsBefore, cannotTellAfter, trialsAfter }) => {
    return cannotTellAfter * trialsBefore > cannotTellBefore * trialsAfter;
  });
  const sections = [
    ...shown.map(([title, own]) => ({ title, lines: scenarios.filter(({ change }) => change === own).map(writeLine) })),
    {
      title: 'Cannot be told more often than before:',
      lines: lessTold.map(({ name, cannotTellBefore, trialsBefore, cannotTellAfter, trialsAfter }) => {
        return `${name}: ${cannotTellBefore}/${trialsBefore} → ${cannotTellAfter}/${trialsAfter} trials, which count as not passed`;
      }),
    },
    { title: 'Gone, so nothing is compared:', lines: onlyBefore },
    { title: 'New, so nothing is compared:', lines: onlyAfter },
  ];
  const unlisted = `Unchanged: ${plural(unchanged, 'scenario')}; --all lists ${unchanged === 1 ? 'it' : 'them'}.`;
  const { before, after } = comparison.agents;
  const names = [before, after].map((name) => name ?? 'the agent without a name');
  return {
    agents: before === null && after === null ? null : [...new Set(names)].join(' → '),
    headline: describeOverall(overall),
    sections: sections.filter(({ lines }) => lines.length > 0),
    unlisted: unchanged > 0 && !all ? unlisted : null,
    notes: [...notes, 'If the agent is the same, any change is found in at most 5 % of such comparisons.'],
  };
}

/** Writes a comparison for a terminal. */
export function writeComparison(comparison: Comparison, { all = false } = {}): string {
  const { agents, headline, sections, unlisted, notes } = describeComparison(comparison, { all });
  const title = agents === null ? [] : [`${agents}:`];
  const lists = sections.flatMap(({ title, lines }) => [title, ...lines.map((line) => `  ${line}`), '']);
  const rest = unlisted === null ? [] : [unlisted, ''];
  return [...title, headline, '', ...lists, ...rest, ...notes].map(toPrintable).join('\n');
}

/** The first words of the sentence about all scenarios. */
const OVERALL = {
  better: 'Better',
  worse: 'Worse',
  mixed: 'Better in some scenarios and worse in others',
  'within chance': 'Within chance',
  'not judged': 'No scenario has trials in both runs',
} as const;

function describeOverall(overall: OverallChange): string {
  const { change, adjustedP, adjustedPOfLosses, adjustedPOfGains } = overall;
  if (adjustedP === null) return `${OVERALL[change]}.`;
  const tests = [
    `on the whole ${showP(adjustedP)}`,
    `losses in single scenarios ${showP(adjustedPOfLosses ?? 1)}`,
    `gains in single scenarios ${showP(adjustedPOfGains ?? 1)}`,
  ];
  return `${OVERALL[change]}: ${showResults(overall)}; ${tests.join(', ')}.`;
}

function writeLine(scenario: ComparedScenario): string {
  const { name, change, adjustedP, pairs } = scenario;
  // The numbers of trials that passed do not say it if some pairs were lost and others gained.
  const turned = pairs && pairs.lost > 0 && pairs.gained > 0 ? `, ${pairs.lost} lost and ${pairs.gained} gained` : '';
  const line = `${name}: ${showResults(scenario)}${turned}`;
  if (adjustedP === null) return line;
  if (change === 'better' || change === 'worse') return `${line}, ${showP(adjustedP)}`;
  return `${line}${change === 'unchanged' ? '' : `, ${showP(adjustedP)}`}; ${describePower(scenario)}`;
}

/** Says which difference the trials of a scenario could have shown, and how many trials it needs. */
function describePower({ change, worseFrom, betterFrom, trialsAfter, neededTrials }: ComparedScenario): string {
  const limits = [
    ...(worseFrom === null ? [] : [`a fall to ${worseFrom}/${trialsAfter}`]),
    ...(betterFrom === null ? [] : [`a rise to ${betterFrom}/${trialsAfter}`]),
  ];
  const shown =
    limits.length === 0 ? 'so few trials cannot show a change' : `these trials could have shown ${limits.join(' or ')}`;
  if (change === 'unchanged' && limits.length > 0) return shown;
  const needs = neededTrials === null ? `more than ${MOST_TRIALS} trials` : plural(neededTrials, 'trial');
  return `${shown}; ${change === 'unchanged' ? 'a change from all to none' : 'this difference'} needs ${needs}`;
}

function showResults({ passedBefore, trialsBefore, passedAfter, trialsAfter }: TwoRuns): string {
  const show = (passed: number, trials: number) =>
    `${passed}/${trials} (${formatPercent(trials === 0 ? null : passed / trials)})`;
  return `${show(passedBefore, trialsBefore)} → ${show(passedAfter, trialsAfter)}`;
}

/** Shows a p-value with as many decimals, from three, as show on which side of the level it is. */
function showP(value: number): string {
  if (value < 0.001) return 'p < 0.001';
  for (let decimals = 3; decimals < 10; decimals += 1) {
    const text = value.toFixed(decimals);
    if (Number(text) <= LEVEL === value <= LEVEL) return `p = ${text}`;
  }
  return `p = ${value}`;
}
