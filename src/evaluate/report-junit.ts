import { type JunitCase, writeJunitReport } from '../basics/junit.ts';
import { type DescribedScenario, type DescribedTrial, describeEvaluation, textOfCell } from './describe-evaluation.ts';
import type { Evaluation } from './evaluation.ts';

/**
 * How a trial that did not pass is written. What nobody could judge is an error of the trial, not a failure of the agent.
 * What silence ended did not pass.
 */
const ELEMENTS = {
  failed: { element: 'failure', type: 'failed' },
  silent: { element: 'failure', type: 'silence' },
  'not judged': { element: 'error', type: 'cannot tell' },
} as const;

/**
 * A trial that did not pass is no failure if its scenario has reached what is required: CI systems take any failure for
 * one of the whole run. It is written as skipped, as pytest writes a test that was expected to fail.
 */
const TOLERATED = 'skipped';

/**
 * Writes a report as JUnit XML, which CI systems read: a suite for each scenario, and a case for each trial. It has
 * failures or errors only if a scenario has not reached what is required.
 */
export function writeJunit(evaluation: Evaluation): string {
  const { columns, scenarios } = describeEvaluation(evaluation);
  const suites = scenarios.map((scenario) => ({
    name: scenario.name,
    properties: [
      // The first column is the name.
      ...scenario.cells.slice(1).map((cell, index) => [columns[index + 1]?.title ?? '', textOfCell(cell)] as const),
      ['Gate', scenario.gate] as const,
    ],
    cases: [
      ...scenario.trials.map((trial) => caseOf(scenario, trial)),
      ...(scenario.notRun > 0 ? [caseOfNotRun(scenario)] : []),
    ],
  }));
  return writeJunitReport('evaluate', suites, evaluation.realTimeMs);
}

function caseOf(scenario: DescribedScenario, trial: DescribedTrial): JunitCase {
  const { outcome, isTolerated, summary, details, refused, output, realTimeMs } = trial;
  const printed = [...(output.trim() === '' ? [] : [output.trimEnd()]), ...refused];
  const common = {
    className: scenario.name,
    name: `${scenario.name}, trial ${trial.number}`,
    file: scenario.file ?? undefined,
    timeMs: realTimeMs,
    output: printed.join('\n'),
  };
  if (outcome === 'passed') return common;
  const { element, type } = ELEMENTS[outcome];
  const message = isTolerated ? `Tolerated: ${scenario.gate}. ${summary}` : summary;
  return { ...common, result: { element: isTolerated ? TOLERATED : element, type, message, text: details.join('\n') } };
}

/** The case of all trials that were not run, so that an interrupted run is not taken for one that passed. */
function caseOfNotRun({ name, gate, isGateMet, notRun }: DescribedScenario): JunitCase {
  const message = `${notRun} were not run: ${gate}.`;
  return {
    className: name,
    name: `${name}, trials that were not run`,
    timeMs: 0,
    result: { element: isGateMet ? TOLERATED : 'error', type: 'not run', message },
  };
}
