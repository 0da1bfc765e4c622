import { JUNIT_MARK } from '../../basics/written-by.ts';
import type { Evaluation, ScenarioReport, TrialReport } from './evaluation.ts';

/** Writes a report as JUnit XML, which CI systems read: a suite for each scenario, and a case for each trial. */
export function writeJunit({ scenarios, passed, failed, cannotTell, silent, realTimeMs }: Evaluation): string {
  const totals = writeTotals(passed + failed + cannotTell, failed + silent, cannotTell - silent, realTimeMs);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    JUNIT_MARK,
    `<testsuites name="evaluate" ${totals}>`,
    ...scenarios.flatMap(writeSuite),
    '</testsuites>',
    '',
  ].join('\n');
}

function writeSuite(scenario: ScenarioReport): string[] {
  const { name, trials, failed, cannotTell, silent } = scenario;
  const timeMs = trials.reduce((sum, { realTimeMs }) => sum + realTimeMs, 0);
  return [
    `  <testsuite name="${escapeXml(name)}" ${writeTotals(trials.length, failed + silent, cannotTell - silent, timeMs)}>`,
    ...trials.flatMap((trial) => writeCase(scenario, trial)),
    '  </testsuite>',
  ];
}

function writeCase(scenario: ScenarioReport, trial: TrialReport): string[] {
  const name = `${scenario.name}, trial ${trial.number}`;
  const file = scenario.file === null ? '' : ` file="${escapeXml(scenario.file)}"`;
  const start = `    <testcase classname="${escapeXml(scenario.name)}" name="${escapeXml(name)}"${file} time="${seconds(trial.realTimeMs)}"`;
  const refused = trial.refusedCalls.map(({ call, count }) => `Refused, ${count} times: ${call}\n`).join('');
  const printed = trial.output + refused;
  const output = printed.trim() === '' ? [] : [`      <system-out>${escapeXml(printed)}</system-out>`];
  if (trial.verdict === 'passed') {
    return output.length === 0 ? [`${start}/>`] : [`${start}>`, ...output, '    </testcase>'];
  }
  const unmet = trial.expectations.filter(({ verdict }) => verdict !== 'yes');
  const details = unmet.map((expectation) => `${expectation.text}\n${expectation.message ?? ''}`);
  // What nobody could judge is an error of the trial, not a failure of the agent. What silence ended did not pass.
  const kind = trial.verdict === 'failed' || trial.isSilent ? 'failure' : 'error';
  const type = trial.isSilent ? 'silence' : trial.verdict;
  const summary = trial.reason ?? unmet[0]?.text ?? trial.verdict;
  const text = [...(trial.reason === null ? [] : [trial.reason]), ...details, ...trial.story].join('\n');
  return [
    `${start}>`,
    `      <${kind} type="${type}" message="${escapeXml(summary)}">${escapeXml(text)}</${kind}>`,
    ...output,
    '    </testcase>',
  ];
}

/** Writes the attributes with the numbers of tests, failures and errors, and with the time. */
function writeTotals(tests: number, failures: number, errors: number, timeMs: number): string {
  return `tests="${tests}" failures="${failures}" errors="${errors}" time="${seconds(timeMs)}"`;
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
