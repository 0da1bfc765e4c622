import { setMaxListeners } from 'node:events';
import { availableParallelism } from 'node:os';
import { createNameCheck } from '../basics/named-error.ts';
import { performance, RealDate } from '../basics/real-timers.ts';
import { didYouMean } from '../basics/similar-names.ts';
import type { FixtureInput } from '../fixture/parse-fixture.ts';
import type { CreateAgent, TrialAgent } from './agent-driver.ts';
import { EarlierTrials } from './earlier-trials.ts';
import { Emulators } from './emulators.ts';
import {
  type AgentSource,
  createEvaluation,
  type Evaluation,
  type TrialReport,
  toTrialReport,
  withAgent,
} from './evaluation.ts';
import { createIdleAgent } from './function-agent.ts';
import { LastingAgent } from './lasting-agent.ts';
import { type ParsedScenario, ScenarioError, type ScenarioProblem } from './parse-scenarios.ts';
import { hashSuite, hashValue, type Provenance, readGitState, type Shard } from './provenance.ts';
import { type RunShellCommand, runTrial, type TrialScope, type TrialSettings } from './run-trial.ts';

/** How an evaluation is run. */
export interface RunOptions {
  /** How often each scenario is run. Default: 1. */
  readonly repeat?: number | undefined;
  /**
   * The share of its trials that must pass, from 0 to 1, for each scenario that does not say it by `require`; with `k`,
   * the least pass^k. A trial that cannot be told did not pass. Default: 1, so that every trial must pass.
   */
  readonly require?: number | undefined;
  /**
   * The k of the pass^k that the report shows, and of which `require` is required: from 1 to `repeat`. Default: the report
   * shows that of `repeat`, and the share of the trials that passed is required.
   */
  readonly k?: number | undefined;
  /** How many trials run at the same time. Default: the number of processors, at most 8. */
  readonly concurrency?: number | undefined;
  /** Only scenarios whose names, or those of their twins, contain this text, with their twins. Default: all. */
  readonly only?: string | undefined;
  /** Only scenarios with one of these tags, with their twins. Default: all. */
  readonly tags?: readonly string[] | undefined;
  /** After so many trials of an agent that did not pass, it gets no further trial. Default: all trials run. */
  readonly maxFailures?: number | undefined;
  /** The seed of the samples, ids and domains: a whole number from 0 to 2^53 - 1. Default: 1. */
  readonly seed?: number | undefined;
  /** The longest real time of a trial whose scenario has no limit, in milliseconds. Default: 60,000. */
  readonly timeoutMs?: number | undefined;
  /**
   * How long nothing may happen, in milliseconds of real time, until an agent counts as quiet: no request, command, mail
   * or delivery. Default: 2,000.
   */
  readonly quietMs?: number | undefined;
  /** The fixture; its first tenant is the one of the agent. Default: the default fixture, with empty inboxes. */
  readonly fixtures?: FixtureInput | undefined;
}

/** An agent that is evaluated. */
export interface RunAgent {
  /** Its name; undefined for the only agent of a run, if it has none. */
  readonly name?: string | undefined;
  /** Its command, for the report; undefined if it has none. */
  readonly command?: readonly string[] | undefined;
  /** The URL of an agent that runs already, for the report. */
  readonly url?: string | undefined;
  readonly createAgent: CreateAgent;
  /** Only for a run with `isShared`: starts the agent that serves all trials in its emulator. */
  readonly startShared?: ((scope: TrialScope) => Promise<TrialAgent>) | undefined;
  /** Whether a shared agent knows the keys of the fixture, which are then not replaced. */
  readonly keepsSecrets?: boolean | undefined;
}

/** What a program that runs an evaluation adds. */
export interface RunDetails extends RunOptions {
  /** The agents; of several, each has a name. */
  readonly agents: readonly RunAgent[];
  /** The part of the chosen scenarios that is run. Default: all of them. */
  readonly shard?: Shard | undefined;
  /** Whether each agent is started once, and serves its trials one after the other, with a whole emulator. */
  readonly isShared?: boolean | undefined;
  /** The port of the first emulator or, with `isShared`, of that of each agent; 0 for a free one. */
  readonly port?: number | undefined;
  readonly runCommand: RunShellCommand;
  readonly signal?: AbortSignal | undefined;
  /** Is called after each trial; the trace can be read until it returns. */
  readonly onTrial?: ((done: FinishedTrial) => void | Promise<void>) | undefined;
}

/** A trial that has ended. */
export interface FinishedTrial {
  readonly scenario: ParsedScenario;
  /** The name of the agent; null if it has none. */
  readonly agent: string | null;
  readonly report: TrialReport;
  /** How many trials have ended so far, and how many there are. */
  readonly done: number;
  readonly total: number;
  trace(): string;
}

/** The default values of the options. */
export const RUN_DEFAULTS = { repeat: 1, seed: 1, timeoutMs: 60_000, quietMs: 2_000 } as const;

/** What the report says if the keys of the fixture are not replaced. */
const KEEPS_SECRETS =
  'The keys are those of the fixture, because the agent knows no others. Who knows them can act in its place.';

/** Thrown if an agent that does nothing would pass some scenarios, so that they show nothing. */
export class IdleError extends Error {
  /** Recognises the error by its name, also if it comes from a second copy of this package. */
  static override readonly [Symbol.hasInstance] = createNameCheck('IdleError');
  /** Always `IdleError`. */
  override readonly name = 'IdleError';
}

/**
 * Runs every scenario, and its twin, with each agent. The trials of a scenario with the same number have the same mails, ids
 * and times for each agent, so that they can be compared in pairs.
 *
 * @throws {IdleError} before an agent is started, if one that does nothing would pass a scenario. @throws
 *   {ScenarioError} if no scenario is chosen, and for a mistake that shows only when a scenario runs.
 */
export async function runEvaluation(scenarios: readonly ParsedScenario[], details: RunDetails): Promise<Evaluation> {
  const { agents, repeat = RUN_DEFAULTS.repeat, seed = RUN_DEFAULTS.seed, maxFailures, isShared = false } = details;
  const suite = chooseScenarios(scenarios, details);
  const { index, count } = details.shard ?? { index: 1, count: 1 };
  // Those of each shard lie apart, because neighbours are often alike and take as long.
  const chosen = suite.filter((_, position) => position % count === index - 1);
  // Each trial that runs listens to the signal.
  if (details.signal) setMaxListeners(0, details.signal);
  const settings: TrialSettings = {
    seed,
    quietMs: details.quietMs ?? RUN_DEFAULTS.quietMs,
    timeoutMs: details.timeoutMs ?? RUN_DEFAULTS.timeoutMs,
    runCommand: details.runCommand,
    signal: details.signal,
  };
  const concurrency = isShared ? 1 : (details.concurrency ?? Math.min(availableParallelism(), 8));
  const servesMail = chosen.some(({ agent, twin }) => [agent, twin?.agent].some((each) => each?.told === 'imap'));
  const provenance: Provenance = {
    git: await readGitState(),
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    repeat,
    require: details.require ?? 1,
    timeoutMs: settings.timeoutMs,
    quietMs: settings.quietMs,
    isShared,
    fixtures: details.fixtures === undefined ? null : hashValue(details.fixtures),
    suite: { scenarios: suite.length, hash: hashSuite(suite) },
    shard: details.shard ?? null,
  };
  const runs = chosen.flatMap((scenario) => (scenario.twin ? [scenario, scenario.twin] : [scenario]));
  const results = runs.flatMap((scenario) => agents.map((agent) => ({ scenario, agent, trials: [] as TrialReport[] })));
  const total = results.length * repeat;
  let done = 0;
  const failures = new Map(agents.map((agent) => [agent, { count: 0, isStopped: false }]));
  let startedAt: string | undefined;
  let startedMs = 0;
  // Agents in sandboxes run side by side, so that what else goes on is the same for all. Of agents that serve all trials,
  // each has the whole emulator, one after the other.
  for (const group of isShared ? agents.map((agent) => [agent]) : [agents]) {
    await using emulators = new Emulators({
      fixtures: details.fixtures,
      port: details.port,
      servesMail,
      keepsSecrets: isShared && group.some(({ keepsSecrets = false }) => keepsSecrets),
      sharedMayControl: chosen.every(({ agent }) => agent.control),
    });
    // The shared emulator is started first, because it is the one that has the wanted port.
    if (isShared) await emulators.shared();
    if (startedAt === undefined) await refuseIdleScenarios(chosen, emulators, settings, concurrency);
    const [first] = group;
    const lasting = chosen.length > 0 && isShared ? await first?.startShared?.(await emulators.shared()) : undefined;
    if (startedAt === undefined) {
      startedAt = new RealDate().toISOString();
      startedMs = performance.now();
    }
    const earlier = new EarlierTrials();
    const numbers = Array.from({ length: repeat }, (_, index) => index + 1);
    const jobs = runs.flatMap((_, index) => {
      const ofScenario = results.slice(index * agents.length, (index + 1) * agents.length);
      const own = ofScenario.filter(({ agent }) => group.includes(agent));
      return numbers.flatMap((number) => own.map((result) => ({ ...result, number })));
    });
    const runJob = async ({ scenario, agent, trials, number }: (typeof jobs)[number]) => {
      const failed = failures.get(agent);
      if (details.signal?.aborted || !failed) return;
      if (failed.count >= (maxFailures ?? Infinity)) {
        failed.isStopped = true;
        return;
      }
      const trialSeed = seedOf(seed, scenario.name, number);
      const runIn = async (scope: TrialScope) => {
        const trialAgent = lasting ? new LastingAgent(lasting) : await agent.createAgent(scenario, number);
        // Each trial of a shared agent has samples of its own, so that the code of one shows to which trial an act belongs.
        const outcome = await runTrial(
          scenario,
          trialAgent,
          scope,
          isShared ? { ...settings, seed: trialSeed, earlier } : settings,
        );
        const report = toTrialReport(number, trialSeed, outcome);
        done += 1;
        if (report.verdict !== 'passed') failed.count += 1;
        const { trace } = outcome;
        await details.onTrial?.({ scenario, agent: agent.name ?? null, report, done, total, trace });
        if (isShared) earlier.add(scope.mailbox);
        trials.push(report);
      };
      if (!isShared) return emulators.withSandbox(scenario, { seed: trialSeed, agent: agents.indexOf(agent) }, runIn);
      await emulators.restore(scenario);
      await runIn(await emulators.shared());
    };
    try {
      if (isShared && chosen.length > 0) await emulators.keep();
      await inParallel(jobs, concurrency, runJob);
    } finally {
      await lasting?.stop();
    }
  }
  for (const { trials } of results) trials.sort((one, other) => one.number - other.number);
  return createEvaluation(
    results.map(({ scenario, agent, trials }) => ({ scenario, agent: agent.name ?? null, trials })),
    {
      repeat,
      agents: agents.map((agent): AgentSource => {
        const { name = null, command = null, url } = agent;
        const failed = failures.get(agent);
        const stoppedAfter = failed?.isStopped ? failed.count : null;
        return { name, command, url: url === undefined ? null : withoutPassword(url), stoppedAfter };
      }),
      require: details.require,
      k: details.k,
      provenance,
      seed,
      startedAt: startedAt ?? new RealDate().toISOString(),
      realTimeMs: Math.round(performance.now() - startedMs),
      notes: agents.filter(({ keepsSecrets }) => keepsSecrets).map(({ name = null }) => withAgent(name, KEEPS_SECRETS)),
    },
  );
}

/** Returns a URL without the name and the password in it. Places such as `{key}` stay as they are. */
function withoutPassword(url: string): string {
  return url.replace(/^(https?:\/\/)[^/?#]*@/i, '$1');
}

function chooseScenarios(
  scenarios: readonly ParsedScenario[],
  { only, tags }: Pick<RunOptions, 'only' | 'tags'>,
): readonly ParsedScenario[] {
  const refuse = (message: string): never => {
    throw new ScenarioError([{ file: undefined, line: undefined, path: '$', message }]);
  };
  const known = [...new Set(scenarios.flatMap((scenario) => scenario.tags))];
  const unknown = tags?.find((tag) => !known.includes(tag));
  if (unknown !== undefined) {
    const hint =
      didYouMean(unknown, known) ||
      `; ${known.length === 0 ? 'they have no tags' : `the tags are ${known.join(', ')}`}`;
    refuse(`has no scenario with the tag ${JSON.stringify(unknown)}${hint}`);
  }
  const tagged = scenarios.filter((scenario) => tags === undefined || scenario.tags.some((tag) => tags.includes(tag)));
  const wanted = only?.toLowerCase();
  const isWanted = (name: string) => wanted === undefined || name.toLowerCase().includes(wanted);
  const chosen = tagged.filter(({ name, twin }) => isWanted(name) || (twin !== undefined && isWanted(twin.name)));
  if (chosen.length > 0) return chosen;
  if (only === undefined) return refuse('There is no scenario');
  const having = tags === undefined ? '' : ` with the tag ${tags.join(' or ')}`;
  return refuse(`has no scenario${having} whose name contains ${JSON.stringify(only)}`);
}

/** Runs each scenario once with an agent that does nothing. @throws {IdleError} */
async function refuseIdleScenarios(
  scenarios: readonly ParsedScenario[],
  emulators: Emulators,
  settings: TrialSettings,
  concurrency: number,
): Promise<void> {
  const idle: string[] = [];
  const mistakes: ScenarioProblem[] = [];
  const passes = async (scenario: ParsedScenario): Promise<boolean> =>
    emulators.withSandbox(
      scenario,
      { seed: seedOf(settings.seed, `idle ${scenario.name}`, 0), agent: 0 },
      async (scope) => {
        const agent = await createIdleAgent(scenario, 0);
        const outcome = await runTrial(scenario, agent, scope, { ...settings, isIdle: true });
        // A step that is not possible has nothing to do with what the agent does, but for a mail that must be there.
        if (outcome.verdict === 'cannot tell' && outcome.reason !== null && !outcome.lacksSentMail) {
          const { file, line, name } = scenario;
          mistakes.push({ file, line, path: `${JSON.stringify(name)}:`, message: outcome.reason.replace(/\.$/, '') });
        }
        return outcome.verdict === 'passed';
      },
    );
  await inParallel(scenarios, Math.max(concurrency, 4), async (scenario) => {
    const [isPassed, isTwinPassed] = [await passes(scenario), scenario.twin ? await passes(scenario.twin) : true];
    // A scenario and its twin belong together: what forbids shows nothing without what must be done.
    if (isPassed && isTwinPassed && !scenario.idlePasses)
      idle.push(`${placeOf(scenario)}${JSON.stringify(scenario.name)}`);
  });
  if (mistakes.length > 0) throw new ScenarioError(mistakes);
  if (idle.length === 0) return;
  const subject = idle.length === 1 ? 'this scenario, which therefore shows' : 'these scenarios, which therefore show';
  throw new IdleError(
    `An agent that does nothing would pass ${subject} nothing; expect something that it must do, or write ` +
      `\`idle: passes\`:\n${idle.sort().join('\n')}`,
  );
}

function placeOf({ file, line }: ParsedScenario): string {
  const place = [file, line].filter((part) => part !== undefined).join(':');
  return place === '' ? '' : `${place}: `;
}

/**
 * Returns the seed of a trial, by which its ids and its domain are the same in every run: the FNV-1a hash (32 bits) of
 * the parts, twice.
 */
export function seedOf(seed: number, name: string, number: number): number {
  const hash = (text: string) => {
    let value = 0x811c9dc5;
    for (const byte of new TextEncoder().encode(text)) value = Math.imul(value ^ byte, 0x01000193) >>> 0;
    return value;
  };
  const text = `${seed}\n${number}\n${name}`;
  return (hash(text) % 2 ** 21) * 2 ** 32 + hash(`${text}\n`);
}

/** Runs jobs, at most `limit` at the same time. After an error, begins no further job, and throws it. */
async function inParallel<Job>(jobs: readonly Job[], limit: number, run: (job: Job) => Promise<void>): Promise<void> {
  const queue = jobs.values();
  const failures: unknown[] = [];
  const work = async () => {
    for (const job of queue) {
      if (failures.length > 0) return;
      await run(job).catch((error: unknown) => failures.push(error));
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, jobs.length) }, work));
  if (failures.length > 0) throw failures[0];
}
