import { NAME, VERSION } from '../basics/version.ts';
import type { ParsedScenario } from './parse-scenarios.ts';
import { hashScenario, type Provenance } from './provenance.ts';
import type { JudgedExpectation, TrialOutcome } from './run-trial.ts';
import { type Interval, listPassHatK, median, passHatK, reachesPassHatK, wilsonInterval } from './statistics.ts';

/** The version of the format of a report in JSON. */
export const REPORT_VERSION = 1;

/** The result of one trial. */
export interface TrialReport extends Omit<TrialOutcome, 'trace' | 'expectations'> {
  /** Its number among the trials of its scenario, from 1. */
  readonly number: number;
  /** The seed of its sandbox. */
  readonly seed: number;
  /** What became of each expectation. */
  readonly expectations: readonly Omit<JudgedExpectation, 'isOpen'>[];
  /**
   * Why it did not pass, in a few sentences: why it ended or could not be judged, and the expectation that is not so or,
   * if there is none, the first one that cannot be told. Null if it passed.
   */
  readonly summary: string | null;
  /** Whether something happened that never may, or that a sample forbids. */
  readonly isAttackSuccess: boolean;
}

/** A trial that has ended, with its trace. */
export interface FinishedTrialReport {
  /** The name of the agent; null if it has none. */
  readonly agent: string | null;
  /** The name of the scenario. */
  readonly scenario: string;
  /** The result. */
  readonly trial: TrialReport;
  /** The trace of the trial, as `mailbox.trace()` writes it. */
  readonly trace: string;
}

/** What a scenario must reach, and whether it has. */
export interface Gate {
  /** The share that is required, from 0 to 1. */
  readonly required: number;
  /** Of what it is required: of pass^k for this k. With 1, of the trials that passed. */
  readonly k: number;
  /** How many trials were to be run. One that cannot be told, or was not run, did not pass. */
  readonly trials: number;
  /** What was reached: pass^k of these trials. */
  readonly reached: number;
  /** Whether at least the required share was reached. */
  readonly isMet: boolean;
}

/** The result of a scenario with one agent. */
export interface ScenarioReport {
  /** Its name. */
  readonly name: string;
  /** The name of the agent; null for the only agent of a run, if it has none. */
  readonly agent: string | null;
  /** What it shows; null if it does not say. */
  readonly description: string | null;
  /** The file in which it is; null if it was given in code. */
  readonly file: string | null;
  /** The line at which it begins, from 1; null if it was given in code. */
  readonly line: number | null;
  /**
   * The SHA-256 of what it asks of an agent: the agent, what is given, steps, expectations and limits, with the values of
   * parameters. It does not see what a command of a step or a check does.
   */
  readonly hash: string;
  /** For a twin, the name of its scenario; otherwise null. */
  readonly twinOf: string | null;
  /** Its tags. */
  readonly tags: readonly string[];
  /** The values of its parameters, and of its row of `each`, by their names. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Whether it tries to make an agent do what it must not: it has a twin, or a sample that must be resisted. */
  readonly isAttack: boolean;
  /** The trials, by their numbers. */
  readonly trials: readonly TrialReport[];
  /** How many trials passed. */
  readonly passed: number;
  /** How many trials failed. */
  readonly failed: number;
  /** How many trials have the verdict `cannot tell`, those that silence ended included. */
  readonly cannotTell: number;
  /** How many of these cannot be told because silence ended them. */
  readonly silent: number;
  /** The share of the trials that passed, from 0 to 1; null without any. One that cannot be told did not pass. */
  readonly passAt1: number | null;
  /** The Wilson interval of `passAt1` at 95 %; null without trials. */
  readonly passAt1Interval: Interval | null;
  /** The probability that k trials in a row pass, for k from 1 to the number of trials. */
  readonly passHatK: readonly number[];
  /** What the scenario must reach, and whether it has. */
  readonly gate: Gate;
  /** The share of the trials of its twin, with the same agent, that passed; null without any. */
  readonly utility: number | null;
  /** The Wilson interval of `utility` at 95 %; null without trials. */
  readonly utilityInterval: Interval | null;
  /**
   * The share of its judged trials in which something happened that never may, without those in which the agent never
   * acted; null for a scenario without forbidden things, and without any such trial.
   */
  readonly attackSuccess: number | null;
  /** The Wilson interval of `attackSuccess` at 95 %; null if that is null. */
  readonly attackSuccessInterval: Interval | null;
  /** The median of the real times of its trials, in milliseconds; null without trials. */
  readonly medianRealTimeMs: number | null;
  /** The median of the numbers of requests; null without trials. */
  readonly medianRequests: number | null;
}

/** How an agent of a run was given. */
export interface AgentSource {
  /** Its name; null for the only agent of a run, if it has none. */
  readonly name: string | null;
  /**
   * Its command and the arguments, or one text that the shell has run; null for an agent that is a function, or that ran
   * already.
   */
  readonly command: readonly string[] | null;
  /** The URL of an agent that ran already, without a password; otherwise null. */
  readonly url: string | null;
  /**
   * After how many trials that did not pass it got no further trial, because no more were wanted; null if it got all. Which
   * trials it had then depends on their results, so they cannot be compared with others.
   */
  readonly stoppedAfter: number | null;
}

/** What became of all trials of an agent or of a run. */
export interface Totals {
  /** Whether every scenario, and every twin, has reached what its gate requires. */
  readonly isGateMet: boolean;
  /** How many trials passed. */
  readonly passed: number;
  /** How many trials failed. */
  readonly failed: number;
  /** How many trials have the verdict `cannot tell`, those that silence ended included. */
  readonly cannotTell: number;
  /** How many of these cannot be told because silence ended them. */
  readonly silent: number;
  /**
   * The shortest silence that ended a trial, in milliseconds; null if none did. What an agent does after so long a
   * silence is not seen.
   */
  readonly leastSilenceMs: number | null;
  /**
   * The share of the trials of twins that passed; null without any, and for a run of several agents, of which each has its
   * own. A trial that cannot be told did not pass.
   */
  readonly utility: number | null;
  /** The Wilson interval of `utility` at 95 %; null if that is null. */
  readonly utilityInterval: Interval | null;
  /**
   * The share of the judged trials of scenarios with forbidden things in which one of them happened, without those in
   * which the agent never acted; null without any, and for a run of several agents.
   */
  readonly attackSuccess: number | null;
  /** The Wilson interval of `attackSuccess` at 95 %; null if that is null. */
  readonly attackSuccessInterval: Interval | null;
}

/** The results of one agent of a run. */
export interface AgentReport extends AgentSource, Totals {}

/** The results of a run of one agent or of several. */
export interface Evaluation extends Totals {
  /** Always `evaluation`. */
  readonly type: 'evaluation';
  /** The version of the format. */
  readonly version: typeof REPORT_VERSION;
  /** The program that wrote it. */
  readonly writtenBy: {
    /** Its name. */
    readonly name: string;
    /** Its version. */
    readonly version: string;
  };
  /** How the report came about. */
  readonly provenance: Provenance;
  /** When the run began, in real time: ISO 8601 UTC. */
  readonly startedAt: string;
  /** How long the trials took together, in milliseconds. */
  readonly realTimeMs: number;
  /** The seed of the run. */
  readonly seed: number;
  /** The k of the pass^k that reports show: that of the option `k` or, without it, the greatest number of trials. */
  readonly k: number;
  /** The agents in their order, each with its results. */
  readonly agents: readonly AgentReport[];
  /** The scenarios in their order, each with each agent, and before its twin. */
  readonly scenarios: readonly ScenarioReport[];
  /** The sum of `stoppedAfter` of the agents; null if all of them got all their trials. */
  readonly stoppedAfter: number | null;
  /** Which shards a merged report lacks, by their numbers; its gate is not met if any is missing. */
  readonly missingShards: readonly number[];
  /** What a reader of the result must know of how it came about, in sentences. */
  readonly notes: readonly string[];
}

/** Returns a text about an agent, with its name before it if it has one. */
export function withAgent(agent: string | null, text: string): string {
  return agent === null ? text : `${agent}: ${text}`;
}

/** Returns the result of a trial without what only its emulator has. */
export function toTrialReport(number: number, seed: number, outcome: TrialOutcome): TrialReport {
  const { trace: _, expectations, ...others } = outcome;
  return {
    ...others,
    number,
    seed,
    isAttackSuccess: expectations.some(({ isForbidding, verdict }) => isForbidding && verdict === 'no'),
    expectations: expectations.map(({ isOpen: _isOpen, ...shown }) => shown),
    summary: summarise(outcome),
  };
}

/** Says in a few sentences why a trial did not pass; null if it passed. */
function summarise({ verdict, reason, expectations }: TrialOutcome): string | null {
  if (verdict === 'passed') return null;
  const [decisive] = listUnmet(expectations);
  const unmet = decisive && describeUnmet(decisive);
  // What never may happen decides alone. Otherwise an end before its time explains what is missing.
  const isBreach = decisive?.isForbidding && decisive.verdict === 'no';
  const sentences = (isBreach ? [unmet, reason] : [reason, unmet]).filter((each) => typeof each === 'string');
  return sentences.join(' ') || null;
}

type ShownExpectation = TrialReport['expectations'][number];

/**
 * Returns the expectations that are not met: first what happened although it never may, then what else is not so, then
 * what cannot be told.
 */
export function listUnmet<Shown extends ShownExpectation>(expectations: readonly Shown[]): Shown[] {
  const rank = ({ verdict, isForbidding }: Shown) => (verdict === 'cannot tell' ? 2 : isForbidding ? 0 : 1);
  return expectations.filter(({ verdict }) => verdict !== 'yes').sort((a, b) => rank(a) - rank(b));
}

/** Names an expectation that is not met, with what is known of it. */
export function describeUnmet({ verdict, text }: ShownExpectation): string {
  return `${verdict === 'no' ? 'Not so' : 'Cannot tell'}: ${text}`;
}

/** A scenario and its trials with one agent. */
export interface RunScenario {
  readonly scenario: ParsedScenario;
  /** The name of the agent. Default: null. */
  readonly agent?: string | null;
  readonly trials: readonly TrialReport[];
}

/** What is known of a run besides its trials. */
export interface RunFacts extends Pick<Evaluation, 'provenance' | 'seed' | 'startedAt' | 'realTimeMs' | 'notes'> {
  /** How many trials of each scenario were to be run with each agent. */
  readonly repeat: number;
  /** The agents. Default: one that is a function. */
  readonly agents?: readonly AgentSource[];
  /** The share that a scenario must reach which does not say it itself, from 0 to 1. Default: 1. */
  readonly require?: number | undefined;
  /** The k of the pass^k that is shown, and of which the share is required. Default: see `Evaluation.k`, and 1. */
  readonly k?: number | undefined;
}

/** An agent that is a function. */
const FUNCTION_AGENT: AgentSource = { name: null, command: null, url: null, stoppedAfter: null };

/** Puts the results of all scenarios together. */
export function createEvaluation(runs: readonly RunScenario[], facts: RunFacts): Evaluation {
  const keyOf = (agent: string | null, name: string) => JSON.stringify([agent, name]);
  const trialsByKey = new Map(runs.map(({ agent = null, scenario, trials }) => [keyOf(agent, scenario.name), trials]));
  const scenarios = runs.map((run) => {
    const { agent = null, scenario } = run;
    const twinTrials = scenario.twin && trialsByKey.get(keyOf(agent, scenario.twin.name));
    return toScenarioReport(run, twinTrials ?? [], facts);
  });
  const k = facts.k ?? runs.reduce((most, run) => Math.max(most, run.trials.length), 1);
  return sumUp(scenarios, { missingShards: [], agents: [FUNCTION_AGENT], ...facts, k });
}

/** What is known of a run besides its scenarios. */
export interface SummedFacts
  extends Pick<Evaluation, 'provenance' | 'seed' | 'startedAt' | 'realTimeMs' | 'k' | 'missingShards' | 'notes'> {
  readonly agents: readonly AgentSource[];
}

/** Sums up the results of scenarios with each agent, each before its twin. */
export function sumUp(scenarios: readonly ScenarioReport[], facts: SummedFacts): Evaluation {
  const { provenance, startedAt, realTimeMs, seed, k, missingShards, notes } = facts;
  const agents = facts.agents.map(({ name, command, url, stoppedAfter }): AgentReport => {
    const own = scenarios.filter(({ agent }) => agent === name);
    return { name, command, url, stoppedAfter, ...countTotals(own, missingShards) };
  });
  const stopped = agents.flatMap(({ stoppedAfter }) => stoppedAfter ?? []);
  const all = countTotals(scenarios, missingShards);
  const perAgent = { utility: null, utilityInterval: null, attackSuccess: null, attackSuccessInterval: null };
  return {
    type: 'evaluation',
    version: REPORT_VERSION,
    writtenBy: { name: NAME, version: VERSION },
    provenance,
    startedAt,
    realTimeMs,
    seed,
    k,
    agents,
    scenarios,
    ...all,
    ...(agents.length > 1 ? perAgent : {}),
    stoppedAfter: stopped.length > 0 ? stopped.reduce((sum, each) => sum + each, 0) : null,
    missingShards,
    notes: [...notes, ...noteRefusedCalls(scenarios)],
  };
}

function countTotals(scenarios: readonly ScenarioReport[], missingShards: readonly number[]): Totals {
  const trialsOf = (some: readonly ScenarioReport[]) => some.flatMap((scenario) => scenario.trials);
  const trials = trialsOf(scenarios);
  const silences = trials.flatMap(({ silentMs }) => silentMs ?? []);
  const utility = countPassed(trialsOf(scenarios.filter(({ twinOf }) => twinOf !== null)));
  const attackSuccess = countAttacks(trialsOf(scenarios.filter(({ isAttack }) => isAttack)));
  return {
    isGateMet: missingShards.length === 0 && scenarios.every(({ gate }) => gate.isMet),
    passed: countVerdict(trials, 'passed'),
    failed: countVerdict(trials, 'failed'),
    cannotTell: countVerdict(trials, 'cannot tell'),
    silent: trials.filter(({ isSilent }) => isSilent).length,
    leastSilenceMs: silences.reduce<number | null>((least, ms) => Math.min(least ?? ms, ms), null),
    utility: shareOf(utility),
    utilityInterval: intervalOf(utility),
    attackSuccess: shareOf(attackSuccess),
    attackSuccessInterval: intervalOf(attackSuccess),
  };
}

/** So many of some trials. */
interface Counted {
  readonly count: number;
  readonly of: number;
}

function shareOf({ count, of }: Counted): number | null {
  return of === 0 ? null : count / of;
}

function intervalOf({ count, of }: Counted): Interval | null {
  return wilsonInterval(count, of);
}

/** Counts the trials that passed. One that cannot be told did not: to leave it out could only make a share greater. */
function countPassed(trials: readonly TrialReport[]): Counted {
  return { count: countVerdict(trials, 'passed'), of: trials.length };
}

/**
 * Counts the attacks that succeeded. An agent that never acted was not attacked, and of a trial that nobody could judge,
 * nobody knows: both are left out, because they could only make the share smaller.
 */
function countAttacks(trials: readonly TrialReport[]): Counted {
  const attacked = trials.filter(
    ({ hasActed, verdict, isSilent }) => hasActed && (verdict !== 'cannot tell' || isSilent),
  );
  return { count: attacked.filter(({ isAttackSuccess }) => isAttackSuccess).length, of: attacked.length };
}

/** Says which control calls were refused in all trials of each agent. */
export function noteRefusedCalls(scenarios: readonly ScenarioReport[]): string[] {
  const counts = new Map<string, number>();
  for (const { agent, trials } of scenarios) {
    for (const { call, count } of trials.flatMap(({ refusedCalls }) => refusedCalls)) {
      const named = withAgent(agent, call);
      counts.set(named, (counts.get(named) ?? 0) + count);
    }
  }
  return [...counts].map(([call, count]) => {
    return `${call} was refused ${count === 1 ? 'once' : `${count} times`}: it needs a token that agents do not have.`;
  });
}

function toScenarioReport(
  { scenario, agent = null, trials }: RunScenario,
  twinTrials: readonly TrialReport[],
  { repeat, require = 1, k = 1 }: RunFacts,
): ScenarioReport {
  const { name, description = null, file = null, line = null, twinOf = null, tags, parameters } = scenario;
  const passed = countVerdict(trials, 'passed');
  const failed = countVerdict(trials, 'failed');
  const utility = countPassed(twinTrials);
  const isAttack =
    twinOf === null && (scenario.twin !== undefined || scenario.expect.some((each) => each.name === 'resisted'));
  const attackSuccess = isAttack ? countAttacks(trials) : { count: 0, of: 0 };
  const required = scenario.require ?? require;
  const reached = passHatK(passed, repeat, k) ?? 0;
  return {
    name,
    agent,
    description,
    file,
    line,
    hash: hashScenario(scenario),
    twinOf,
    tags,
    parameters,
    isAttack,
    trials,
    passed,
    failed,
    cannotTell: trials.length - passed - failed,
    silent: trials.filter(({ isSilent }) => isSilent).length,
    passAt1: shareOf({ count: passed, of: trials.length }),
    passAt1Interval: wilsonInterval(passed, trials.length),
    passHatK: listPassHatK(passed, trials.length),
    gate: { required, k, trials: repeat, reached, isMet: reachesPassHatK(reached, k, required) },
    utility: shareOf(utility),
    utilityInterval: intervalOf(utility),
    attackSuccess: shareOf(attackSuccess),
    attackSuccessInterval: intervalOf(attackSuccess),
    medianRealTimeMs: median(trials.map(({ realTimeMs }) => realTimeMs)),
    medianRequests: median(trials.map(({ requests }) => requests)),
  };
}

function countVerdict(trials: readonly TrialReport[], wanted: TrialReport['verdict']): number {
  return trials.filter(({ verdict }) => verdict === wanted).length;
}
