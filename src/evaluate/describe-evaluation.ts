import { formatPercent, formatPercentBeside, formatPercentExactly } from '../basics/percent.ts';
import { plural } from '../basics/text.ts';
import { STORY_TITLE } from '../control/verdicts/story-lines.ts';
import {
  describeUnmet,
  type Evaluation,
  type Gate,
  listUnmet,
  type ScenarioReport,
  type TrialReport,
  withAgent,
} from './evaluation.ts';
import type { GitState } from './provenance.ts';
import { type Interval, median } from './statistics.ts';

/**
 * What people read of a report. The terminal, JUnit and HTML show these texts, each in its form; none of them calculates
 * or words anything itself.
 */
export interface DescribedEvaluation {
  /** The columns of a table of scenarios with one agent. */
  readonly columns: readonly Column[];
  /** The scenarios in their order, each with each agent, and before its twin. */
  readonly scenarios: readonly DescribedScenario[];
  /** The table: of one agent, its scenarios; of several, a column for each agent. */
  readonly table: Table;
  /** Of several agents, a table with a row for each; null for one agent. */
  readonly agents: Table | null;
  /** What is true of the run as a whole. */
  readonly totals: DescribedTotals;
}

/** A column of the table, and its title. */
export interface Column {
  readonly id:
    | 'name'
    | 'passed'
    | 'silent'
    | 'passAt1'
    | 'passHatK'
    | 'required'
    | 'utility'
    | 'attacks'
    | 'time'
    | 'requests';
  readonly title: string;
}

/** A table of texts. The first cell of each row is its head. */
export interface Table {
  readonly titles: readonly string[];
  readonly rows: readonly TableRow[];
}

/** A row of a table. */
export interface TableRow {
  readonly cells: readonly Cell[];
  /** Whether what is required of it was reached. */
  readonly isGateMet: boolean;
}

/** A cell of a table. */
export interface Cell {
  readonly value: string;
  /** What stands behind the value, such as its interval; empty if nothing does. */
  readonly besides: string;
}

/** What is true of a run as a whole, in sentences. */
export interface DescribedTotals {
  /** How many trials had which outcome. */
  readonly counts: string;
  /**
   * How many scenarios have reached what is required or, if not all have, how many have not or, of several agents, how many
   * of these; without the full stop. Null if that says nothing, because no scenario was run or a shard is missing.
   */
  readonly gate: string | null;
  /** The scenarios that have not reached what is required, with what they have reached. */
  readonly unmet: readonly string[];
  /** Which shards of a run are missing; null if none is. */
  readonly missing: string | null;
  /** What else a reader must know. */
  readonly notes: readonly string[];
}

/** What people read of a scenario. */
export interface DescribedScenario {
  /** Its name and, of several agents, that of the agent before it. */
  readonly name: string;
  /** Its name alone. */
  readonly title: string;
  /** The name of the agent; null if it has none. */
  readonly agent: string | null;
  readonly description: string | null;
  /** The file in which it is; null if it was given in code. */
  readonly file: string | null;
  /** The line at which it begins, from 1; null if it was given in code. */
  readonly firstLine: number | null;
  /** Its cells of a table of one agent, one for each column; the first is its name. */
  readonly cells: readonly Cell[];
  /** How many trials passed, with the interval at 95 % of their share. */
  readonly result: Cell;
  /** The most important of its cells, in a line. */
  readonly line: string;
  /** What it must reach, and what it has reached, in a sentence without its full stop. */
  readonly gate: string;
  readonly isGateMet: boolean;
  readonly trials: readonly DescribedTrial[];
  /** How many trials were not run, because the run was interrupted. */
  readonly notRun: number;
}

/** What people read of a trial. */
export interface DescribedTrial {
  readonly number: number;
  /**
   * What became of it: `silent` if it cannot be told because silence ended it, `not judged` if it cannot be told for
   * another reason.
   */
  readonly outcome: 'passed' | 'failed' | 'silent' | 'not judged';
  /** The words for this outcome, and whether it is tolerated. */
  readonly word: string;
  /** Whether it did not pass, although its scenario has reached what is required. */
  readonly isTolerated: boolean;
  /** Its scenario, its number, what became of it, whether that is tolerated, and where the scenario is. */
  readonly title: string;
  /** Why it did not pass, in one line; empty if it passed. */
  readonly summary: string;
  /** Why it did not pass, each expectation that is not met, and the story of the mail, in lines; empty if it passed. */
  readonly details: readonly string[];
  /** The control calls that were refused, in lines. */
  readonly refused: readonly string[];
  /** What the agent printed. */
  readonly output: string;
  /** How long it took, in milliseconds. */
  readonly realTimeMs: number;
}

/** Describes a report. */
export function describeEvaluation(evaluation: Evaluation): DescribedEvaluation {
  const { k, scenarios } = evaluation;
  const requiredOf = scenarios.reduce((most, { gate }) => Math.max(most, gate.k), 1);
  const columns: Column[] = [
    { id: 'name', title: 'Scenario' },
    { id: 'passed', title: 'Passed' },
    { id: 'silent', title: 'Silent' },
    { id: 'passAt1', title: 'pass@1 (95 %)' },
    ...(k > 1 ? [{ id: 'passHatK', title: `pass^${k}` } as const] : []),
    { id: 'required', title: requiredOf > 1 ? `Required pass^${requiredOf}` : 'Required' },
    { id: 'utility', title: 'Utility (95 %)' },
    { id: 'attacks', title: 'Attacks (95 %)' },
    { id: 'time', title: 'Time' },
    { id: 'requests', title: 'Requests' },
  ];
  const described = scenarios.map((scenario) => describeScenario(scenario, k));
  const isOne = evaluation.agents.length === 1;
  return {
    columns,
    scenarios: described,
    table: isOne ? { titles: columns.map(({ title }) => title), rows: described } : writeByAgent(evaluation, described),
    agents: isOne ? null : describeAgents(evaluation),
    totals: describeTotals(evaluation),
  };
}

/** Writes a table of the scenarios, with a column for each agent. */
function writeByAgent({ agents }: Evaluation, scenarios: readonly DescribedScenario[]): Table {
  const rows = groupByTitle(scenarios).map(([title, own]): TableRow => {
    const cells = agents.map(({ name }): Cell => {
      const scenario = own.find(({ agent }) => agent === name);
      if (!scenario) return cellOf('-');
      const { result, isGateMet } = scenario;
      return isGateMet ? result : { ...result, besides: [result.besides, 'not met'].filter(Boolean).join(', ') };
    });
    return { cells: [cellOf(title), ...cells], isGateMet: own.every(({ isGateMet }) => isGateMet) };
  });
  return { titles: ['Scenario', ...agents.map(({ name }) => name ?? '')], rows };
}

/** Returns the scenarios by their names, in their order: of several agents, each has one for each agent. */
export function groupByTitle<Scenario extends { readonly title: string }>(
  scenarios: readonly Scenario[],
): (readonly [title: string, Scenario[]])[] {
  const groups = new Map<string, Scenario[]>();
  for (const scenario of scenarios) {
    const group = groups.get(scenario.title);
    if (group) group.push(scenario);
    else groups.set(scenario.title, [scenario]);
  }
  return [...groups];
}

/** Writes a table with a row for each agent, and what it has reached in all scenarios. */
function describeAgents({ agents, scenarios }: Evaluation): Table {
  const rows = agents.map((agent): TableRow => {
    const own = scenarios.filter((scenario) => scenario.agent === agent.name);
    const trials = own.flatMap((scenario) => scenario.trials);
    const met = own.filter(({ gate }) => gate.isMet).length;
    const timeMs = median(trials.map(({ realTimeMs }) => realTimeMs));
    return {
      cells: [
        cellOf(agent.name ?? ''),
        cellOf(`${agent.passed}/${trials.length}`),
        cellOf(String(agent.silent)),
        cellOf(met === own.length ? `all ${met} met` : `${met} of ${own.length} met`),
        cellOf(formatPercent(agent.utility), agent.utilityInterval),
        cellOf(formatPercent(agent.attackSuccess), agent.attackSuccessInterval),
        cellOf(timeMs === null ? '-' : formatSeconds(timeMs)),
        cellOf(String(median(trials.map(({ requests }) => requests)) ?? '-')),
      ],
      isGateMet: agent.isGateMet,
    };
  });
  const titles = ['Agent', 'Passed', 'Silent', 'Gates', 'Utility (95 %)', 'Attacks (95 %)', 'Time', 'Requests'];
  return { titles, rows };
}

function cellOf(value: string, interval: Interval | null = null): Cell {
  return { value, besides: interval === null ? '' : describeInterval(interval) };
}

function describeScenario(scenario: ScenarioReport, k: number): DescribedScenario {
  const { name, agent, description, file, trials, gate, medianRealTimeMs } = scenario;
  const passed = `${scenario.passed}/${trials.length}`;
  const required = formatPercentExactly(gate.required);
  const time = medianRealTimeMs === null ? '-' : formatSeconds(medianRealTimeMs);
  return {
    name: withAgent(agent, name),
    title: name,
    agent,
    description,
    file,
    firstLine: scenario.line,
    cells: [
      cellOf(name),
      cellOf(passed),
      cellOf(String(scenario.silent)),
      cellOf(formatPercent(scenario.passAt1), scenario.passAt1Interval),
      ...(k > 1 ? [cellOf(formatPercent(scenario.passHatK[k - 1] ?? null))] : []),
      cellOf(`${required}${gate.isMet ? '' : ', not met'}`),
      cellOf(formatPercent(scenario.utility), scenario.utilityInterval),
      cellOf(formatPercent(scenario.attackSuccess), scenario.attackSuccessInterval),
      cellOf(time),
      cellOf(String(scenario.medianRequests ?? '-')),
    ],
    result: cellOf(passed, scenario.passAt1Interval),
    line: `${passed} passed, ${required} required · ${time}`,
    gate: describeGate(gate, scenario.passed),
    isGateMet: gate.isMet,
    trials: trials.map((trial) => describeTrial(scenario, trial)),
    notRun: gate.trials - trials.length,
  };
}

/** Returns a cell as one text, such as `80 % (38–96 %)`. */
export function textOfCell({ value, besides }: Cell): string {
  return besides === '' ? value : `${value} ${besides}`;
}

/** Shows a share and its interval, such as `80 % (38–96 %)`. */
function describeShare(share: number | null, interval: Interval | null): string {
  return interval === null ? formatPercent(share) : `${formatPercent(share)} ${describeInterval(interval)}`;
}

/** Shows an interval, such as `(38–96 %)`. */
function describeInterval({ low, high }: Interval): string {
  return `(${formatPercent(low).replace(' %', '')}–${formatPercent(high)})`;
}

/** Shows how long a trial took, such as `4.9 s` or `2 min 5 s`. */
export function formatSeconds(timeMs: number): string {
  const seconds = Math.round(timeMs / 1_000);
  return seconds < 60 ? `${(timeMs / 1_000).toFixed(1)} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

function describeGate({ required, k, trials, reached }: Gate, passed: number): string {
  const shown = formatPercentBeside(reached, required);
  const what = `${passed} of ${trials} trials passed`;
  return `${what}${k === 1 ? ` (${shown})` : `, so pass^${k} is ${shown}`}; ${formatPercentExactly(required)} required`;
}

function describeTotals(evaluation: Evaluation): DescribedTotals {
  const { agents, scenarios, passed, failed, cannotTell, silent, leastSilenceMs, isGateMet } = evaluation;
  const { provenance, missingShards } = evaluation;
  if (scenarios.length === 0 && provenance.shard) {
    const { index, count } = provenance.shard;
    const available = plural(provenance.suite.scenarios, 'scenario');
    const counts = `Shard ${index}/${count} has no scenario: ${available} cannot fill ${count} shards.`;
    return { counts, gate: null, unmet: [], missing: null, notes: [] };
  }
  const parts = [`${passed} of ${passed + failed + cannotTell} trials passed`, `${failed} failed`];
  if (silent > 0) parts.push(`${silent} cannot be told, because silence ended ${silent === 1 ? 'it' : 'them'}`);
  if (cannotTell > silent) parts.push(`${cannotTell - silent} could not be judged`);
  const notRun = scenarios.reduce((sum, { gate, trials }) => sum + gate.trials - trials.length, 0);
  if (notRun > 0) parts.push(`${notRun} were not run`);
  const unmet = scenarios.filter(({ gate }) => !gate.isMet);
  const count = new Set(scenarios.map(({ name }) => name)).size;
  const all = count === 1 ? 'The scenario has' : `All ${count} scenarios have`;
  let gate: string | null = null;
  if (isGateMet) {
    gate = `${all} reached what is required${agents.length === 1 ? '' : ` with each of ${agents.length} agents`}`;
  } else if (agents.length > 1 && unmet.length > 0) {
    const some = agents.filter((agent) => scenarios.some((each) => each.agent === agent.name && !each.gate.isMet));
    const have = some.length === 1 ? 'has' : 'have';
    gate = `${some.length} of ${agents.length} agents ${have} not reached what is required in every scenario`;
  } else if (unmet.length > 0) {
    gate = `${unmet.length} of ${count} scenarios ${unmet.length === 1 ? 'has' : 'have'} not reached what is required`;
  }
  const notes: string[] = [];
  for (const { name, stoppedAfter } of agents) {
    if (stoppedAfter === null) continue;
    const run = name === null ? 'The run' : `The run of ${name}`;
    notes.push(`${run} was stopped after ${plural(stoppedAfter, 'trial')} that did not pass.`);
  }
  if (evaluation.utility !== null) {
    const shown = describeShare(evaluation.utility, evaluation.utilityInterval);
    notes.push(`Utility: ${shown} of the harmless twins were handled.`);
  }
  if (evaluation.attackSuccess !== null) {
    notes.push(`Attack success: ${describeShare(evaluation.attackSuccess, evaluation.attackSuccessInterval)}.`);
  }
  if (leastSilenceMs !== null) {
    const seconds = Math.round(leastSilenceMs / 100) / 10;
    notes.push(`Where silence ended a trial, what must not happen was not seen within ${seconds} s of silence.`);
  }
  return {
    counts: `${parts.join(', ')}.`,
    gate,
    unmet: unmet.map(({ name, agent, gate, passed: own }) => `${withAgent(agent, name)}: ${describeGate(gate, own)}.`),
    missing: missingShards.length > 0 ? describeMissing(evaluation) : null,
    notes: [...notes, ...evaluation.notes],
  };
}

/** Names a commit, such as `the commit 0123456789ab`. */
export function describeCommit({ commit, isClean }: GitState): string {
  return `the commit ${commit.slice(0, 12)}${isClean ? '' : ' with changes'}`;
}

/** Writes the totals in lines. Each scenario that has not reached what is required is indented below the gate. */
export function listTotals({ counts, gate, unmet, missing, notes }: DescribedTotals): string[] {
  const lines = [counts];
  if (missing !== null) lines.push(`Gate: not met. ${missing}`);
  if (gate !== null) lines.push(unmet.length === 0 ? `Gate: met. ${gate}.` : `Gate: not met. ${gate}:`);
  return [...lines, ...unmet.map((line) => `  ${line}`), ...notes];
}

/** Says which shards a merged report lacks. */
export function describeMissing({ missingShards, provenance }: Evaluation): string {
  const shards = missingShards.length === 1 ? 'Shard' : 'Shards';
  const are = missingShards.length === 1 ? 'is' : 'are';
  return `${shards} ${missingShards.join(', ')} of ${provenance.shard?.count} ${are} missing.`;
}

/** The words for what became of a trial. */
const OUTCOMES = {
  passed: 'passed',
  failed: 'failed',
  silent: 'cannot tell',
  'not judged': 'could not be judged',
} as const satisfies Record<DescribedTrial['outcome'], string>;

function describeTrial(scenario: ScenarioReport, trial: TrialReport): DescribedTrial {
  const { number, verdict, isSilent, summary, refusedCalls, output, realTimeMs } = trial;
  const outcome = verdict === 'cannot tell' ? (isSilent ? 'silent' : 'not judged') : verdict;
  const where = scenario.file === null ? '' : ` (${[scenario.file, scenario.line].filter(Boolean).join(':')})`;
  const isTolerated = verdict !== 'passed' && scenario.gate.isMet;
  const word = isTolerated ? `${OUTCOMES[outcome]}, tolerated` : OUTCOMES[outcome];
  return {
    number,
    outcome,
    word,
    isTolerated,
    title: `${withAgent(scenario.agent, scenario.name)}, trial ${number}, ${word}${where}`,
    summary: (summary ?? '').replaceAll(/\s+/g, ' '),
    details: verdict === 'passed' ? [] : describeDetails(trial),
    refused: refusedCalls.map(({ call, count }) => `Refused, ${count} times: ${call}`),
    output,
    realTimeMs,
  };
}

/** Writes what did not go as expected in a trial: why it ended, each expectation, and the story of the mail. */
function describeDetails({ reason, expectations, story }: TrialReport): string[] {
  const lines = reason === null ? [] : reason.split('\n');
  for (const expectation of listUnmet(expectations)) {
    lines.push(describeUnmet(expectation), ...indent(expectation.message ?? ''));
  }
  for (const { text, verdict, message } of expectations) {
    if (verdict === 'yes' && message !== null) lines.push(`So it is, but it was tried: ${text}`, ...indent(message));
  }
  const isTold = expectations.some(({ message }) => message?.includes(STORY_TITLE));
  return isTold || story.length === 0 ? lines : [...lines, STORY_TITLE, ...indent(story.join('\n'))];
}

/** Indents each line of a text by two spaces. */
export function indent(text: string): string[] {
  return text.split('\n').map((line) => `  ${line}`.trimEnd());
}
