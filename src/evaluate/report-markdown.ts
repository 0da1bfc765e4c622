import { escapeHtmlInMarkdown, escapeMarkdown, writePreformatted } from '../basics/markdown.ts';
import { type Comparison, describeComparison, isWorse } from './compare-evaluations.ts';
import {
  type DescribedTrial,
  describeCommit,
  describeEvaluation,
  listTotals,
  type Table,
  textOfCell,
} from './describe-evaluation.ts';
import type { Evaluation } from './evaluation.ts';

/** How long a table or a list may become, in bytes. GitHub shows a summary of 1 MiB. */
const MAX_PART_BYTES = 300 * 1024;

/** How long the lines of a comparison may become, in bytes. A comment on GitHub has at most 65,536 characters. */
const MAX_COMMENT_BYTES = 50 * 1024;

/** How much of the story of a trial is shown, in characters. */
const MAX_TRIAL = 8_000;

/**
 * Writes a report as Markdown: the table of the scenarios, of several agents also that of the agents, the totals, and each
 * trial that did not pass. What has not reached what is required stands first. What comes from scenarios and agents is
 * shown as text.
 */
export function writeMarkdown(evaluation: Evaluation): string {
  const { scenarios, table, agents, totals } = describeEvaluation(evaluation);
  const trials = unmetFirst(scenarios)
    .flatMap((scenario) => scenario.trials)
    .filter(({ outcome }) => outcome !== 'passed');
  const commit = evaluation.provenance.git;
  return [
    `## Evaluation: ${evaluation.isGateMet ? 'the gate is met' : 'the gate is not met'}`,
    '',
    ...(table.rows.length > 0 ? writeTable({ ...table, rows: unmetFirst(table.rows) }) : []),
    ...(agents ? writeTable(agents) : []),
    ...upTo(listTotals(totals).map(writeTotal), MAX_PART_BYTES, (more) => `- and ${more} more`),
    ...(commit ? [writeTotal(`Evaluated at ${describeCommit(commit)}.`)] : []),
    '',
    ...(trials.length > 0 ? ['### What did not pass', ''] : []),
    ...upTo(trials.map(writeTrial), MAX_PART_BYTES, (more) => `and ${more} more trials`),
  ].join('\n');
}

/** Sorts what has not reached what is required before the others, which are many in a pull request. */
function unmetFirst<Row extends { readonly isGateMet: boolean }>(rows: readonly Row[]): Row[] {
  return [...rows.filter(({ isGateMet }) => !isGateMet), ...rows.filter(({ isGateMet }) => isGateMet)];
}

function writeTable({ titles, rows }: Table): string[] {
  const lines = rows.map(({ cells, isGateMet }) => {
    const [name = '', ...others] = cells.map((cell) => escapeMarkdown(textOfCell(cell)));
    return `| ${isGateMet ? '✅' : '❌'} ${name} | ${others.join(' | ')} |`;
  });
  return [
    `| ${titles.join(' | ')} |`,
    `| --- |${' ---: |'.repeat(titles.length - 1)}`,
    ...upTo(lines, MAX_PART_BYTES, (more) => `| and ${more} more |${' |'.repeat(titles.length - 1)}`),
    '',
  ];
}

/** Writes a line of the totals as an item of a list. One that belongs to the line before it is indented. */
function writeTotal(line: string): string {
  return `${line.startsWith(' ') ? '  ' : ''}- ${escapeMarkdown(line)}`;
}

function writeTrial({ title, summary, details, refused, output }: DescribedTrial): string {
  const printed = output.trim() === '' ? [] : ['The agent printed:', output.trimEnd()];
  const text = [...details, ...refused, ...printed].join('\n');
  const shown = text.length > MAX_TRIAL ? `${text.slice(0, MAX_TRIAL)}…` : text;
  const head = `<b>${escapeHtmlInMarkdown(title)}</b><br>${escapeHtmlInMarkdown(summary)}`;
  return `<details><summary>${head}</summary>\n\n${writePreformatted(shown)}\n\n</details>\n`;
}

/**
 * Writes a comparison as Markdown, for a comment: what broke, what got better, and what these trials could not have shown.
 */
export function writeComparisonMarkdown(comparison: Comparison, { all = false } = {}): string {
  const { headline, sections, unlisted, notes } = describeComparison(comparison, { all });
  const { before, after } = comparison.agents;
  // Of one agent, the two runs are compared; otherwise, two agents are.
  const isSame = before === after;
  const what = isSame ? 'than before' : `than ${before ?? 'the agent without a name'}`;
  const agent = after === null ? (isSame ? '' : 'the agent without a name is ') : `${after} is `;
  const unchanged = isSame ? `${after ?? 'the agent'} got worse` : `${agent}worse ${what}`;
  const title = isWorse(comparison)
    ? `${agent}worse ${what}`
    : comparison.overall.change === 'better'
      ? `${agent}better ${what}`
      : `nothing shows that ${unchanged}`;
  const parts = sections.flatMap(({ title: name, lines }) => [
    `**${escapeMarkdown(name)}**\n`,
    ...lines.map(writeItem),
    '',
  ]);
  return [
    `## Evaluation: ${escapeMarkdown(title)}`,
    '',
    escapeMarkdown(headline),
    '',
    ...upTo(parts, MAX_COMMENT_BYTES, (more) => `- and ${more} more lines`),
    ...[...(unlisted === null ? [] : [unlisted]), ...notes].map(writeItem),
  ].join('\n');
}

function writeItem(line: string): string {
  return `- ${escapeMarkdown(line)}`;
}

/** Returns the first of some lines, up to a size, and then how many more there are. */
function upTo(lines: readonly string[], maxBytes: number, describeRest: (count: number) => string): string[] {
  const shown: string[] = [];
  let bytes = 0;
  for (const line of lines) {
    bytes += Buffer.byteLength(line) + 1;
    if (bytes > maxBytes) return [...shown, describeRest(lines.length - shown.length)];
    shown.push(line);
  }
  return shown;
}
