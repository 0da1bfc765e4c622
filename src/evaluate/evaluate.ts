import { checkOptions, describeValue } from '../basics/check-options.ts';
import { isPlainObject } from '../basics/objects.ts';
import { AGENT_NAME_RULE, isAgentName } from './agent-name.ts';
import type { Evaluation, FinishedTrialReport } from './evaluation.ts';
import { createFunctionAgent, type EvaluatedAgent } from './function-agent.ts';
import { type ParsedScenario, parseScenarios } from './parse-scenarios.ts';
import { readScenarios } from './read-scenarios.ts';
import { writeEvaluation } from './report-text.ts';
import { type RunOptions, runEvaluation } from './run-evaluation.ts';
import type { SampleScenarios, Scenario } from './scenario.ts';
import { applyParameters, type ParameterValues } from './scenario-parameters.ts';
import { isShare, SHARE_RULE, TOLD, TOLD_RULE, type Told } from './scenario-values.ts';
import { runShellCommand } from './shell-command.ts';

/** Scenarios, or the paths of files and folders that have them. */
export type ScenarioInput = string | Scenario | SampleScenarios | readonly (string | Scenario | SampleScenarios)[];

/** An agent, or several by their names: words such as `rules` or `gpt-4.1`, of letters, digits, `.`, `_` and `-`. */
export type EvaluatedAgents = EvaluatedAgent | Readonly<Record<string, EvaluatedAgent>>;

/** Options of `evaluate`; each has a default. */
export interface EvaluateOptions extends RunOptions {
  /** Values of parameters of the scenarios, by their names, in place of the default values. */
  readonly parameters?: ParameterValues | undefined;
  /** How agents learn of mail, in place of what each scenario says of it. */
  readonly told?: Told | undefined;
  /** Is called after each trial with its result, and with the text of its trace. */
  readonly onTrial?: ((trial: FinishedTrialReport) => void | Promise<void>) | undefined;
}

const OPTION_NAMES = [
  ...[
    'repeat',
    'require',
    'k',
    'told',
    'concurrency',
    'only',
    'tags',
    'maxFailures',
    'seed',
    'timeoutMs',
    'quietMs',
    'fixtures',
    'parameters',
    'onTrial',
  ],
] as const;

/** The result of `evaluate`. */
export interface EvaluateResult extends Evaluation {
  /** Returns the table of the scenarios, and each trial that did not pass. */
  toString(): string;
}

/**
 * Lets an agent, or several by their names, run through scenarios, each trial in a sandbox of its own, and judges what it
 * did by the journal.
 *
 * @throws {ScenarioError} for a mistake in a scenario, with its path and line; {@link IdleError} if an agent that does
 *   nothing would pass a scenario; {@link TypeError} for an invalid option.
 * @example
 * const result = await evaluate(agent, 'scenarios/', { repeat: 5 });
 * console.log(String(result));
 * expect(result.isGateMet).toBe(true);
 */
export async function evaluate(
  agent: EvaluatedAgents,
  scenarios: ScenarioInput,
  options: EvaluateOptions = {},
): Promise<EvaluateResult> {
  checkInput('evaluate', agent, options);
  return runAll(agent, await loadScenarios(scenarios, options), options);
}

/** A scenario that was read and checked, with a function that runs it. */
export interface PreparedScenario {
  /** Its name. */
  readonly name: string;
  /** Runs it, and its twin, as `evaluate` does. */
  run(): Promise<EvaluateResult>;
}

/** Reads and checks scenarios as `evaluate` does, for a test runner that runs each of them as a test. */
export async function prepareScenarios(
  agent: EvaluatedAgents,
  scenarios: ScenarioInput,
  options: EvaluateOptions = {},
): Promise<PreparedScenario[]> {
  checkInput('prepareScenarios', agent, options);
  const parsed = await loadScenarios(scenarios, options);
  return parsed.map((scenario) => ({ name: scenario.name, run: () => runAll(agent, [scenario], options) }));
}

async function runAll(
  agent: EvaluatedAgents,
  parsed: readonly ParsedScenario[],
  { onTrial, parameters: _, ...run }: EvaluateOptions,
): Promise<EvaluateResult> {
  const evaluation = await runEvaluation(parsed, {
    ...run,
    agents:
      typeof agent === 'function'
        ? [{ createAgent: createFunctionAgent(agent) }]
        : Object.entries(agent).map(([name, each]) => ({ name, createAgent: createFunctionAgent(each) })),
    runCommand: runShellCommand,
    onTrial:
      onTrial &&
      (({ scenario, agent, report, trace }) =>
        onTrial({ agent, scenario: scenario.name, trial: report, trace: trace() })),
  });
  return Object.defineProperty({ ...evaluation } as EvaluateResult, 'toString', {
    value: () => writeEvaluation(evaluation),
    enumerable: false,
  });
}

/**
 * Reads scenarios, puts the values of their parameters into them, and checks them. With `told`, the agents of all of them
 * learn of mail in this way.
 *
 * @throws {ScenarioError} with every mistake, its path and its line.
 */
export async function loadScenarios(
  scenarios: ScenarioInput,
  { told, parameters = {} }: Pick<EvaluateOptions, 'told' | 'parameters'> = {},
): Promise<ParsedScenario[]> {
  const items: readonly unknown[] = Array.isArray(scenarios) ? scenarios : [scenarios];
  const paths = items.filter((item): item is string => typeof item === 'string');
  const values = items.filter((item) => typeof item !== 'string');
  const inCode = values.length > 0 ? [{ value: values }] : [];
  const sources = await readScenarios(paths, (read) => applyParameters([...read, ...inCode], parameters));
  const parsed = parseScenarios(sources);
  return told === undefined ? parsed : parsed.map((scenario) => withTold(scenario, told));
}

function withTold(scenario: ParsedScenario, told: Told): ParsedScenario {
  const twin = scenario.twin && withTold(scenario.twin, told);
  return { ...scenario, agent: { ...scenario.agent, told }, twin };
}

function checkInput(name: string, agent: unknown, options: EvaluateOptions): void {
  if (isPlainObject(agent)) checkAgents(name, agent);
  else if (typeof agent !== 'function') {
    throw new TypeError(`The function ${name} takes an agent, which is a function, not ${describeValue(agent)}.`);
  }
  checkOptions(name, options, OPTION_NAMES);
  checkValues(options);
  checkParameters(options.parameters ?? {});
}

function checkAgents(name: string, agents: Readonly<Record<string, unknown>>): void {
  if (Object.keys(agents).length === 0) throw new TypeError(`The function ${name} takes at least one agent.`);
  for (const [agent, value] of Object.entries(agents)) {
    if (!isAgentName(agent)) {
      throw new TypeError(`The name of an agent must be ${AGENT_NAME_RULE}, not ${describeValue(agent)}.`);
    }
    if (typeof value === 'function') continue;
    throw new TypeError(`The agent ${agent} must be a function, not ${describeValue(value)}.`);
  }
}

function checkParameters(parameters: unknown): void {
  if (!isPlainObject(parameters)) {
    throw new TypeError(
      `The option parameters must be an object of names and texts, not ${describeValue(parameters)}.`,
    );
  }
  for (const [name, value] of Object.entries(parameters)) {
    if (typeof value === 'string') continue;
    throw new TypeError(`The option parameters.${name} must be a text, not ${describeValue(value)}.`);
  }
}

function checkValues(options: EvaluateOptions): void {
  const { repeat = 1, k, require, told, tags, maxFailures, concurrency, seed, timeoutMs, quietMs } = options;
  const least = { repeat: 1, k: 1, maxFailures: 1, concurrency: 1, seed: 0, timeoutMs: 1, quietMs: 0 };
  for (const [name, value] of Object.entries({ repeat, k, maxFailures, concurrency, seed, timeoutMs, quietMs })) {
    const from = least[name as keyof typeof least];
    if (value === undefined || (Number.isSafeInteger(value) && value >= from)) continue;
    throw new TypeError(`The option ${name} must be a whole number from ${from}, not ${describeValue(value)}.`);
  }
  if (k !== undefined && k > repeat) {
    throw new TypeError(`The option k must be at most the number of trials in repeat, ${repeat}, not ${k}.`);
  }
  const others = [
    { name: 'require', value: require, isValid: isShare, rule: SHARE_RULE },
    { name: 'told', value: told, isValid: (value: unknown) => TOLD.some((each) => each === value), rule: TOLD_RULE },
    {
      name: 'tags',
      value: tags,
      isValid: (value: unknown) =>
        Array.isArray(value) && value.length > 0 && value.every((tag) => typeof tag === 'string'),
      rule: 'a list of at least one tag',
    },
  ];
  for (const { name, value, isValid, rule } of others) {
    if (value === undefined || isValid(value)) continue;
    throw new TypeError(`The option ${name} must be ${rule}, not ${describeValue(value)}.`);
  }
}
