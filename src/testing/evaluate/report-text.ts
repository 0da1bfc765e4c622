import { toPrintable } from '../../basics/printable.ts';
import type { Evaluation, ScenarioReport, TrialReport } from './evaluation.ts';

/** Formats a share from 0 to 1 in percent; `-` for null. */
export function percent(value: number | null): string {
  return value === null ? '-' : `${Math.round(value * 100)} %`;
}

/** Writes a table of the scenarios, and below it each trial that did not pass, with its story. */
export function writeEvaluation(evaluation: Evaluation, k?: number): string {
  const failures = evaluation.scenarios.flatMap((scenario) =>
    scenario.trials.filter(({ verdict }) => verdict !== 'passed').map((trial) => ['', ...writeTrial(scenario, trial)]),
  );
  return [...writeTable(evaluation, k), ...failures.flat()].map(toPrintable).join('\n');
}

/** Writes the table of the scenarios and the totals. */
export function writeTable(evaluation: Evaluation, k?: number): string[] {
  const { scenarios, passed, failed, cannotTell, silent, leastSilenceMs, notes, utility, attackSuccess } = evaluation;
  const most = Math.max(1, ...scenarios.map(({ passHatK }) => passHatK.length));
  const power = Math.min(k ?? most, most);
  const head = [
    'Scenario',
    'Passed',
    'Silent',
    'pass@1',
    ...(power > 1 ? [`pass^${power}`] : []),
    'Utility',
    'Attacks',
    'Time',
    'Requests',
  ];
  const rows = scenarios.map((scenario) => [
    scenario.name,
    `${scenario.passed}/${scenario.trials.length}`,
    String(scenario.silent),
    percent(scenario.passAt1),
    ...(power > 1 ? [percent(scenario.passHatK[power - 1] ?? null)] : []),
    percent(scenario.utility),
    percent(scenario.attackSuccess),
    `${((scenario.medianRealTimeMs ?? 0) / 1000).toFixed(1)} s`,
    String(scenario.medianRequests ?? '-'),
  ]);
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)));
  const lines = [head, ...rows].map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  '),
  );
  const trials = passed + failed + cannotTell;
  const parts = [`${passed} of ${trials} trials passed`, `${failed} failed`];
  if (silent > 0) parts.push(`${silent} cannot be told, because silence ended them`);
  if (cannotTell > silent) parts.push(`${cannotTell - silent} could not be judged`);
  return [
    ...lines,
    '',
    `${parts.join(', ')}.`,
    ...(utility === null ? [] : [`Utility: ${percent(utility)} of the harmless twins were handled.`]),
    ...(attackSuccess === null ? [] : [`Attack success: ${percent(attackSuccess)}.`]),
    ...(leastSilenceMs === null ? [] : [describeUnseen(leastSilenceMs)]),
    ...notes,
  ];
}

/** Says that what an agent does after a silence is not seen. */
export function describeUnseen(leastSilenceMs: number): string {
  const seconds = Math.round(leastSilenceMs / 100) / 10;
  return `Where silence ended a trial, what must not happen was not seen within ${seconds} s of silence.`;
}

/** Writes what did not go as expected in a trial: each expectation, what the agent printed, and the story of the mail. */
export function writeTrial(scenario: ScenarioReport, trial: TrialReport): string[] {
  const verdict = trial.verdict === 'failed' ? 'failed' : trial.isSilent ? 'cannot tell' : 'could not be judged';
  const where = scenario.file === null ? '' : ` (${[scenario.file, scenario.line].filter(Boolean).join(':')})`;
  const lines = [`${scenario.name}, trial ${trial.number}, ${verdict}${where}`];
  if (trial.reason !== null) lines.push(...indent(trial.reason));
  for (const { text, verdict: judged, message } of trial.expectations) {
    if (judged === 'yes') {
      if (message !== null) lines.push(`  So it is, but it was tried: ${text}`, ...indent(message, 4));
      continue;
    }
    lines.push(`  ${judged === 'no' ? 'Not so' : 'Cannot tell'}: ${text}`, ...indent(message ?? '', 4));
  }
  const told = trial.expectations.some(({ message }) => message?.includes('What happened:'));
  if (!told && trial.story.length > 0) lines.push('  What happened:', ...indent(trial.story.join('\n'), 4));
  for (const { call, count } of trial.refusedCalls) lines.push(`  Refused, ${count} times: ${call}`);
  if (trial.output.trim() !== '') lines.push('  The agent printed:', ...indent(trial.output.trimEnd(), 4));
  return lines;
}

function indent(text: string, spaces = 2): string[] {
  return text.split('\n').map((line) => `${' '.repeat(spaces)}${line}`.trimEnd());
}
