import { escapeHtml } from '../basics/markup.ts';
import { writePageHead } from '../basics/page-file.ts';
import { formatPercent } from '../basics/percent.ts';
import { toPrintableLines } from '../basics/printable.ts';
import { plural } from '../basics/text.ts';
import { STORY_TITLE } from '../control/verdicts/story-lines.ts';
import { packTrace, readInspectorParts } from '../server/http/trace-page.ts';
import {
  type Cell,
  type DescribedEvaluation,
  type DescribedScenario,
  type DescribedTrial,
  describeCommit,
  describeEvaluation,
  formatSeconds,
  groupByTitle,
  type Table,
  type TableRow,
} from './describe-evaluation.ts';
import { describeUnmet, type Evaluation, listUnmet, type Totals, type TrialReport } from './evaluation.ts';
import { REPORT_STYLE } from './report-style.ts';

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
  const { script, styles, icon } = await readInspectorParts();
  const present = new Set<string>();
  const elements: string[] = [];
  for (const [index, { trials }] of evaluation.scenarios.entries()) {
    for (const { number } of trials) {
      const key = trialKey(index, number);
      const trace = readTrace(key);
      if (trace === undefined) continue;
      present.add(key);
      elements.push(await packTrace(`trace-${key}`, trace));
    }
  }
  const head = await writePageHead('Evaluation', { script, styles: [...styles, REPORT_STYLE], icon });
  const start = `${head}\n<body>\n`;
  const end = `<script type="module">${script}</script>\n</body>\n</html>\n`;
  return [start, writeReport(evaluation, present), ...elements, end];
}

/** A trial, with what is said of it. */
interface ShownTrial {
  readonly key: string;
  readonly scenario: DescribedScenario;
  readonly described: DescribedTrial;
  readonly report: TrialReport;
  /** Whether its run can be opened. */
  readonly hasRun: boolean;
}

/** A scenario, with its trials. */
interface ShownScenario {
  readonly described: DescribedScenario;
  readonly trials: readonly ShownTrial[];
}

/** Trials that did not pass for the same reason. */
interface ReasonGroup {
  /** The id of its element. */
  readonly id: string;
  readonly reason: string;
  readonly trials: readonly ShownTrial[];
}

/** Writes what the page shows of a report: the element `main`. `withTrace` has the keys of the trials that can be opened. */
export function writeReport(evaluation: Evaluation, withTrace: ReadonlySet<string>): string {
  const described = describeEvaluation(evaluation);
  const scenarios = described.scenarios.map((scenario, index): ShownScenario => {
    const trials = scenario.trials.flatMap((trial, position): ShownTrial[] => {
      const report = evaluation.scenarios[index]?.trials[position];
      if (!report) return [];
      const key = trialKey(index, trial.number);
      return [{ key, scenario, described: trial, report, hasRun: withTrace.has(key) }];
    });
    return { described: scenario, trials };
  });
  const all = scenarios.flatMap(({ trials }) => trials);
  const failed = all.filter(({ report }) => report.verdict === 'failed');
  const untold = all.filter(({ report }) => report.verdict === 'cannot tell');
  const groups = groupByReason([...failed, ...untold]);
  const failedGroups = groups.filter(({ trials }) => trials[0]?.report.verdict === 'failed');
  const untoldGroups = groups.filter((group) => !failedGroups.includes(group));
  const note = all.some(({ hasRun }) => !hasRun)
    ? '<p class="soft">A trial without a link has no run here: a page has at most 64 MiB of traces, and a page of merged reports has none. The option --traces of a run writes them all.</p>\n'
    : '';
  const unmet = [...failed, ...untold];
  const others = all.filter(({ hasRun, report }) => hasRun && report.verdict === 'passed');
  return `<main id="report" class="report">
${writeSummary(evaluation, described)}
${note}${described.agents ? writeTableByAgent(described, evaluation, scenarios, groups) : writeTable(described, worstFirst(scenarios), groups)}
${writeReasons('failed', `Failed trials (${failed.length})`, failedGroups, unmet)}
${writeReasons('untold', `Trials that cannot be told (${untold.length})`, untoldGroups, unmet)}
<div hidden>
${others.map((trial) => writeTrial(trial, unmet)).join('\n')}
</div>
</main>
`;
}

/** Writes how many trials passed, as a sentence and as a bar, whether the gate is met, and what else is true of the run. */
function writeSummary(evaluation: Evaluation, { totals, agents }: DescribedEvaluation): string {
  const { passed, isGateMet, seed, startedAt, realTimeMs, scenarios, provenance } = evaluation;
  const count = countWanted(scenarios);
  const facts = [
    ['Gate', isGateMet ? 'met' : 'not met', isGateMet ? 'good' : 'bad'],
    ['Started', writeTime(startedAt), ''],
    ['Took', formatSeconds(realTimeMs), ''],
    ['Seed', String(seed), ''],
    ...(provenance.git ? [['Commit', describeCommit(provenance.git).replace('the commit ', ''), ''] as const] : []),
  ] as const;
  const notes = [...totals.notes];
  if (totals.gate !== null) notes.unshift(`${totals.gate}.`);
  if (totals.missing !== null) notes.unshift(totals.missing);
  const share = count === 0 ? 'Nothing was run' : `${formatPercent(passed / count)} passed`;
  const title = agents === null || count === 0 ? share : `${agents.rows.length} agents`;
  return `<header>
<h1><span>Evaluation</span> ${escapeHtml(title)}</h1>
${agents === null ? writeBar(evaluation, count) : writeAgents(agents, evaluation)}
<p class="counts">${escapeHtml(totals.counts)}</p>
<dl>${facts.map(([name, value, tone]) => `<div><dt>${name}</dt><dd class="${tone}">${escapeHtml(value)}</dd></div>`).join('')}</dl>
<ul class="notes">${notes.map((each) => `<li>${escapeHtml(each)}</li>`).join('')}</ul>
</header>`;
}

/** Counts the trials that were to be run. */
function countWanted(scenarios: Evaluation['scenarios']): number {
  return scenarios.reduce((sum, { gate }) => sum + gate.trials, 0);
}

/** Writes how many of all trials passed, failed and cannot be told, as a bar. What was not run is left empty. */
function writeBar({ passed, failed, cannotTell }: Totals, count: number): string {
  let start = 0;
  const parts = Object.entries({ passed, failed, 'not-judged': cannotTell }).map(([kind, width]) => {
    const part = `<rect class="${kind}" x="${start}" width="${width}" height="1"/>`;
    start += width;
    return part;
  });
  return `<svg class="share" viewBox="0 0 ${Math.max(1, count)} 1" preserveAspectRatio="none" aria-hidden="true">${parts.join('')}</svg>`;
}

/** Writes the table of the agents, each with the bar of its trials. */
function writeAgents({ titles, rows }: Table, { agents, scenarios }: Evaluation): string {
  const ids = ['agent', 'passed', 'silent', 'gates', 'utility', 'attacks', 'time', 'requests'] as const;
  const shown = titles.map((_, index) => isTold(ids[index], index, rows));
  const heads = titles.flatMap((title, index) => (shown[index] ? writeHead(ids[index] ?? 'agent', title) : []));
  const lines = rows.map(({ cells, isGateMet }, row) => {
    const agent = agents[row];
    const own = scenarios.filter((scenario) => scenario.agent === agent?.name);
    const [name, ...others] = cells;
    const tds = others.flatMap((cell, index) => (shown[index + 1] ? writeCell(ids[index + 1] ?? 'agent', cell) : []));
    const [passed, , gates] = others;
    const line = `<span class="line${isGateMet ? '' : ' bad'}">${escapeHtml(`${passed?.value} passed · gates: ${gates?.value}`)}</span>`;
    const bar = agent ? writeBar(agent, countWanted(own)) : '';
    return `<tr class="${isGateMet ? '' : 'unmet'}"><th scope="row"><span class="title"><bdi>${escapeHtml(name?.value ?? '')}</bdi></span>${bar}${line}</th>${tds.join('')}</tr>`;
  });
  return `<table class="agents">
<thead><tr>${heads.join('')}</tr></thead>
<tbody>
${lines.join('\n')}
</tbody>
</table>`;
}

/** Writes a time as `28 Nov 2026, 21:26 UTC`. */
function writeTime(iso: string): string {
  const [, day, month, year, time = ''] = new Date(iso).toUTCString().split(' ');
  return `${Number(day)} ${month} ${year}, ${time.slice(0, 5)} UTC`;
}

/** Sorts scenarios: first those that have not reached what is required, and of these, and of the others, the worst first. */
function worstFirst(scenarios: readonly ShownScenario[]): ShownScenario[] {
  const shareOf = ({ trials }: ShownScenario) =>
    trials.length === 0 ? 1 : trials.filter(({ report }) => report.verdict === 'passed').length / trials.length;
  const rankOf = (scenario: ShownScenario) => (scenario.described.isGateMet ? 2 : 0) + shareOf(scenario);
  return [...scenarios].sort((one, other) => rankOf(one) - rankOf(other));
}

/**
 * Groups trials that did not pass by the reason that is given, the largest group first. Silences differ in their length,
 * but are one reason.
 */
function groupByReason(trials: readonly ShownTrial[]): ReasonGroup[] {
  const groups = new Map<string, ShownTrial[]>();
  for (const trial of trials) {
    const { verdict, isSilent, expectations } = trial.report;
    const [decisive] = listUnmet(expectations);
    const key = JSON.stringify([verdict, isSilent ? (decisive?.text ?? null) : [trial.described.summary]]);
    const group = groups.get(key);
    if (group) group.push(trial);
    else groups.set(key, [trial]);
  }
  return [...groups.values()]
    .sort((one, other) => other.length - one.length)
    .map((group, index) => ({
      id: `reason-${index + 1}`,
      reason: group[0]?.described.summary || 'No reason is known.',
      trials: group,
    }));
}

const MARKS = { passed: '●', failed: '✕', silent: '?', 'not judged': '?' } as const;

/** Whether a column says something in at least one row. Many runs have no twin, and nothing silent. */
function isTold(id: string | undefined, index: number, rows: readonly TableRow[]): boolean {
  if (id !== 'silent' && id !== 'utility' && id !== 'attacks') return true;
  return rows.some(({ cells }) => !['-', '0'].includes(cells[index]?.value ?? '-'));
}

function writeCell(id: string, { value, besides }: Cell): string {
  const more = besides === '' ? '' : ` <span class="besides">${escapeHtml(besides)}</span>`;
  return `<td class="column-${id}">${value === '-' ? '<span class="soft">-</span>' : escapeHtml(value)}${more}</td>`;
}

function writeTable(
  { columns }: DescribedEvaluation,
  scenarios: readonly ShownScenario[],
  groups: readonly ReasonGroup[],
): string {
  const own = scenarios.map(({ described }) => described);
  const shown = columns.map(({ id }, index) => isTold(id, index, own));
  const heads = columns.filter((_, index) => shown[index]).map(({ id, title }) => writeHead(id, title));
  const rows = scenarios.map(({ described, trials }) => {
    const isBad = trials.some(({ report }) => report.verdict !== 'passed');
    const classes = [described.isGateMet ? '' : 'unmet', isBad ? 'has-failures' : ''].filter((each) => each !== '');
    const cells = described.cells.flatMap((cell, index) =>
      index === 0 || !shown[index] ? [] : writeCell(columns[index]?.id ?? '', cell),
    );
    const tone = described.isGateMet ? '' : ' bad';
    const results =
      `<span class="dots">${trials.map(writeDot).join('')}</span>` +
      `<span class="line${tone}">${escapeHtml(described.line)}</span>`;
    return `<tr class="${classes.join(' ')}">${writeName(described, trials, groups, results)}${cells.join('')}</tr>`;
  });
  return writeScenarioTable(heads, rows);
}

/** Writes the scenarios with a column for each agent. The worst stand first: by what the worst agent has reached, then all. */
function writeTableByAgent(
  { table }: DescribedEvaluation,
  { agents }: Evaluation,
  scenarios: readonly ShownScenario[],
  groups: readonly ReasonGroup[],
): string {
  const ofTitle = new Map(groupByTitle(scenarios.map((each) => ({ ...each, title: each.described.title }))));
  const passedOf = (title: string) => {
    const trials = (ofTitle.get(title) ?? []).flatMap((each) => each.trials);
    return trials.filter(({ report }) => report.verdict === 'passed').length / Math.max(1, trials.length);
  };
  const shares = new Map([...ofTitle.keys()].map((title) => [title, passedOf(title)]));
  const shareOf = ({ described }: ShownScenario) => shares.get(described.title) ?? 0;
  const byShare = [...scenarios].sort((one, other) => shareOf(one) - shareOf(other));
  const worst = worstFirst(byShare).map(({ described }) => described.title);
  const rows = [...new Set(worst)].map((title) => {
    const own = ofTitle.get(title) ?? [];
    const trials = own.flatMap((each) => each.trials);
    const isBad = trials.some(({ report }) => report.verdict !== 'passed');
    const cells = agents.map(({ name }) => {
      const scenario = own.find(({ described }) => described.agent === name);
      if (!scenario) return '<td class="result"><span class="soft">-</span></td>';
      const { result, isGateMet } = scenario.described;
      const besides = result.besides === '' ? '' : `<span class="besides"> ${escapeHtml(result.besides)}</span>`;
      return (
        `<td class="result${isGateMet ? '' : ' bad'}"><span class="agent"><bdi>${escapeHtml(name ?? '')}</bdi></span> ` +
        `<span class="dots">${scenario.trials.map(writeDot).join('')}</span> ` +
        `<span class="count">${escapeHtml(result.value)}${besides}${isGateMet ? '' : ', not met'}</span></td>`
      );
    });
    const [first] = own;
    const head = first ? writeName(first.described, trials, groups, '') : '';
    return `<tr class="${isBad ? 'has-failures' : ''}">${head}${cells.join('')}</tr>`;
  });
  const heads = table.titles.map((title, index) => writeHead(index === 0 ? 'name' : 'result', title));
  return writeScenarioTable(heads, rows, 'by-agent');
}

function writeScenarioTable(heads: readonly string[], rows: readonly string[], kind = ''): string {
  return `<section aria-labelledby="scenarios">
<div class="head"><h2 id="scenarios">Scenarios (${rows.length})</h2>
<label class="check"><input type="checkbox" role="switch" id="only-failures"> Only failures</label></div>
<table class="${kind}">
<thead><tr>${heads.join('')}</tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table>
</section>`;
}

/** Writes the head of a column. What is in brackets is hidden where there is little room. */
function writeHead(id: string, title: string): string {
  const [name = '', besides] = title.split(' (');
  const more = besides === undefined ? '' : ` <span class="besides">(${escapeHtml(besides)}</span>`;
  return `<th scope="col" class="column-${id}">${escapeHtml(name)}${more}</th>`;
}

/**
 * Writes the first cell of a scenario: its name, which opens its description, `results`, and why most of the trials that did
 * not pass did not.
 */
function writeName(
  { title: name, description }: DescribedScenario,
  trials: readonly ShownTrial[],
  groups: readonly ReasonGroup[],
  results: string,
): string {
  const own = groups
    .map((group) => ({ ...group, count: group.trials.filter((each) => trials.includes(each)).length }))
    .filter(({ count }) => count > 0)
    .sort((one, other) => other.count - one.count);
  const [most, ...others] = own;
  const more = others.length === 0 ? '' : `<span>+ ${plural(others.length, 'other reason')}</span>`;
  const why =
    most === undefined
      ? ''
      : `<span class="why"><a href="#${most.id}"><bdi>${most.count} × ${escapeHtml(most.reason)}</bdi></a>${more}</span>`;
  const title = `<bdi>${escapeHtml(name)}</bdi>`;
  const head =
    description === null
      ? `<span class="title">${title}</span>`
      : `<details><summary class="title">${title}</summary><p class="soft">${escapeHtml(description)}</p></details>`;
  return `<th scope="row">${head}${results}${why}</th>`;
}

function writeDot({ key, scenario, described, hasRun }: ShownTrial): string {
  const { number, outcome, word, summary } = described;
  const kind = outcome.replace(' ', '-');
  const mark = `<span aria-hidden="true">${MARKS[outcome]}</span>`;
  const trial = scenario.agent === null ? 'Trial' : `${scenario.agent}, trial`;
  const said = `${trial} ${number}: ${word}`;
  const reason = summary === '' ? '' : `. ${summary}`;
  const title = escapeHtml(said + reason);
  return hasRun
    ? `<a class="dot ${kind}" id="trace-${key}-link" href="?trial=${key}" title="${title}" aria-label="${escapeHtml(`${said}, open its run${reason}`)}">${mark}</a>`
    : `<span class="dot ${kind}" role="img" title="${title}" aria-label="${title}">${mark}</span>`;
}

/** Writes the trials that did not pass, by their reasons; nothing if there are none. */
function writeReasons(id: string, title: string, groups: readonly ReasonGroup[], unmet: readonly ShownTrial[]): string {
  if (groups.length === 0) return '';
  const lists = groups.map(({ id, reason, trials }) => {
    const count = new Set(trials.map(({ scenario }) => scenario)).size;
    const items = trials.map((trial) => {
      const { scenario, described, key, hasRun } = trial;
      const chip = described.isTolerated ? ' <span class="chip">tolerated</span>' : '';
      const link = hasRun ? `<p><a class="button" href="?trial=${key}">Open its run</a></p>\n` : '';
      return (
        `<details class="one"><summary><bdi>${escapeHtml(scenario.name)}</bdi>, trial ${described.number}${chip}</summary>\n` +
        `${link}${writeTrial(trial, unmet)}</details>`
      );
    });
    return (
      `<details class="group" id="${id}"><summary><span class="times">${trials.length} ×</span> ` +
      `<bdi class="reason-text">${escapeHtml(reason)}</bdi> <span class="soft">${plural(count, 'scenario')}</span></summary>\n` +
      `${items.join('\n')}\n</details>`
    );
  });
  return `<section aria-labelledby="${id}">\n<h2 id="${id}">${escapeHtml(title)}</h2>\n${lists.join('\n')}\n</section>`;
}

const TONES = { passed: 'good', failed: 'bad', silent: 'warn', 'not judged': 'warn' } as const;
const VERDICT_MARKS = { yes: '✓', no: '✕', 'cannot tell': '?' } as const;
const VERDICT_TONES = { yes: 'good', no: 'bad', 'cannot tell': 'warn' } as const;

/**
 * Writes what became of a trial: the verdict, each expectation, what the agent printed, and what became of the mail. It is
 * a part of the report, and the head of the page that shows the run of the trial. There its first line is shown too,
 * with links to the trials before and after it that did not pass. `data-mails` has the ids of the mails of
 * the expectation that decided, which the run marks.
 */
function writeTrial(trial: ShownTrial, unmet: readonly ShownTrial[]): string {
  const { key, scenario, described, report } = trial;
  const { number, outcome, word, refused } = described;
  const position = unmet.indexOf(trial);
  const own = `${word}, trial ${number} of ${scenario.trials.length + scenario.notRun}`;
  const links = unmet.filter(({ hasRun }) => hasRun);
  const at = links.indexOf(trial);
  const [before, after] = at < 0 ? [undefined, links[0]] : [links[at - 1], links[at + 1]];
  const link = (target: ShownTrial | undefined, rel: string, text: string) =>
    target ? `<a class="button" rel="${rel}" href="?trial=${target.key}">${text}</a>` : '';
  const place = position < 0 ? '' : `<span class="soft">${position + 1} of ${unmet.length}</span>`;
  const ended = report.reason === null ? '' : `<p class="ended">${escapeHtml(report.reason)}</p>\n`;
  const [decisive] = listUnmet(report.expectations);
  const ordered = [
    ...listUnmet(report.expectations),
    ...report.expectations.filter(({ verdict }) => verdict === 'yes'),
  ];
  const expectations = ordered.map((expectation) => {
    const { verdict, text, message } = expectation;
    const said =
      verdict === 'yes'
        ? message === null
          ? text
          : `So it is, but it was tried: ${text}`
        : describeUnmet(expectation);
    const mark = `<span class="mark" aria-hidden="true">${VERDICT_MARKS[verdict]}</span>`;
    const line = `<bdi>${escapeHtml(said)}</bdi>`;
    const shown =
      message === null
        ? line
        : `<details${expectation === decisive ? ' open' : ''}><summary>${line}</summary>${writePre(splitStory(message).result)}</details>`;
    return `<li class="${VERDICT_TONES[verdict]}-mark">${mark} ${shown}</li>`;
  });
  const told = new Set(
    report.expectations.map(({ message }) => splitStory(message).story).filter((each) => each !== ''),
  );
  const story = (told.size > 0 ? [...told] : report.story).join('\n');
  const printed = report.output.trimEnd();
  const counted = (text: string) => plural(text.split('\n').length, 'line');
  const parts = [
    printed === ''
      ? '<p class="soft">The agent printed nothing.</p>'
      : `<details open><summary>What the agent printed (${counted(printed)})</summary>${writePre(printed)}</details>`,
    refused.length === 0
      ? ''
      : `<details><summary>Refused control calls (${refused.length})</summary>${writePre(refused.join('\n'))}</details>`,
    story === ''
      ? ''
      : `<details><summary>What happened to the mail (${counted(story)})</summary>${writePre(story)}</details>`,
  ];
  const where = [report.requests, report.mails].map((count, index) =>
    plural(count, index === 0 ? 'request' : 'sent mail'),
  );
  const mails = decisive?.mails ?? [];
  return `<section class="trial" id="trial-${key}" aria-label="${escapeHtml(own)}" data-mails="${escapeHtml(mails.join(' '))}" data-reason="${escapeHtml(described.summary)}">
<div class="trial-head"><span class="chip ${TONES[outcome]}">${MARKS[outcome]} ${escapeHtml(word)}</span>
<strong><bdi>${escapeHtml(scenario.name)}</bdi></strong> <span class="soft">trial ${number} of ${scenario.trials.length + scenario.notRun} · ${formatSeconds(report.realTimeMs)} · ${where.join(', ')}</span>
<nav class="buttons" aria-label="Trials that did not pass">${link(before, 'prev', '‹ Previous failure')}${place}${link(after, 'next', 'Next failure ›')}</nav></div>
<div class="trial-body">
<div>
${ended}<ul class="expectations">${expectations.join('')}</ul>
</div>
<div>
${parts.filter((each) => each !== '').join('\n')}
</div>
</div>
</section>`;
}

/**
 * Splits the message of an expectation into its result and the story of the mail, which the page shows once. The lines of
 * a story are indented; what follows is the result of another alternative.
 */
function splitStory(message: string | null): { readonly result: string; readonly story: string } {
  const result: string[] = [];
  const story: string[] = [];
  let isStory = false;
  for (const line of message?.split('\n') ?? []) {
    isStory = line === STORY_TITLE || (isStory && line.startsWith('  '));
    if (!isStory) result.push(line);
    else if (line !== STORY_TITLE) story.push(line.slice(2));
  }
  return { result: result.join('\n'), story: story.join('\n') };
}

/** Writes a text of somebody else in its own lines. The text cannot turn the order of a line around. */
function writePre(text: string): string {
  return `<pre dir="auto">${escapeHtml(toPrintableLines(text))}</pre>`;
}
