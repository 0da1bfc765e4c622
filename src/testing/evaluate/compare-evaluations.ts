import type { Evaluation, ScenarioReport } from './evaluation.ts';
import { percent } from './report-text.ts';
import { fisherExact, holm } from './statistics.ts';

/** The level of significance. */
const LEVEL = 0.05;

/** How one scenario has changed between two runs. */
export interface ComparedScenario {
  readonly name: string;
  /** `better` or `worse` only if chance alone is improbable. */
  readonly change: 'better' | 'worse' | 'within chance' | 'not judged';
  readonly passedBefore: number;
  readonly trialsBefore: number;
  readonly passedAfter: number;
  readonly trialsAfter: number;
  /** The p-value of Fisher's exact test after Holm's correction over the scenarios; null if a run has no judged trial. */
  readonly adjustedP: number | null;
}

/** Two runs, compared. */
export interface Comparison {
  readonly scenarios: readonly ComparedScenario[];
  /** The names of the scenarios that only one of the runs has. */
  readonly onlyBefore: readonly string[];
  readonly onlyAfter: readonly string[];
}

/**
 * Compares two runs by their scenarios: by Fisher's exact test, two-sided, at 0.05, with Holm's correction over the
 * scenarios that both have. Trials that nobody could judge do not count; those that silence ended did not pass.
 */
export function compareEvaluations(before: Evaluation, after: Evaluation): Comparison {
  const afterByName = new Map(after.scenarios.map((scenario) => [scenario.name, scenario]));
  const beforeNames = new Set(before.scenarios.map(({ name }) => name));
  const both = before.scenarios.flatMap((scenario) => {
    const other = afterByName.get(scenario.name);
    return other ? [numbersOf(scenario, other)] : [];
  });
  const judged = both.filter(({ trialsBefore, trialsAfter }) => trialsBefore > 0 && trialsAfter > 0);
  const adjusted = holm(judged.map(fisherExact));
  return {
    scenarios: both.map((numbers): ComparedScenario => {
      const index = judged.indexOf(numbers);
      const adjustedP = adjusted[index];
      if (adjustedP === undefined) return { ...numbers, change: 'not judged', adjustedP: null };
      const difference = numbers.passedAfter / numbers.trialsAfter - numbers.passedBefore / numbers.trialsBefore;
      const isReal = adjustedP <= LEVEL && difference !== 0;
      return { ...numbers, change: isReal ? (difference > 0 ? 'better' : 'worse') : 'within chance', adjustedP };
    }),
    onlyBefore: before.scenarios.map(({ name }) => name).filter((name) => !afterByName.has(name)),
    onlyAfter: after.scenarios.map(({ name }) => name).filter((name) => !beforeNames.has(name)),
  };
}

function numbersOf(before: ScenarioReport, after: ScenarioReport) {
  return {
    name: before.name,
    passedBefore: before.passed,
    trialsBefore: countJudged(before),
    passedAfter: after.passed,
    trialsAfter: countJudged(after),
  };
}

/** Returns how many trials count in shares. A report of an earlier version has no trials that silence ended. */
function countJudged({
  passed,
  failed,
  silent = 0,
}: Pick<ScenarioReport, 'passed' | 'failed'> & Partial<ScenarioReport>) {
  return passed + failed + silent;
}

/** Writes what got better, what got worse, and what is within chance. */
export function writeComparison({ scenarios, onlyBefore, onlyAfter }: Comparison): string {
  const titles = {
    worse: 'Worse:',
    better: 'Better:',
    'within chance': 'Within chance:',
    'not judged': 'Not judged in one of the runs:',
  } as const;
  const sections = (Object.keys(titles) as ComparedScenario['change'][]).flatMap((change) => {
    const own = scenarios.filter((scenario) => scenario.change === change);
    return own.length === 0 ? [] : [titles[change], ...own.map(writeLine), ''];
  });
  const missing = [
    ...(onlyBefore.length > 0 ? [`Only before: ${onlyBefore.join(', ')}`] : []),
    ...(onlyAfter.length > 0 ? [`Only after: ${onlyAfter.join(', ')}`] : []),
  ];
  const method = `By Fisher's exact test, two-sided, at ${LEVEL}, with Holm's correction over the scenarios.`;
  return [...sections, ...missing, method].join('\n');
}

function writeLine({
  name,
  passedBefore,
  trialsBefore,
  passedAfter,
  trialsAfter,
  adjustedP,
}: ComparedScenario): string {
  const share = (passed: number, trials: number) =>
    `${passed}/${trials} (${percent(trials === 0 ? null : passed / trials)})`;
  const p = adjustedP === null ? '' : `, p = ${adjustedP < 0.001 ? '< 0.001' : adjustedP.toFixed(3)}`;
  return `  ${name}: ${share(passedBefore, trialsBefore)} → ${share(passedAfter, trialsAfter)}${p.replace('= <', '<')}`;
}
