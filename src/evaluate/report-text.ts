import { toPrintable } from '../basics/printable.ts';
import {
  type DescribedEvaluation,
  type DescribedTrial,
  describeEvaluation,
  indent,
  listTotals,
  textOfCell,
} from './describe-evaluation.ts';
import type { Evaluation } from './evaluation.ts';

/** Writes a table of the scenarios, and below it each trial that did not pass, with its story. */
export function writeEvaluation(evaluation: Evaluation): string {
  const described = describeEvaluation(evaluation);
  const trials = described.scenarios.flatMap((scenario) => scenario.trials);
  const unmet = trials.filter(({ outcome }) => outcome !== 'passed').flatMap((trial) => ['', ...writeTrial(trial)]);
  return [...writeTable(described), ...unmet].map(toPrintable).join('\n');
}

/** Writes the table of the scenarios and the totals. */
export function writeTable({ columns, scenarios, totals }: DescribedEvaluation): string[] {
  const rows = [columns.map(({ title }) => title), ...scenarios.map(({ cells }) => cells.map(textOfCell))];
  const widths = columns.map((_, column) => rows.reduce((most, row) => Math.max(most, row[column]?.length ?? 0), 0));
  const lines = rows.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  '),
  );
  return [...lines, '', ...listTotals(totals)];
}

function writeTrial({ title, details, refused, output }: DescribedTrial): string[] {
  const lines = [title, ...[...details, ...refused].flatMap(indent)];
  if (output.trim() !== '') lines.push('  The agent printed:', ...indent(output.trimEnd()).flatMap(indent));
  return lines;
}
