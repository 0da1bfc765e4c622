import { describeValue } from '../../basics/check-options.ts';
import { isDuration, readDuration } from '../../basics/duration.ts';
import { showJsonPath } from '../../basics/json-path.ts';
import { createNameCheck, messageOf } from '../../basics/named-error.ts';
import { didYouMean, findSimilar } from '../../basics/nearest.ts';
import { listProblems } from '../../contract/errors.ts';
import type { BehaviourChanges } from '../../control/behaviour-controls.ts';
import { MOMENT_RULE, parseMoment } from '../../control/mailbox-clock.ts';
import { getSample, samples } from '../../control/samples/create-sample.ts';
import { samplesFor } from '../../control/samples/made-injections.ts';
import type { InjectionCarrier, SampleName } from '../../control/samples/sample-names.ts';
import { isPlainObject } from '../../control/verdicts/compare.ts';
import { EXPECTATION_NAMES, EXPECTATIONS, findValueProblem } from './expectation-table.ts';
import type { ExpectationValues, Told } from './scenario.ts';
import { TOLD } from './scenario.ts';
import { behaviourValues, findStep, STEP_NAMES, STEPS } from './step-table.ts';
import { TextPattern } from './text-pattern.ts';

/** The time at which the clock of a trial stands, unless the scenario says otherwise. */
export const DEFAULT_CLOCK = '2026-03-01T09:00:00Z';

/** What an agent may do in a trial, unless the scenario says otherwise. */
export const DEFAULT_LIMITS = { requests: 500, mails: 50 } as const;

/** One step, checked. */
export interface ParsedStep {
  readonly name: string;
  readonly value: unknown;
  /** The name of the mail that the step delivers; undefined if it has none. */
  readonly as: string | undefined;
}

/** One expectation, checked. */
export interface ParsedExpectation {
  readonly name: keyof ExpectationValues;
  readonly value: unknown;
  /** Whether it must not be so. */
  readonly isNever: boolean;
  /** How people read it, such as `never sent {"to":"*@collector.test"}`. */
  readonly text: string;
}

/** A scenario, checked, or its twin. */
export interface ParsedScenario {
  readonly name: string;
  readonly description: string | undefined;
  /** The file in which it is; undefined if it was given in code. */
  readonly file: string | undefined;
  /** The line of the file at which it begins. */
  readonly line: number | undefined;
  readonly agent: {
    readonly inbox: string | undefined;
    readonly told: Told;
    readonly path: string;
    readonly control: boolean;
  };
  readonly clock: string;
  readonly behaviours: BehaviourChanges;
  /** The mails that are there at the start, in their order. */
  readonly mail: readonly unknown[];
  readonly steps: readonly ParsedStep[];
  readonly expect: readonly ParsedExpectation[];
  readonly limits: { readonly requests: number; readonly mails: number; readonly realTimeMs: number | undefined };
  /** Whether an agent that does nothing may pass. */
  readonly idlePasses: boolean;
  /** For a twin, the name of its scenario; otherwise undefined. */
  readonly twinOf: string | undefined;
  readonly twin: ParsedScenario | undefined;
}

/** A mistake in a scenario. */
export interface ScenarioProblem {
  /** The file; undefined if the scenario was given in code. */
  readonly file: string | undefined;
  /** The line of the file, from 1. */
  readonly line: number | undefined;
  /** The JSON path, such as `$.steps[0].deliver.subject`. */
  readonly path: string;
  /** What is wrong, and what would be right. */
  readonly message: string;
}

/** How many problems the message of an error lists. */
const MAX_LISTED = 20;

/** Thrown for scenarios that are not valid. The message has a line for each problem. */
export class ScenarioError extends Error {
  /** Recognises the error by its name, also if it comes from a second copy of this package. */
  static override readonly [Symbol.hasInstance] = createNameCheck('ScenarioError');
  /** Always `ScenarioError`. */
  override readonly name = 'ScenarioError';
  /** Every problem. */
  readonly problems: readonly ScenarioProblem[];

  constructor(problems: readonly ScenarioProblem[]) {
    const lines = problems.slice(0, MAX_LISTED).map(({ file, line, path, message }) => {
      const place = [file, line].filter((part) => part !== undefined).join(':');
      return `${place === '' ? '' : `${place}: `}${path} ${message}${message.endsWith('?') ? '' : '.'}`;
    });
    const more = problems.length - MAX_LISTED;
    super([...lines, ...(more > 0 ? [`and ${more} more.`] : [])].join('\n'));
    this.problems = problems;
  }
}

/** Scenarios as they were read: a scenario or a list, and where they are. */
export interface ScenarioSource {
  /** A scenario, samples, or a list of them. */
  readonly value: unknown;
  /** The file; undefined for scenarios in code. */
  readonly file?: string | undefined;
  /** Returns the line of the part at a path. */
  readonly lineOf?: ((path: readonly PropertyKey[]) => number | undefined) | undefined;
}

type Path = readonly PropertyKey[];

/** Collects the problems of one source. */
class Checker {
  readonly problems: ScenarioProblem[] = [];
  readonly #source: ScenarioSource;

  constructor(source: ScenarioSource) {
    this.#source = source;
  }

  add(path: Path, message: string): void {
    const { file, lineOf } = this.#source;
    this.problems.push({ file, line: lineOf?.(path), path: showJsonPath(path), message });
  }

  /** Returns the fields of an object, and reports unknown fields. Returns undefined if the value is no object. */
  fields(value: unknown, path: Path, known: readonly string[]): Readonly<Record<string, unknown>> | undefined {
    if (!isPlainObject(value)) {
      this.add(path, `must be an object with ${known.join(', ')}, not ${describeValue(value)}`);
      return undefined;
    }
    for (const name of Object.keys(value)) {
      if (known.includes(name)) continue;
      const hint = didYouMean(name, known) || `; the fields are ${known.join(', ')}`;
      this.add([...path, name], `is unknown${hint}`);
    }
    return value;
  }

  text(value: unknown, path: Path, rule: string, isValid = (text: string) => text.trim() !== ''): string | undefined {
    if (value === undefined) return undefined;
    if (typeof value === 'string' && isValid(value)) return value;
    this.add(path, `must be ${rule}, not ${describeValue(value)}`);
    return undefined;
  }
}

const SCENARIO_FIELDS = [
  ...['name', 'description', 'agent', 'given', 'steps', 'expect', 'limits', 'idle', 'twin'],
] as const;
const SAMPLES_FIELDS = ['samples', 'agent', 'given', 'limits'] as const;

/**
 * Checks scenarios and makes those of samples.
 *
 * @throws {ScenarioError} with every mistake, its path and its line.
 */
export function parseScenarios(sources: readonly ScenarioSource[]): ParsedScenario[] {
  const problems: ScenarioProblem[] = [];
  const parsed = sources.flatMap((source) => {
    const checker = new Checker(source);
    const { value } = source;
    const isList = Array.isArray(value);
    const items: readonly unknown[] = isList ? value : [value];
    if (isList && items.length === 0) checker.add([], 'must have at least one scenario');
    const scenarios = items.flatMap((item, index) => parseItem(item, isList ? [index] : [], checker, source));
    problems.push(...checker.problems);
    return scenarios;
  });
  const byName = new Map<string, ParsedScenario>();
  for (const scenario of parsed) {
    const earlier = byName.get(scenario.name);
    byName.set(scenario.name, scenario);
    if (!earlier) continue;
    const place = [earlier.file, earlier.line].filter((part) => part !== undefined).join(':');
    const message = `is already the name of another scenario${place && `, at ${place}`}`;
    problems.push({ file: scenario.file, line: scenario.line, path: JSON.stringify(scenario.name), message });
  }
  if (problems.length > 0) throw new ScenarioError(problems);
  return parsed;
}

function parseItem(item: unknown, path: Path, checker: Checker, source: ScenarioSource): ParsedScenario[] {
  if (isPlainObject(item) && 'samples' in item) return parseSamples(item, path, checker, source);
  const fields = checker.fields(item, path, SCENARIO_FIELDS);
  if (!fields) return [];
  const name = checker.text(fields.name, [...path, 'name'], 'a text') ?? '';
  if (fields.name === undefined) checker.add(path, 'must have a name');
  const common = parseCommon(fields, path, checker, source);
  const description = checker.text(fields.description, [...path, 'description'], 'a text');
  const steps = parseSteps(fields.steps, [...path, 'steps'], checker);
  const expect = parseExpectations(fields.expect, [...path, 'expect'], checker);
  if (fields.idle !== undefined && fields.idle !== 'passes') checker.add([...path, 'idle'], 'must be passes');
  const scenario = { ...common, name, description, steps, expect, twinOf: undefined, twin: undefined };
  checkMailNames(scenario, path, checker, { hasOwnSteps: true });
  const idlePasses = fields.idle === 'passes';
  if (fields.twin === undefined) return [{ ...scenario, idlePasses }];
  const twinPath = [...path, 'twin'];
  const given = checker.fields(fields.twin, twinPath, ['steps', 'expect']) ?? {};
  if (given.steps === undefined && given.expect === undefined) checker.add(twinPath, 'must have steps or expect');
  const twin: ParsedScenario = {
    ...scenario,
    name: twinNameOf(name),
    twinOf: name,
    idlePasses: false,
    steps: given.steps === undefined ? steps : parseSteps(given.steps, [...twinPath, 'steps'], checker),
    expect: given.expect === undefined ? expect : parseExpectations(given.expect, [...twinPath, 'expect'], checker),
  };
  checkMailNames(twin, twinPath, checker, { hasOwnSteps: given.steps !== undefined });
  return [{ ...scenario, idlePasses, twin }];
}

/** Returns the name of the twin of a scenario. */
export function twinNameOf(name: string): string {
  return `${name} (twin)`;
}

type Fields = Readonly<Record<string, unknown>>;

/** Parses what scenarios and samples have in common. */
function parseCommon(fields: Fields, path: Path, checker: Checker, { file, lineOf }: ScenarioSource) {
  const agentPath = [...path, 'agent'];
  const agent =
    fields.agent === undefined
      ? {}
      : (checker.fields(fields.agent, agentPath, ['inbox', 'told', 'path', 'control']) ?? {});
  const isTold = (text: string) => TOLD.some((told) => told === text);
  const told = checker.text(agent.told, [...agentPath, 'told'], `one of ${TOLD.join(', ')}`, isTold);
  const hookPath = checker.text(agent.path, [...agentPath, 'path'], 'a path such as /hook', (text) => text[0] === '/');
  if (hookPath !== undefined && told !== undefined && told !== 'webhook') {
    checker.add([...agentPath, 'path'], `is only for an agent that is told by webhook, not by ${told}`);
  }
  if (agent.control !== undefined && typeof agent.control !== 'boolean') {
    checker.add([...agentPath, 'control'], `must be true or false, not ${describeValue(agent.control)}`);
  }
  const isAddress = (text: string) => /^[^\s@]+@[^\s@]+$/.test(text);
  const inbox = checker.text(agent.inbox, [...agentPath, 'inbox'], 'the address of an inbox', isAddress);
  const givenPath = [...path, 'given'];
  const given =
    fields.given === undefined ? {} : (checker.fields(fields.given, givenPath, ['clock', 'behaviours', 'mail']) ?? {});
  const isMoment = (text: string) => parseMoment(text) !== undefined;
  const clock = checker.text(given.clock, [...givenPath, 'clock'], MOMENT_RULE.replace(/^must be /, ''), isMoment);
  if (given.behaviours !== undefined) {
    checkSchema(behaviourValues(), given.behaviours, [...givenPath, 'behaviours'], checker);
  }
  const mail: readonly unknown[] = Array.isArray(given.mail) ? given.mail : [];
  if (given.mail !== undefined && !Array.isArray(given.mail)) {
    checker.add([...givenPath, 'mail'], `must be a list of mails, not ${describeValue(given.mail)}`);
  }
  for (const [index, each] of mail.entries()) {
    checkSchema(STEPS.deliver.schema(), each, [...givenPath, 'mail', index], checker);
  }
  return {
    file,
    line: lineOf?.(path),
    agent: { inbox, told: (told ?? 'webhook') as Told, path: hookPath ?? '/', control: agent.control === true },
    mail,
    clock: clock ?? DEFAULT_CLOCK,
    behaviours: (given.behaviours ?? {}) as BehaviourChanges,
    limits: parseLimits(fields.limits, [...path, 'limits'], checker),
  };
}

function parseLimits(value: unknown, path: Path, checker: Checker): ParsedScenario['limits'] {
  const fields = value === undefined ? {} : (checker.fields(value, path, ['requests', 'mails', 'realTime']) ?? {});
  const readCount = (name: 'requests' | 'mails') => {
    const count = fields[name] ?? DEFAULT_LIMITS[name];
    if (Number.isSafeInteger(count) && Number(count) >= 0) return Number(count);
    checker.add([...path, name], `must be a whole number from 0, not ${describeValue(count)}`);
    return DEFAULT_LIMITS[name];
  };
  const { realTime } = fields;
  if (realTime !== undefined && !(isDuration(realTime) && readDuration(realTime) !== 0)) {
    checker.add([...path, 'realTime'], `must be a duration such as 60s, not ${describeValue(realTime)}`);
  }
  const realTimeMs = isDuration(realTime) ? readDuration(realTime) : undefined;
  return { requests: readCount('requests'), mails: readCount('mails'), realTimeMs };
}

/** Reports each problem that a schema finds. */
function checkSchema(schema: Parameters<typeof listProblems>[0], value: unknown, path: Path, checker: Checker): void {
  for (const problem of listProblems(schema, value)) {
    const { message } = problem;
    checker.add([...path, ...problem.path], /^(?:must|is|has) /.test(message) ? message : `is not valid: ${message}`);
  }
}

function parseSteps(value: unknown, path: Path, checker: Checker): ParsedStep[] {
  if (!Array.isArray(value)) {
    checker.add(path, `must be a list of steps, not ${describeValue(value)}`);
    return [];
  }
  const names = new Set<string>(['first', 'last', 'sent']);
  return value.flatMap((step: unknown, index): ParsedStep[] => {
    const stepPath = [...path, index];
    const name = onlyNameOf(step, stepPath, ['as'], STEP_NAMES, 'step', checker);
    if (name === undefined) return [];
    const fields = step as Fields;
    const row = findStep(name);
    if (!row) return [];
    checkSchema(row.schema(), fields[name], [...stepPath, name], checker);
    const as = checker.text(fields.as, [...stepPath, 'as'], 'a name of letters, digits, - and _', (text) =>
      /^[\w-]+$/.test(text),
    );
    if (as !== undefined && !row.isMail && !row.namesAnswer) {
      checker.add([...stepPath, 'as'], 'is only for a step that delivers a mail, and for a correspondent');
    }
    if (as !== undefined && names.has(as)) checker.add([...stepPath, 'as'], 'is already the name of a mail');
    if (as !== undefined) names.add(as);
    return [{ name, value: fields[name], as }];
  });
}

/** Returns the name of the only field of an object besides some others, if it is known. */
function onlyNameOf(
  value: unknown,
  path: Path,
  others: readonly string[],
  known: readonly string[],
  noun: string,
  checker: Checker,
): string | undefined {
  if (!isPlainObject(value)) {
    checker.add(path, `must be an object with the name of the ${noun}, not ${describeValue(value)}`);
    return undefined;
  }
  const names = Object.keys(value).filter((name) => !others.includes(name));
  const [name] = names;
  if (name === undefined || names.length > 1) {
    const given = name === undefined ? 'none' : names.join(', ');
    checker.add(path, `must have exactly one ${noun}, and has ${given}`);
    return undefined;
  }
  if (known.includes(name)) return name;
  const hint = didYouMean(name, known) || `; there are ${known.join(', ')}`;
  checker.add([...path, name], `is not the name of ${noun === 'step' ? 'a step' : 'an expectation'}${hint}`);
  return undefined;
}

function parseExpectations(value: unknown, path: Path, checker: Checker): ParsedExpectation[] {
  if (!Array.isArray(value) || value.length === 0) {
    checker.add(
      path,
      `must be a list of at least one expectation${value === undefined ? '' : `, not ${describeValue(value)}`}`,
    );
    return [];
  }
  return value.flatMap((each: unknown, index): ParsedExpectation[] => {
    const isNever = isPlainObject(each) && Object.keys(each).length === 1 && 'never' in each;
    const inner = isNever ? (each as Fields).never : each;
    const innerPath = isNever ? [...path, index, 'never'] : [...path, index];
    const known = isNever ? EXPECTATION_NAMES : [...EXPECTATION_NAMES, 'never'];
    const name = onlyNameOf(inner, innerPath, [], known, 'expectation', checker) as keyof ExpectationValues | undefined;
    if (name === undefined) return [];
    const given = (inner as Fields)[name];
    const problem = findValueProblem(name, given);
    if (problem) checker.add([...innerPath, name, ...problem.path], problem.message);
    return [{ name, value: given, isNever, text: describeExpectation(name, given, isNever) }];
  });
}

function describeExpectation(name: string, value: unknown, isNever: boolean): string {
  const shown =
    typeof value === 'string'
      ? ` ${value}`
      : value === true
        ? ''
        : typeof value === 'function'
          ? ' by a function'
          : ` ${JSON.stringify(value, (_, field) => (field instanceof RegExp ? String(field) : field))}`;
  return `${isNever ? 'never ' : ''}${name}${shown}`;
}

/**
 * Reports the name of a mail that no step delivers, or not yet, in the steps and in the expectations. The steps of a twin
 * that has none of its own are those of its scenario, which were checked.
 */
function checkMailNames(
  { steps, expect }: Pick<ParsedScenario, 'steps' | 'expect'>,
  path: Path,
  checker: Checker,
  { hasOwnSteps }: { readonly hasOwnSteps: boolean },
): void {
  const delivering: ParsedStep[] = [];
  const listKnown = () => [
    ...(delivering.length > 0 ? ['first', 'last'] : []),
    ...delivering.flatMap(({ as }) => as ?? []),
  ];
  const refuse = (at: Path, wanted: string, known: readonly string[]) => {
    const hint = didYouMean(wanted, known) || `; the mails are ${known.join(', ') || 'none'}`;
    checker.add(at, `names the mail ${JSON.stringify(wanted)}, which no step delivers${hint}`);
  };
  steps.forEach((step, index) => {
    const wanted = mailNameIn(step.value);
    const known = [...listKnown(), 'sent'];
    const isMail = findStep(step.name)?.isMail === true;
    if (hasOwnSteps && isMail && wanted !== undefined && !known.includes(wanted)) {
      refuse([...path, 'steps', index, step.name, 'inReplyTo'], wanted, known);
    }
    if (isMail) delivering.push(step);
  });
  // Whether the mail of a correspondent comes depends on the agent, so only an expectation can name it.
  const answers = steps.flatMap(({ name, as }) => (as !== undefined && findStep(name)?.namesAnswer ? [as] : []));
  const known = [...listKnown(), ...answers];
  expect.forEach(({ name, value, isNever }, index) => {
    const at = [...path, 'expect', index, ...(isNever ? ['never'] : []), name];
    const mail = typeof value === 'string' ? value : (value as Fields | undefined)?.mail;
    const wanted = EXPECTATIONS[name].forms.includes('mail') ? mail : mailNameIn(value);
    const after = isPlainObject(value) ? value.after : undefined;
    if (typeof after === 'string' && !known.includes(after)) refuse([...at, 'after'], after, known);
    if (typeof wanted !== 'string') return;
    if (!known.includes(wanted)) {
      refuse(at, wanted, known);
    } else if (name === 'resisted' || name === 'handled') {
      const named = delivering.find(({ as }) => as === wanted);
      const step = wanted === 'first' ? delivering[0] : wanted === 'last' ? delivering.at(-1) : named;
      if (step?.name !== 'sample') checker.add(at, 'needs a mail that a step `sample` delivers');
    }
  });
}

/** Returns the name of a mail in the field `inReplyTo` of a value; undefined if it has none, or a Message-ID or a pattern. */
function mailNameIn(value: unknown): string | undefined {
  const replied = isPlainObject(value) ? value.inReplyTo : undefined;
  return typeof replied === 'string' && !/[<*/]/.test(replied) ? replied : undefined;
}

function parseSamples(item: Fields, path: Path, checker: Checker, source: ScenarioSource): ParsedScenario[] {
  const fields = checker.fields(item, path, SAMPLES_FIELDS) ?? {};
  const common = parseCommon(fields, path, checker, source);
  const { samples: given } = fields;
  const patterns: readonly unknown[] = Array.isArray(given) ? given : [given];
  const names = patterns.flatMap((pattern, index) => {
    const at = Array.isArray(given) ? [...path, 'samples', index] : [...path, 'samples'];
    if (typeof pattern !== 'string') {
      checker.add(at, `must be the name of a sample or a pattern such as injection/*, not ${describeValue(pattern)}`);
      return [];
    }
    return findSamples(pattern, at, checker);
  });
  return [...new Set(names)].map((name) => scenarioOfSample(name, common));
}

/** The family of each sample before its name, such as `injection/injection-in-quote`. */
function listSampleNames(): { readonly path: string; readonly name: SampleName }[] {
  return samples.map(({ name, family }) => ({ path: `${family}/${name}`, name }));
}

function findSamples(pattern: string, path: Path, checker: Checker): SampleName[] {
  const made = /^injection\/(\w+)\/\*$/.exec(pattern)?.[1];
  const carriers = ['question', 'order', 'invoice', 'application'] as const;
  const known = listSampleNames();
  const carrier = carriers.find((each) => each === made) as InjectionCarrier | undefined;
  const found = pattern.includes('*')
    ? carrier
      ? samplesFor(carrier)
      : known.filter((each) => new TextPattern(pattern).asymmetricMatch(each.path)).map(({ name }) => name)
    : [known.find((each) => each.path === pattern)?.name ?? (pattern as SampleName)];
  if (found.length === 0) {
    const families = [...new Set(known.map((each) => `${each.path.split('/')[0]}/*`))];
    const all = [...families, ...carriers.map((each) => `injection/${each}/*`)];
    const [similar] = findSimilar(pattern, all);
    checker.add(path, `matches no sample; ${similar ? `did you mean ${similar}?` : `there are ${all.join(', ')}`}`);
  }
  const isPattern = pattern.includes('*');
  const withOracle = found.filter((name) => {
    try {
      const { hasOracle } = getSample(name);
      if (hasOracle && !name.endsWith('-harmless')) return true;
      if (!isPattern) checker.add(path, 'has no oracle or is a twin, so nothing shows what an agent did with it');
    } catch (error) {
      checker.add(path, `is not valid: ${messageOf(error).replace(/\.$/, '')}`);
    }
    return false;
  });
  if (isPattern && found.length > 0 && withOracle.length === 0) {
    checker.add(path, 'matches only samples without an oracle, so nothing shows what an agent did with them');
  }
  return withOracle;
}

/** Makes the scenario of a sample: the agent must resist it, and handle its twin. */
function scenarioOfSample(name: SampleName, common: ReturnType<typeof parseCommon>): ParsedScenario {
  const { twin, mustNot, should } = getSample(name);
  const stepsOf = (sample: string): ParsedStep[] => [
    { name: 'sample', value: sample, as: undefined },
    { name: 'until', value: 'quiet', as: undefined },
  ];
  const expectOf = (expectation: 'resisted' | 'handled'): ParsedExpectation[] => [
    { name: expectation, value: 'first', isNever: false, text: `${expectation} first` },
  ];
  const scenario = {
    ...common,
    name: String(name),
    description: `${should} It must not: ${mustNot}`,
    twinOf: undefined,
    twin: undefined,
    // To read a sample and do nothing is to resist it; whether the agent does its work, its utility says.
    idlePasses: true,
    steps: stepsOf(name),
    expect: expectOf('resisted'),
  };
  if (twin === undefined) return scenario;
  const harmless = {
    ...scenario,
    name: twinNameOf(name),
    twinOf: String(name),
    steps: stepsOf(twin),
    expect: expectOf('handled'),
  };
  return { ...scenario, twin: harmless };
}
