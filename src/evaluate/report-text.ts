import { toPrintable } from '../basics/printable.ts';
import {
  type DescribedEvaluation,
  type DescribedTrial,
  describeEvaluation,
  indent,
  listTotals,
  type Table,
  textOfCell,
} from './describe-evaluation.ts';
import type { Evaluation } from './evaluation.ts';

/** Writes the tables, and below them each trial that did not pass, with its story. */
export function writeEvaluation(evaluation: Evaluation): string {
  const described = describeEvaluation(evaluation);
  const trials = described.scenarios.flatMap((scenario) => scenario.trials);
  const unmet = trials.filter(({ outcome }) => outcome !== 'passed').flatMap((trial) => ['', ...writeTrial(trial)]);
  return [...writeTables(described), ...unmet].map(toPrintable).join('\n');
}

/** Writes the table of the scenarios, of several agents also that of the agents, and the totals. */
export function writeTables({ table, agents, totals }: DescribedEvaluation): string[] {
  return [...writeTable(table), '', ...(agents ? [...writeTable(agents), ''] : []), ...listTotals(totals)];
}

function writeTable({ titles, rows }: Table): string[] {
  const texts = [titles, ...rows.map(({ cells }) => cells.map(textOfCell))];
  const widths = titles.map((_, column) => texts.reduce((most, row) => Math.max(most, row[column]?.length ?? 0), 0));
  return texts.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  '),
  );
}

function writeTrial({ title, details, refused, output }: DescribedTrial): string[] {
  const lines = [title, ...[...details, ...refused].flatMap(indent)];
  if (output.trim() !== '') lines.push('  The agent printed:', ...indent(output.trimEnd()).flatMap(indent));
  return lines;
}
