import { randomUUID } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { appendFile, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, resolve, sep } from 'node:path';
import { readDuration } from '../../basics/duration.ts';
import { parseForeignJson } from '../../basics/foreign-json.ts';
import { showJsonPath } from '../../basics/json-path.ts';
import { toPrintableJson } from '../../basics/printable.ts';
import { NAME } from '../../basics/version.ts';
import { ApiError } from '../../contract/errors.ts';
import { CannotStartError } from '../../evaluate/agent-driver.ts';
import {
  type ComparableEvaluation,
  compareEvaluations,
  isWorse,
  listColumns,
  writeComparison,
} from '../../evaluate/compare-evaluations.ts';
import { describeEvaluation, describeMissing } from '../../evaluate/describe-evaluation.ts';
import { loadScenarios } from '../../evaluate/evaluate.ts';
import { type Evaluation, REPORT_VERSION } from '../../evaluate/evaluation.ts';
import { listProblems } from '../../evaluate/list-problems.ts';
import { MergeError, mergeEvaluations } from '../../evaluate/merge-evaluations.ts';
import { type ParsedScenario, ScenarioError } from '../../evaluate/parse-scenarios.ts';
import { hasPlaceholder } from '../../evaluate/process-agent.ts';
import type { Shard } from '../../evaluate/provenance.ts';
import { writeAnnotations } from '../../evaluate/report-annotations.ts';
import { trialKey, writeEvaluationPage } from '../../evaluate/report-html.ts';
import { writeJunit } from '../../evaluate/report-junit.ts';
import { writeComparisonMarkdown, writeMarkdown } from '../../evaluate/report-markdown.ts';
import { evaluationSchema } from '../../evaluate/report-schema.ts';
import { writeEvaluation } from '../../evaluate/report-text.ts';
import { type FinishedTrial, IdleError, type RunDetails, runEvaluation } from '../../evaluate/run-evaluation.ts';
import { isShare, SHARE_RULE, TOLD, TOLD_RULE, type Told } from '../../evaluate/scenario-values.ts';
import { runShellCommand } from '../../evaluate/shell-command.ts';
import { FixtureError } from '../../fixture/fixture-part.ts';
import { DEFAULT_HOST } from '../../server/loopback.ts';
import {
  CannotRunError,
  type GivenFlag,
  type GivenFlags,
  parseEach,
  parsePair,
  quote,
  type RunCommand,
  readText,
  type Terminal,
  textOfFlag,
  UsageError,
} from '../command.ts';
import { explainWriteError, readNamedFile } from '../files.ts';
import { EVALUATE_FLAGS } from '../flags.ts';
import { checkOutput, OUTPUT_KINDS, type OutputOptions, readForce, writeOutput } from '../output-file.ts';
import { readFixture } from '../read-fixture.ts';
import { COULD_NOT_RUN, checkAgents, createRunAgents, readAgents } from './evaluate-agents.ts';
import { explainListenError } from './explain-listen-error.ts';
import { parseOne } from './start-settings.ts';

/**
 * Runs scenarios with an agent, or compares two reports. The exit code is 0 if every scenario has reached what is
 * required, which is by default that every trial passes, 1 if one has not, and 2 if the scenarios could not be run.
 */
export const evaluateCommand: RunCommand = async (terminal, flags, first = '', command, others) => {
  if (first === 'compare') return compare(terminal, flags, others);
  if (first === 'merge') return merge(terminal, flags, others);
  return run(terminal, flags, [first, ...others], command).catch((error: unknown) => {
    const isKnown = [ScenarioError, IdleError, ApiError, FixtureError, CannotRunError, CannotStartError].some(
      (known) => error instanceof known,
    );
    const { code = '', port = 0, message } = error as Error & { readonly code?: string; readonly port?: number };
    const sentence = isKnown ? message : explainListenError(code, { host: DEFAULT_HOST, port, flag: '--port' });
    throw sentence === undefined ? error : new CannotRunError(sentence, COULD_NOT_RUN);
  });
};

async function run(
  terminal: Terminal,
  flags: GivenFlags,
  paths: readonly string[],
  command: readonly string[],
): Promise<number> {
  if (flags.all) throw new UsageError(`${flags.all.source} is only for the command evaluate compare.`);
  const agents = readAgents(flags, command, paths);
  const isShared = flags.shared?.value === true || agents.some(({ url }) => url !== undefined && !hasPlaceholder(url));
  const repeat = readCount(flags.repeat, 1);
  const k = readCount(flags.k, 1);
  if (k !== undefined && k > (repeat ?? 1)) {
    throw new UsageError(`${flags.k?.source} must be at most the number of trials in --repeat, ${repeat ?? 1}.`);
  }
  const require = readShare(flags.require);
  const set = parseEach(flags.set, (text, source) => parsePair(text, source, '<parameter>=<text>'));
  const scenarios = await loadScenarios(paths, { told: readTold(flags.told), parameters: Object.fromEntries(set) });
  const started = scenarios.find(({ agent }) => agent.told === 'start');
  if (started && (isShared || agents.some(({ url }) => url !== undefined))) {
    throw new UsageError(
      `The scenario ${quote(started.name)} has told: start, so its command is started when mail has come; this needs a ` +
        'command after --, or by --agent, without --shared.',
    );
  }
  const fixtureFile = textOfFlag(flags.fixtures);
  const fixtures = fixtureFile === undefined ? undefined : await readFixture(fixtureFile, terminal.err);
  const controller = new AbortController();
  void terminal.interrupted.then(() => controller.abort());
  const files = await Files.open(flags);
  const details: RunDetails = {
    repeat,
    require,
    k,
    concurrency: readCount(flags.concurrency, 1),
    only: textOfFlag(flags.only),
    tags: flags.tag && parseEach(flags.tag, (tag) => tag),
    maxFailures: readCount(flags['max-failures'], 1),
    seed: parseOne(EVALUATE_FLAGS.seed, flags.seed),
    timeoutMs: readTime(flags.timeout, 1),
    quietMs: readTime(flags['quiet-time'], 0),
    port: parseOne(EVALUATE_FLAGS.port, flags.port) ?? 0,
    fixtures: fixtures as never,
    isShared,
    runCommand: runShellCommand,
    signal: controller.signal,
    agents: createRunAgents(terminal, flags, agents, scenarios),
    shard: readShard(flags.shard),
    async onTrial(trial) {
      await files.keepTrace(trial, scenarios);
      showProgress(terminal, trial);
    },
  };
  try {
    await checkAgents(agents, terminal.env);
    const evaluation = await runEvaluation(scenarios, details);
    terminal.showStatus?.('');
    // If a file cannot be written, the result is not lost.
    printReport(terminal, flags, evaluation);
    await files.write(evaluation);
    await writeSummary(terminal, flags, evaluation);
    if (evaluation.scenarios.length === 0) terminal.err(`${NAME}: ${describeEvaluation(evaluation).totals.counts}`);
    if (controller.signal.aborted) return COULD_NOT_RUN;
    return evaluation.isGateMet ? 0 : 1;
  } finally {
    await files.close();
  }
}

function readShare(flag: GivenFlag | undefined): number | undefined {
  const text = textOfFlag(flag);
  if (text === undefined) return undefined;
  if (/^(?:\d+(?:\.\d+)?|\.\d+)$/.test(text) && isShare(Number(text))) return Number(text);
  throw new UsageError(`${flag?.source} must be ${SHARE_RULE}, not ${quote(text)}.`);
}

function readShard(flag: GivenFlag | undefined): Shard | undefined {
  const text = textOfFlag(flag);
  if (text === undefined) return undefined;
  const [, index = 0, count = 0] = (/^(\d{1,4})\/(\d{1,4})$/.exec(text) ?? []).map(Number);
  if (index >= 1 && index <= count) return { index, count };
  throw new UsageError(
    `${flag?.source} must be a part of all parts, such as 1/4 for the first of four, not ${quote(text)}.`,
  );
}

function readTold(flag: GivenFlag | undefined): Told | undefined {
  const text = textOfFlag(flag);
  const told = TOLD.find((each) => each === text);
  if (text === undefined || told) return told;
  throw new UsageError(`${flag?.source} must be ${TOLD_RULE}, not ${quote(text)}.`);
}

function readCount(flag: GivenFlag | undefined, least: number): number | undefined {
  const text = textOfFlag(flag);
  if (text === undefined) return undefined;
  if (/^\d{1,7}$/.test(text) && Number(text) >= least) return Number(text);
  throw new UsageError(`${flag?.source} must be a whole number from ${least} to 9999999, not ${quote(text)}.`);
}

function readTime(flag: GivenFlag | undefined, leastMs: number): number | undefined {
  const text = textOfFlag(flag);
  if (text === undefined) return undefined;
  // A number without a unit is refused, because `--timeout` of verify counts seconds, and a scenario milliseconds.
  const timeMs = /[a-z]/i.test(text) || Number(text) === 0 ? readDuration(text) : undefined;
  if (timeMs !== undefined && timeMs >= leastMs && timeMs <= 24 * 60 * 60 * 1000) return timeMs;
  throw new UsageError(`${flag?.source} must be a duration such as 60s or 5m, up to 1d, not ${quote(text)}.`);
}

function showProgress({ showStatus }: Terminal, { done, total, scenario, agent, report }: FinishedTrial): void {
  const latest = agent === null ? quote(scenario.name) : `${quote(scenario.name)} with ${agent}`;
  showStatus?.(`${done} of ${total} trials; the latest, of ${latest}, ${report.verdict}`);
}

/** Prints a report in the form that is wanted. */
function printReport({ out, env }: Terminal, flags: GivenFlags, evaluation: Evaluation): void {
  const isSummary = flags.summary?.value === true;
  if (flags.json?.value === true) out(toPrintableJson(evaluation));
  else if (flags.markdown?.value === true || (isSummary && !env.GITHUB_STEP_SUMMARY)) out(writeMarkdown(evaluation));
  else if (isSummary) {
    // What an agent has printed must not be a command for GitHub, which reads all lines of the log.
    const token = randomUUID();
    out(`::stop-commands::${token}\n${writeEvaluation(evaluation)}\n::${token}::`);
  } else out(writeEvaluation(evaluation));
}

/** Adds the report to the summary of a job of GitHub Actions, and prints its annotations. */
async function writeSummary({ err, env }: Terminal, flags: GivenFlags, evaluation: Evaluation): Promise<void> {
  if (flags.summary?.value !== true) return;
  const file = env.GITHUB_STEP_SUMMARY;
  if (!file) {
    if (flags.json?.value === true) err(writeMarkdown(evaluation));
    return;
  }
  await appendFile(file, `${writeMarkdown(evaluation)}\n`).catch((error: unknown) => {
    throw explainWriteError(error, file);
  });
  const root = env.GITHUB_WORKSPACE || process.cwd();
  const toPath = (path: string) => relative(root, resolve(path)).split(sep).join('/');
  // The standard output may be redirected to a file; GitHub reads both.
  for (const line of writeAnnotations(evaluation, toPath)) err(line);
}

/** How large a page may become by its traces, in bytes. */
const MAX_PAGE_BYTES = 64 * 1024 * 1024;

/** The files that a run writes. Traces are kept in files, so that memory does not grow with the number of trials. */
class Files {
  readonly #junit: string | undefined;
  readonly #html: string | undefined;
  readonly #traces: string | undefined;
  readonly #temporary: string | undefined;
  readonly #options: OutputOptions;
  readonly #names = new Map<string, string>();

  private constructor(flags: GivenFlags, temporary: string | undefined) {
    this.#junit = textOfFlag(flags.junit);
    this.#html = textOfFlag(flags.html);
    this.#traces = textOfFlag(flags.traces);
    this.#temporary = temporary;
    this.#options = readForce(flags);
  }

  /** Creates the folders that are needed, and checks the others, before anything runs. */
  static async open(flags: GivenFlags): Promise<Files> {
    const traces = textOfFlag(flags.traces);
    const [junit, html] = [readText(flags.junit), readText(flags.html)];
    if (junit !== undefined) await checkOutput(junit, OUTPUT_KINDS.junit, readForce(flags));
    if (html !== undefined) await checkOutput(html, OUTPUT_KINDS.page, readForce(flags));
    if (traces !== undefined) {
      await mkdir(traces, { recursive: true }).catch((error: unknown) => {
        throw explainWriteError(error, traces);
      });
      const names = await readdir(traces).catch((error: unknown) => {
        throw explainWriteError(error, traces);
      });
      // A file with the name of a trace that the run may write.
      for (const name of names.filter((each) => /^\d{3,}-.*-\d+\.jsonl$/.test(each))) {
        await checkOutput(join(traces, name), OUTPUT_KINDS.trace, readForce(flags));
      }
    }
    const needsTemporary = textOfFlag(flags.html) !== undefined && traces === undefined;
    return new Files(flags, needsTemporary ? await mkdtemp(join(tmpdir(), `${NAME}-`)) : undefined);
  }

  /** Writes the trace of a trial, if a folder of traces or a page is wanted. */
  async keepTrace(
    { scenario, agent, report, trace }: FinishedTrial,
    scenarios: readonly ParsedScenario[],
  ): Promise<void> {
    const folder = this.#traces ?? this.#temporary;
    if (folder === undefined) return;
    const position = scenarios.findIndex(({ name }) => name === (scenario.twinOf ?? scenario.name)) + 1;
    const slug = scenario.name.replace(/[^\p{L}\p{N}]+/gu, '-').slice(0, 60);
    const parts = [String(position).padStart(3, '0'), slug, ...(agent === null ? [] : [agent]), report.number];
    const file = join(folder, `${parts.join('-')}.jsonl`);
    this.#names.set(JSON.stringify([scenario.name, agent, report.number]), file);
    await writeOutput(file, OUTPUT_KINDS.trace, trace(), this.#options);
  }

  /** Writes the report in the forms that are wanted. */
  async write(evaluation: Evaluation): Promise<void> {
    if (this.#junit !== undefined) {
      await writeOutput(this.#junit, OUTPUT_KINDS.junit, writeJunit(evaluation), this.#options);
    }
    if (this.#html === undefined) return;
    const files = new Map(
      evaluation.scenarios.flatMap(({ name, agent, trials }, index) =>
        trials.flatMap(({ number }) => {
          const file = this.#names.get(JSON.stringify([name, agent, number]));
          return file === undefined ? [] : [[trialKey(index, number), file] as const];
        }),
      ),
    );
    let bytes = 0;
    const page = await writeEvaluationPage(evaluation, (key) => {
      const file = files.get(key);
      if (file === undefined) return undefined;
      bytes += statSync(file).size;
      return bytes > MAX_PAGE_BYTES ? undefined : readFileSync(file, 'utf8');
    });
    await writeOutput(this.#html, OUTPUT_KINDS.page, page, this.#options);
  }

  async close(): Promise<void> {
    if (this.#temporary !== undefined) await rm(this.#temporary, { recursive: true, force: true });
  }
}

/** The flags that `evaluate compare` takes. */
const COMPARE_FLAGS: ReadonlySet<string> = new Set(['agent', 'all', 'json', 'markdown']);

/**
 * Compares reports that `evaluate --json` has printed: two reports, agent by agent, or the agents of one report, the first
 * one with each of the others. The exit code is 1 if an agent got worse, or is worse than the first, on the whole or in a
 * scenario.
 */
async function compare(terminal: Terminal, flags: GivenFlags, paths: readonly string[]): Promise<number> {
  checkFlags('compare', flags, COMPARE_FLAGS);
  const [before, after, ...more] = paths;
  if (before === undefined || more.length > 0) {
    throw new UsageError(
      `The command evaluate compare takes two reports, or one of several agents: npx ${NAME} evaluate compare before.json after.json.`,
    );
  }
  const one = await readColumns(before);
  const other = after === undefined ? one : await readColumns(after);
  const names = parseEach(flags.agent, (name) => name);
  const pairs =
    after === undefined ? pairInReport(before, one, names) : pairReports([before, one], [after, other], names);
  for (const { file, column } of pairs.flatMap(({ from, to }) => [
    { file: before, column: from },
    { file: after ?? before, column: to },
  ])) {
    if ((column.agent?.stoppedAfter ?? null) === null) continue;
    const of = column.agent?.name == null ? '' : ` of ${column.agent.name}`;
    throw new CannotRunError(
      `The run${of} in ${file} was stopped by --max-failures, so which trials it has depends on their results; compare a run without it.`,
      COULD_NOT_RUN,
    );
  }
  const comparisons = pairs.map(({ from, to }) => compareEvaluations(from, to));
  if (comparisons.every(({ scenarios }) => scenarios.length === 0)) {
    throw new CannotRunError(`The reports ${before} and ${after} have no scenario in common.`, COULD_NOT_RUN);
  }
  if (comparisons.every(({ scenarios }) => scenarios.every(({ change }) => change === 'other scenario'))) {
    throw new CannotRunError(
      `Every scenario that ${before} and ${after} have in common has changed in between.`,
      COULD_NOT_RUN,
    );
  }
  const all = flags.all?.value === true;
  const write = flags.markdown?.value === true ? writeComparisonMarkdown : writeComparison;
  const [first, ...others] = comparisons;
  if (flags.json?.value === true) terminal.out(toPrintableJson(others.length === 0 ? first : comparisons));
  else terminal.out(comparisons.map((comparison) => write(comparison, { all })).join('\n\n'));
  return comparisons.some(isWorse) ? 1 : 0;
}

/** Two columns to compare. */
interface ColumnPair {
  readonly from: ComparableEvaluation;
  readonly to: ComparableEvaluation;
}

/** Pairs the agents of one report: those that are named, or the first with each of the others. */
function pairInReport(file: string, columns: readonly ComparableEvaluation[], names: readonly string[]): ColumnPair[] {
  if (columns.length === 1) {
    throw new CannotRunError(
      `The report ${file} is of one agent; give a second report, or one of a run with several agents.`,
      COULD_NOT_RUN,
    );
  }
  const [from, ...others] = names.length === 0 ? columns : names.map((name) => findColumn(file, columns, name));
  if (from === undefined || others.length === 0 || new Set([from, ...others]).size <= others.length) {
    throw new UsageError('To compare agents of one report, name at least two different ones by --agent, or none.');
  }
  return others.map((to) => ({ from, to }));
}

/** Pairs the agents of two reports: those that are named, those with the same names, or the only agents of both. */
function pairReports(
  [before, from]: readonly [file: string, columns: readonly ComparableEvaluation[]],
  [after, to]: readonly [file: string, columns: readonly ComparableEvaluation[]],
  names: readonly string[],
): ColumnPair[] {
  const [one, other = one, ...more] = names;
  if (more.length > 0) {
    throw new UsageError('To compare two reports, name by --agent one agent of both, or one of each, or none.');
  }
  if (one !== undefined && other !== undefined) {
    return [{ from: findColumn(before, from, one), to: findColumn(after, to, other) }];
  }
  const [onlyFrom, onlyTo] = [from[0], to[0]];
  if (from.length === 1 && to.length === 1 && onlyFrom && onlyTo) return [{ from: onlyFrom, to: onlyTo }];
  const pairs = from.flatMap((column) => {
    const same = to.find(({ agent }) => agent?.name === column.agent?.name);
    return same ? [{ from: column, to: same }] : [];
  });
  if (pairs.length > 0) return pairs;
  throw new CannotRunError(
    `The reports ${before} and ${after} have no agent in common; name one of each by --agent: ` +
      `${listAgents(from)}, and ${listAgents(to)}.`,
    COULD_NOT_RUN,
  );
}

function findColumn(file: string, columns: readonly ComparableEvaluation[], name: string): ComparableEvaluation {
  const column = columns.find(({ agent }) => agent?.name === name);
  if (column) return column;
  throw new CannotRunError(
    `The report ${file} has no agent ${quote(name)}; it has ${listAgents(columns)}.`,
    COULD_NOT_RUN,
  );
}

function listAgents(columns: readonly ComparableEvaluation[]): string {
  return columns.map(({ agent }) => agent?.name ?? 'one without a name').join(', ');
}

/** The flags that `evaluate merge` takes. */
const MERGE_FLAGS: ReadonlySet<string> = new Set(['json', 'markdown', 'summary', 'junit', 'html', 'force']);

/**
 * Puts the reports of the shards of one run together. The exit code is that of the run, or 2 if a shard is missing or if
 * the reports are not of one run.
 */
async function merge(terminal: Terminal, flags: GivenFlags, files: readonly string[]): Promise<number> {
  checkFlags('merge', flags, MERGE_FLAGS);
  if (files.length === 0) {
    throw new UsageError(
      `The command evaluate merge takes the reports of all shards: npx ${NAME} evaluate merge report-*.json.`,
    );
  }
  const reports = await Promise.all(
    files.map(async (file) => {
      const evaluation = await readReport(file);
      if (!('provenance' in evaluation)) refuseReport(file, 'it does not say how it came about');
      return { file, evaluation };
    }),
  );
  const output = await Files.open(flags);
  try {
    const evaluation = mergeEvaluations(reports);
    printReport(terminal, flags, evaluation);
    await output.write(evaluation);
    await writeSummary(terminal, flags, evaluation);
    if (evaluation.missingShards.length > 0) throw new CannotRunError(describeMissing(evaluation), COULD_NOT_RUN);
    return evaluation.isGateMet ? 0 : 1;
  } catch (error) {
    throw error instanceof MergeError ? new CannotRunError(error.message, COULD_NOT_RUN) : error;
  } finally {
    await output.close();
  }
}

function checkFlags(command: 'compare' | 'merge', flags: GivenFlags, taken: ReadonlySet<string>): void {
  const other = Object.entries(flags).find(([name, flag]) => !taken.has(name) && flag?.source.startsWith('-'));
  if (other) throw new UsageError(`The command evaluate ${command} does not take ${other[1]?.source}; see --help.`);
}

/**
 * Reads the columns of a report. One that does not say how it came about is of one agent, and of its scenarios only the
 * counts were checked.
 */
async function readColumns(file: string): Promise<ComparableEvaluation[]> {
  const report = await readReport(file);
  if ('provenance' in report) return listColumns(report);
  const { scenarios } = report as ComparableEvaluation;
  return [
    { scenarios: scenarios.map(({ name, passed, failed, cannotTell }) => ({ name, passed, failed, cannotTell })) },
  ];
}

/** More trials than that has no scenario: `--repeat` takes no more. */
const MAX_COUNT = 9_999_999;

async function readReport(file: string): Promise<Evaluation> {
  const text = await readNamedFile(file, 'report').catch(({ message }: Error) => {
    throw new CannotRunError(message, COULD_NOT_RUN);
  });
  let value: unknown;
  try {
    value = parseForeignJson(String(text));
  } catch {
    refuseReport(file, 'it is not JSON');
  }
  const { type, version, scenarios } = Object(value) as Partial<Evaluation>;
  if (type !== 'evaluation') refuseReport(file, 'its type must be "evaluation"');
  if (Number(version) > REPORT_VERSION) refuseReport(file, `its version is ${version}; use a newer ${NAME}`);
  const isCounted = (scenario: unknown) => {
    const { name, passed, failed, cannotTell = 0 } = Object(scenario);
    const isCount = (count: unknown) => Number.isSafeInteger(count) && Number(count) >= 0 && Number(count) <= MAX_COUNT;
    return typeof name === 'string' && [passed, failed, cannotTell].every(isCount);
  };
  if (!Array.isArray(scenarios) || !scenarios.every(isCounted)) {
    refuseReport(file, 'each of its scenarios must have name, passed and failed');
  }
  // A report that says how it came about has every field.
  const [problem] = 'provenance' in Object(value) ? listProblems(evaluationSchema(), value) : [];
  if (problem) refuseReport(file, `${showJsonPath(problem.path)} ${problem.message}`);
  return value as Evaluation;
}

/** @throws {CannotRunError} with why a file is not a report. */
function refuseReport(file: string, reason: string): never {
  throw new CannotRunError(`The file ${file} is not a report of ${NAME} evaluate --json: ${reason}.`, COULD_NOT_RUN);
}
