import { escapeHtml } from '../basics/markup.ts';
import { createPagePolicy, packTrace, pageHead, readInspectorParts } from '../server/http/trace-page.ts';
import { type DescribedScenario, type DescribedTrial, describeEvaluation } from './describe-evaluation.ts';
import type { Evaluation } from './evaluation.ts';

/** Returns the name of a trial in a page and in names of files: the number of its scenario, and its own. */
export function trialKey(scenarioIndex: number, trial: number): string {
  return `${scenarioIndex + 1}-${trial}`;
}

/**
 * Writes a report as pieces of one HTML file that needs nothing else and requests nothing: the scenarios as rows of dots,
 * each of which opens the run of its trial in the views of the inspector. `readTrace` returns the trace of a trial by its
 * key, or undefined if the page is to have none.
 *
 * @throws {ApiError} NOT_FOUND if the inspector was not built.
 */
export async function writeEvaluationPage(
  evaluation: Evaluation,
  readTrace: (key: string) => string | undefined,
): Promise<Iterable<string>> {
  const { script, style, icon } = await readInspectorParts();
  const policy = createPagePolicy(script, [style, REPORT_STYLE]);
  const traces = evaluation.scenarios.flatMap(({ trials }, index) =>
    trials.map(({ number }) => trialKey(index, number)),
  );
  const present = new Set<string>();
  const elements: string[] = [];
  for (const key of traces) {
    const trace = readTrace(key);
    if (trace === undefined) continue;
    present.add(key);
    elements.push(await packTrace(`trace-${key}`, trace));
  }
  const head = pageHead({ title: 'Evaluation', policy, icon, styles: [style, REPORT_STYLE] });
  const start = `${head}\n<body>\n`;
  const end = `<script type="module">${script}</script>\n</body>\n</html>\n`;
  return [start, writeReport(evaluation, present), ...elements, end];
}

/** Writes what the page shows of a report: the element `main`. `withTrace` has the keys of the trials that can be opened. */
export function writeReport(evaluation: Evaluation, withTrace: ReadonlySet<string>): string {
  const { columns, scenarios, totals } = describeEvaluation(evaluation);
  const { startedAt, seed } = evaluation;
  const facts = [
    ['Gate', evaluation.isGateMet ? 'met' : 'not met'],
    ['Seed', String(seed)],
    ['Started', startedAt],
  ] as const;
  const heads = columns.map((column) => `<th scope="col">${escapeHtml(column)}</th>`);
  // The dots of the trials are beside the name.
  const [first, ...others] = heads;
  const rows = scenarios.map((scenario, index) => writeRow(scenario, index, withTrace));
  const unmet = scenarios.flatMap(({ trials }, index) =>
    trials
      .filter(({ outcome }) => outcome !== 'passed')
      .map((trial) => writeUnmet(trial, trialKey(index, trial.number), withTrace)),
  );
  const isMissing = scenarios.some(({ trials }, index) =>
    trials.some(({ number }) => !withTrace.has(trialKey(index, number))),
  );
  const note = isMissing
    ? '<p>The page would be too large with all traces; a dot without a link has none. The option --traces writes them all.</p>'
    : '';
  return `<main id="report" class="report">
<h1>Evaluation</h1>
<dl>${facts.map(([name, value]) => `<div><dt>${name}</dt><dd>${escapeHtml(value)}</dd></div>`).join('')}</dl>
<p class="totals">${totals.map(escapeHtml).join('\n')}</p>
${note}
<div class="table" role="region" aria-label="Scenarios" tabindex="0">
<table>
<thead><tr>${first}<th scope="col">Trials</th>${others.join('')}</tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table>
</div>
${unmet.length === 0 ? '' : `<h2>What did not pass</h2>\n${unmet.join('\n')}`}
</main>
`;
}

const MARKS = { passed: '●', failed: '✕', silent: '?', 'not judged': '?' } as const;

function writeRow(
  { name, description, cells, trials }: DescribedScenario,
  index: number,
  withTrace: ReadonlySet<string>,
) {
  const dots = trials.map(({ number, outcome, word }) => {
    const label = `Trial ${number}: ${word}`;
    const kind = outcome.replace(' ', '-');
    const key = trialKey(index, number);
    const mark = `<span aria-hidden="true">${MARKS[outcome]}</span>`;
    return withTrace.has(key)
      ? `<a class="dot ${kind}" id="trace-${key}-link" href="?trial=${key}" title="${label}" aria-label="${label}, open its run">${mark}</a>`
      : `<span class="dot ${kind}" role="img" title="${label}" aria-label="${label}">${mark}</span>`;
  });
  const about = description === null ? '' : `<small>${escapeHtml(description)}</small>`;
  return (
    `<tr><th scope="row">${escapeHtml(name)}${about}</th><td class="dots">${dots.join('')}</td>` +
    `${cells
      .slice(1)
      .map((cell) => `<td>${escapeHtml(cell)}</td>`)
      .join('')}</tr>`
  );
}

function writeUnmet(trial: DescribedTrial, key: string, withTrace: ReadonlySet<string>): string {
  const { title, summary, details, refused, output } = trial;
  const lines = [...details, ...refused, ...(output.trim() === '' ? [] : ['The agent printed:', output.trimEnd()])];
  const link = withTrace.has(key) ? `<p><a href="?trial=${key}">Open its run</a></p>` : '';
  const head = `${escapeHtml(title)}<small>${escapeHtml(summary)}</small>`;
  return `<details><summary>${head}</summary><pre>${escapeHtml(lines.join('\n'))}</pre>${link}</details>`;
}

/** What the report has besides the style of the inspector. */
const REPORT_STYLE = `
body:has(.report) { display: block; height: auto; overflow: auto; }
.report { max-width: 90rem; margin: 0 auto; padding: 1rem; }
.report dl { display: flex; flex-wrap: wrap; gap: 0.5rem 2rem; }
.report dt { font-size: 0.8rem; }
.report dd { margin: 0; font-weight: 600; }
.report .table { overflow-x: auto; }
.report table { border-collapse: collapse; table-layout: auto; width: 100%; }
.report th, .report td { width: auto; white-space: nowrap; overflow-wrap: normal; padding: 0.4rem 0.6rem; text-align: left; vertical-align: top; border-bottom: 1px solid #8884; }
.report tbody th { font-weight: 600; min-width: 12rem; white-space: normal; }
.report small { display: block; font-weight: 400; color: CanvasText; }
.report .totals { white-space: pre-wrap; }
.report .dots { min-width: 8rem; white-space: normal; }
.report .dot { display: inline-block; min-width: 1.5rem; min-height: 1.5rem; line-height: 1.5rem; text-align: center; text-decoration: none; font-weight: 700; }
.report .passed { color: light-dark(#0a6b2d, #5fd38a); }
.report .failed { color: light-dark(#b3261e, #ff8a80); }
.report .silent, .report .not-judged { color: light-dark(#7a5600, #f2c14e); }
.report pre { white-space: pre-wrap; overflow-wrap: anywhere; }
.report summary { cursor: pointer; padding: 0.4rem 0; }
`;
