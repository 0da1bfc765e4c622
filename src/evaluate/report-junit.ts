import { JUNIT_MARK } from '../basics/written-by.ts';
import { type DescribedScenario, type DescribedTrial, describeEvaluation } from './describe-evaluation.ts';
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
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    JUNIT_MARK,
    `<testsuites name="evaluate" ${writeTotals(scenarios, evaluation.realTimeMs)}>`,
    ...scenarios.flatMap((scenario) => writeSuite(scenario, columns)),
    '</testsuites>',
    '',
  ].join('\n');
}

function writeSuite(scenario: DescribedScenario, columns: readonly string[]): string[] {
  const { name, cells, gate, trials } = scenario;
  const timeMs = trials.reduce((sum, { realTimeMs }) => sum + realTimeMs, 0);
  const writeProperty = (key: string, value: string) =>
    `      <property name="${escapeXml(key)}" value="${escapeXml(value)}"/>`;
  return [
    `  <testsuite name="${escapeXml(name)}" ${writeTotals([scenario], timeMs)}>`,
    '    <properties>',
    // The first column is the name.
    ...columns.slice(1).map((column, index) => writeProperty(column, cells[index + 1] ?? '')),
    writeProperty('Gate', gate),
    '    </properties>',
    ...trials.flatMap((trial) => writeCase(scenario, trial)),
    ...(scenario.notRun > 0 ? writeNotRun(scenario) : []),
    '  </testsuite>',
  ];
}

function writeCase(scenario: DescribedScenario, trial: DescribedTrial): string[] {
  const { outcome, isTolerated, summary, details, refused, output, realTimeMs } = trial;
  const name = `${scenario.name}, trial ${trial.number}`;
  const file = scenario.file === null ? '' : ` file="${escapeXml(scenario.file)}"`;
  const start = `    <testcase classname="${escapeXml(scenario.name)}" name="${escapeXml(name)}"${file} time="${seconds(realTimeMs)}"`;
  const printed = [...(output.trim() === '' ? [] : [output.trimEnd()]), ...refused].join('\n');
  const lines = printed === '' ? [] : [`      <system-out>${escapeXml(printed)}</system-out>`];
  if (outcome !== 'passed') {
    const { element, type } = ELEMENTS[outcome];
    const shown = isTolerated ? TOLERATED : element;
    const message = isTolerated ? `Tolerated: ${scenario.gate}. ${summary}` : summary;
    lines.unshift(
      `      <${shown} type="${type}" message="${escapeXml(message)}">${escapeXml(details.join('\n'))}</${shown}>`,
    );
  }
  return lines.length === 0 ? [`${start}/>`] : [`${start}>`, ...lines, '    </testcase>'];
}

/** Writes one case for all trials that were not run, so that an interrupted run is not taken for one that passed. */
function writeNotRun({ name, gate, isGateMet, notRun }: DescribedScenario): string[] {
  const shown = isGateMet ? TOLERATED : 'error';
  return [
    `    <testcase classname="${escapeXml(name)}" name="${escapeXml(name)}, trials that were not run" time="0.000">`,
    `      <${shown} type="not run" message="${notRun} were not run: ${gate}."/>`,
    '    </testcase>',
  ];
}

/** Writes the attributes with the numbers of tests, failures, errors and skipped ones, and with the time. */
function writeTotals(scenarios: readonly DescribedScenario[], timeMs: number): string {
  const trials = scenarios.flatMap((scenario) => scenario.trials);
  const isUnmet = ({ outcome, isTolerated }: DescribedTrial) => outcome !== 'passed' && !isTolerated;
  const failures = trials.filter((trial) => isUnmet(trial) && trial.outcome !== 'not judged').length;
  const notJudged = trials.filter((trial) => isUnmet(trial) && trial.outcome === 'not judged').length;
  const notRun = scenarios.filter((scenario) => scenario.notRun > 0);
  const errors = notJudged + notRun.filter(({ isGateMet }) => !isGateMet).length;
  const skipped =
    trials.filter(({ isTolerated }) => isTolerated).length + notRun.filter(({ isGateMet }) => isGateMet).length;
  return (
    `tests="${trials.length + notRun.length}" failures="${failures}" errors="${errors}" skipped="${skipped}" ` +
    `time="${seconds(timeMs)}"`
  );
}

function seconds(timeMs: number): string {
  return (timeMs / 1000).toFixed(3);
}

/** Escapes a text for XML 1.0, and replaces characters that XML cannot have. */
export function escapeXml(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
    .replace(/[<>&"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
