import { readDuration } from '../basics/duration.ts';
import { showJsonPath } from '../basics/json-path.ts';
import { createNameCheck } from '../basics/named-error.ts';
import { isPlainObject } from '../basics/objects.ts';
import { didYouMean } from '../basics/similar-names.ts';
import { getSample } from '../control/samples/create-sample.ts';
import type { SampleName } from '../control/samples/sample-names.ts';
import type { BehaviourChanges } from '../mailbox/without-msw.ts';
import type { ExpectationValues } from './expectation-schema.ts';
import { listProblems } from './list-problems.ts';
import { findSamples } from './sample-patterns.ts';
import {
  DEFAULT_CLOCK,
  DEFAULT_LIMITS,
  type Expectation,
  MAIL_NAME,
  RESERVED_NAMES,
  type SampleScenarios,
  type Scenario,
  type Step,
  sampleScenariosSchema,
  scenarioSchema,
  type Told,
} from './scenario.ts';
import { findStep } from './step-table.ts';
import { TextPattern } from './text-pattern.ts';

/** One step, checked. */
export interface ParsedStep {
  readonly name: string;
  readonly value: unknown;
  /** The name of the mail that the step delivers; undefined if it has none. */
  readonly as: string | undefined;
}

/** One expectation that a matcher judges, checked. */
export interface ParsedSingle {
  readonly name: keyof ExpectationValues;
  readonly value: unknown;
  /** Whether it must not be so. */
  readonly isNever: boolean;
  /** How people read it, such as `never sent {"to":"*@collector.test"}`. */
  readonly text: string;
}

/** Several expectations of which at least one must be so, checked. */
export interface ParsedAlternatives {
  readonly name: 'anyOf';
  readonly parts: readonly ParsedSingle[];
  readonly text: string;
}

/** One expectation, checked. */
export type ParsedExpectation = ParsedSingle | ParsedAlternatives;

/** A scenario, checked, or its twin. */
export interface ParsedScenario {
  readonly name: string;
  readonly description: string | undefined;
  /** The file in which it is; undefined if it was given in code. */
  readonly file: string | undefined;
  /** The line of the file at which it begins. */
  readonly line: number | undefined;
  /** The values of its parameters, and of its row, by their names. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly tags: readonly string[];
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
  /** The share of its trials that must pass, from 0 to 1; undefined if the scenario leaves it to the run. */
  readonly require: number | undefined;
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
      // What is wrong with a whole file needs no path in it.
      const isOfFile = file !== undefined && line === undefined && path === '$';
      const subject = isOfFile ? file : `${place === '' ? '' : `${place}: `}${path}`;
      return `${subject} ${message}${message.endsWith('?') ? '' : '.'}`;
    });
    const more = problems.length - MAX_LISTED;
    super([...lines, ...(more > 0 ? [`and ${more} more.`] : [])].join('\n'));
    this.problems = problems;
  }
}

/** A scenario as it was read, with the values of its parameters. */
export interface ScenarioItem {
  /** A scenario, or samples. */
  readonly value: unknown;
  /** Where it is in its file. All rows of a table come from the same place. */
  readonly path: readonly PropertyKey[];
  /** The values of its parameters, by their names; undefined without any. */
  readonly parameters?: Readonly<Record<string, string>> | undefined;
}

/** Scenarios as they were read: a scenario or a list, and where they are. */
export interface ScenarioSource {
  /** A scenario, samples, or a list of them. */
  readonly value: unknown;
  /** The file; undefined for scenarios in code. */
  readonly file?: string | undefined;
  /** Returns the line of the part at a path. */
  readonly lineOf?: ((path: readonly PropertyKey[]) => number | undefined) | undefined;
  /** Its scenarios, if some have parameters. Default: each is where it is in `value`. */
  readonly items?: readonly ScenarioItem[] | undefined;
}

/** Returns each scenario of a source, with its place in the file. */
export function listItems({ value, items }: ScenarioSource): readonly ScenarioItem[] {
  if (items) return items;
  return Array.isArray(value)
    ? value.map((item: unknown, index) => ({ value: item, path: [index] }))
    : [{ value, path: [] }];
}

type Path = readonly PropertyKey[];

/** A part of a source that is wrong. */
interface Problem {
  readonly path: Path;
  readonly message: string;
}

/**
 * Checks scenarios and makes those of samples.
 *
 * @throws {ScenarioError} with every mistake, its path and its line.
 */
export function parseScenarios(sources: readonly ScenarioSource[]): ParsedScenario[] {
  const problems: ScenarioProblem[] = [];
  const parsed: ParsedScenario[] = [];
  for (const source of sources) {
    const { file, lineOf } = source;
    const report = ({ path, message }: Problem) => {
      problems.push({ file, line: lineOf?.(path), path: showJsonPath(path), message });
    };
    const items = listItems(source);
    if (items.length === 0) report({ path: [], message: 'must have at least one scenario' });
    for (const { value, path, parameters = {} } of items) {
      const found = findProblems(value);
      for (const problem of found) report({ ...problem, path: [...path, ...problem.path] });
      // Without a problem, the schema has found that the item is one of these.
      const item = value as Scenario | SampleScenarios;
      if (found.length === 0) parsed.push(...readItem(item, { file, line: lineOf?.(path), parameters }));
    }
  }
  problems.push(...findRepeatedNames(parsed));
  if (problems.length > 0) throw new ScenarioError(problems);
  return parsed;
}

/** Returns what is wrong with a scenario: what the schema finds, and names of mails that do not exist. */
function findProblems(item: unknown): Problem[] {
  if (isPlainObject(item) && 'samples' in item) return listProblems(sampleScenariosSchema(), item);
  const problems = listProblems(scenarioSchema(), item);
  if (!isPlainObject(item)) return problems;
  const { twin } = item;
  const own = readParts(item);
  return [
    ...problems,
    ...findNameProblems(own, { steps: ['steps'], expect: ['expect'] }),
    // What a twin leaves out is that of its scenario.
    ...(isPlainObject(twin)
      ? findNameProblems(readParts(twin, own), {
          steps: 'steps' in twin ? ['twin', 'steps'] : undefined,
          expect: 'expect' in twin ? ['twin', 'expect'] : undefined,
        })
      : []),
  ];
}

function findRepeatedNames(parsed: readonly ParsedScenario[]): ScenarioProblem[] {
  const byName = new Map<string, ParsedScenario>();
  return parsed.flatMap((scenario) => {
    const earlier = byName.get(scenario.name);
    byName.set(scenario.name, scenario);
    if (!earlier) return [];
    const place = [earlier.file, earlier.line].filter((part) => part !== undefined).join(':');
    const message = `is already the name of another scenario${place && `, at ${place}`}`;
    return { file: scenario.file, line: scenario.line, path: JSON.stringify(scenario.name), message };
  });
}

/** The steps and expectations of a scenario or a twin, in which anything may be wrong. */
interface Parts {
  readonly steps: readonly unknown[];
  readonly expect: readonly unknown[];
}

function readParts(item: Fields, other: Parts = { steps: [], expect: [] }): Parts {
  return {
    steps: Array.isArray(item.steps) ? item.steps : other.steps,
    expect: Array.isArray(item.expect) ? item.expect : other.expect,
  };
}

/**
 * Reports names of mails that are wrong in steps and expectations: a name that is there twice, and one that no step
 * delivers, or not yet. Without a path, the steps or expectations are those of the scenario of a twin, whose own names
 * were checked there.
 */
function findNameProblems(
  { steps, expect }: Parts,
  paths: { readonly steps: Path | undefined; readonly expect: Path | undefined },
): Problem[] {
  const problems: Problem[] = [];
  /** The mails by name, each with the step that delivers it. */
  const mails = new Map<string, string>();
  /** The mails that come because of steps, if the agent does something: only an expectation can name them. */
  const answers = new Map<string, string>();
  /** Whether a step is wrong in a way that does not show which mail it delivers. */
  let mayDeliverMore = false;
  const refuse = (path: Path, wanted: string, others: readonly string[] = []) => {
    // What follows from another mistake is not reported, and what would not be shown is not written.
    if (mayDeliverMore || problems.length > MAX_LISTED) return;
    const known = [...mails.keys(), ...others];
    const list = known.slice(0, MAX_LISTED).join(', ') || 'none';
    const hint = didYouMean(wanted, known) || `; the mails are ${list}`;
    problems.push({ path, message: `names the mail ${JSON.stringify(wanted)}, which no step delivers${hint}` });
  };

  for (const [index, step] of steps.entries()) {
    const path = paths.steps && [...paths.steps, index];
    const name = isPlainObject(step) ? Object.keys(step).find((field) => findStep(field)) : undefined;
    if (!isPlainObject(step) || name === undefined) {
      mayDeliverMore = true;
      continue;
    }
    const isMail = findStep(name)?.isMail === true;
    const as = typeof step.as === 'string' && MAIL_NAME.test(step.as) ? step.as : undefined;
    const answered = answeredMailIn(step[name]);
    const isKnown = answered === undefined || answered === 'sent' || mails.has(answered);
    if (path && isMail && !isKnown) refuse([...path, name, 'inReplyTo'], answered, ['sent']);
    const isReserved = as !== undefined && RESERVED_NAMES.includes(as);
    const isTaken = as !== undefined && (isReserved || mails.has(as) || answers.has(as));
    const namesAnswer = findStep(name)?.namesAnswer === true;
    if (path && as !== undefined && (isTaken || !(isMail || namesAnswer))) {
      let message = 'is only for a step that delivers a mail, and for a correspondent';
      if (isTaken) message = 'is already the name of a mail';
      if (isReserved) message = `must be another name, because ${RESERVED_NAMES.join(', ')} are reserved`;
      problems.push({ path: [...path, 'as'], message });
    }
    if (isTaken || as !== step.as) mayDeliverMore = true;
    if (namesAnswer && as !== undefined) answers.set(as, name);
    if (!isMail) continue;
    if (mails.size === 0) mails.set('first', name);
    mails.set('last', name);
    if (as !== undefined) mails.set(as, name);
  }

  for (const [as, name] of answers) mails.set(as, name);
  for (const { name, value, path } of paths.expect ? listSingles(expect, paths.expect) : []) {
    const after = isPlainObject(value) ? value.after : undefined;
    if (typeof after === 'string' && !mails.has(after)) refuse([...path, 'after'], after);
    const named = namedMailIn(name, value);
    if (!named) continue;
    const at = [...path, ...named.path];
    const step = mails.get(named.mail);
    if (step === undefined) refuse(at, named.mail);
    else if (ABOUT_SAMPLES.has(name) && step !== 'sample') {
      problems.push({ path: at, message: 'needs a mail that a step `sample` delivers' });
    }
  }
  return problems;
}

/** The expectations about a sample that a step delivered. */
const ABOUT_SAMPLES: ReadonlySet<string> = new Set(['resisted', 'handled']);

/** The expectations whose value is the name of a mail, or an object with this name in `mail`. */
const ABOUT_MAILS: ReadonlySet<string> = new Set(['answered', 'ignored', 'forwarded', ...ABOUT_SAMPLES]);

/** Returns the name of a mail in the value of an expectation, and where it is in the value; undefined if it has none. */
function namedMailIn(name: string, value: unknown): { readonly mail: string; readonly path: Path } | undefined {
  const field = isPlainObject(value) ? (ABOUT_MAILS.has(name) ? 'mail' : 'inReplyTo') : undefined;
  if (field === 'inReplyTo') {
    const mail = answeredMailIn(value);
    return mail === undefined || mail.includes('<') || TextPattern.isPattern(mail)
      ? undefined
      : { mail, path: [field] };
  }
  const mail = isPlainObject(value) ? value.mail : ABOUT_MAILS.has(name) ? value : undefined;
  if (typeof mail !== 'string' || mail.trim() === '') return undefined;
  return { mail, path: field === undefined ? [] : [field] };
}

/** Returns the name of a mail in the field `inReplyTo` of a value; undefined if it has none, or a Message-ID. */
function answeredMailIn(value: unknown): string | undefined {
  const answered = isPlainObject(value) ? value.inReplyTo : undefined;
  return typeof answered === 'string' && !answered.startsWith('<') ? answered : undefined;
}

/** An expectation that a matcher judges, with its place. */
interface Single {
  readonly name: string;
  readonly value: unknown;
  readonly isNever: boolean;
  readonly path: Path;
}

/** Returns each expectation of a list, and those that are in `never` and `anyOf`. Anything in the list may be wrong. */
function listSingles(list: unknown, path: Path = [], isNever = false): Single[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((each: unknown, index) => readSingles(each, [...path, index], isNever));
}

function readSingles(given: unknown, path: Path, isNever: boolean): Single[] {
  const [name] = isPlainObject(given) ? Object.keys(given) : [];
  if (!isPlainObject(given) || name === undefined) return [];
  const value = given[name];
  if (name === 'never') return readSingles(value, [...path, name], true);
  if (name === 'anyOf') return listSingles(value, [...path, name], isNever);
  return [{ name, value, isNever, path: [...path, name] }];
}

type Fields = Readonly<Record<string, unknown>>;

/** Makes what a scenario, or a list of samples, stands for. */
function readItem(
  item: Scenario | SampleScenarios,
  place: Pick<ParsedScenario, 'file' | 'line' | 'parameters'>,
): ParsedScenario[] {
  const { agent = {}, given = {}, limits = {}, tags = [] } = item;
  const common: Common = {
    ...place,
    tags,
    agent: {
      inbox: agent.inbox,
      told: agent.told ?? 'webhook',
      path: agent.path ?? '/',
      control: agent.control === true,
    },
    mail: given.mail ?? [],
    clock: given.clock ?? DEFAULT_CLOCK,
    behaviours: given.behaviours ?? {},
    limits: {
      requests: limits.requests ?? DEFAULT_LIMITS.requests,
      mails: limits.mails ?? DEFAULT_LIMITS.mails,
      realTimeMs: limits.realTime === undefined ? undefined : readDuration(limits.realTime),
    },
    require: item.require,
  };
  if ('samples' in item) {
    const patterns = typeof item.samples === 'string' ? [item.samples] : item.samples;
    const names = patterns.flatMap((pattern) => {
      const found = findSamples(pattern);
      return 'names' in found ? found.names : [];
    });
    return [...new Set(names)].map((name) => scenarioOfSample(name, common));
  }
  const { name, description, steps, expect, idle, twin } = item;
  const scenario: ParsedScenario = {
    ...common,
    name,
    description,
    steps: steps.map(readStep),
    expect: expect.flatMap(readExpectation),
    idlePasses: idle === 'passes',
    twinOf: undefined,
    twin: undefined,
  };
  if (!twin) return [scenario];
  const harmless: ParsedScenario = {
    ...scenario,
    name: twinNameOf(name),
    twinOf: name,
    idlePasses: false,
    steps: twin.steps?.map(readStep) ?? scenario.steps,
    expect: twin.expect?.flatMap(readExpectation) ?? scenario.expect,
  };
  return [{ ...scenario, twin: harmless }];
}

function readStep(step: Step): ParsedStep {
  const { as, ...fields } = step;
  const [[name, value] = ['', undefined]] = Object.entries(fields);
  return { name, value, as };
}

/** Returns what an expectation stands for. `never` with `anyOf` stands for a `never` for each of its expectations. */
function readExpectation(expectation: Expectation): ParsedExpectation[] {
  const parts = readSingles(expectation, [], false).map(({ name, value, isNever }): ParsedSingle => {
    const text = describeExpectation(name, value, isNever);
    return { name: name as keyof ExpectationValues, value, isNever, text };
  });
  if (expectation.anyOf === undefined) return parts;
  return [{ name: 'anyOf', parts, text: `any of: ${parts.map(({ text }) => text).join('; ')}` }];
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

/** Returns the name of the twin of a scenario. */
export function twinNameOf(name: string): string {
  return `${name} (twin)`;
}

/** What scenarios and those of samples have in common. */
type Common = Pick<
  ParsedScenario,
  'file' | 'line' | 'parameters' | 'tags' | 'agent' | 'mail' | 'clock' | 'behaviours' | 'limits' | 'require'
>;

/** Makes the scenario of a sample: the agent must resist it, and handle its twin. */
function scenarioOfSample(name: SampleName, common: Common): ParsedScenario {
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
