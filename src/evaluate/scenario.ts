import { z } from 'zod';
import type { Duration } from '../basics/duration.ts';
import { isDuration, readDuration } from '../basics/duration.ts';
import { type InputOf, lazy } from '../basics/lazy-schema.ts';
import { MOMENT_RULE, parseMoment } from '../control/mailbox-clock.ts';
import { type ExpectationValues, expectationSchemas } from './expectation-schema.ts';
import { findSamples } from './sample-patterns.ts';
import { SHARE_RULE, TOLD, TOLD_RULE } from './scenario-values.ts';
import { filledText, mustBe, mustBeName, type OneOf, oneNameOf } from './schema-parts.ts';
import {
  behaviourValues,
  type CallStepValues,
  deliveredMail,
  findStep,
  STEPS,
  type StepValues,
  stepSchemas,
} from './step-table.ts';

export type {
  CheckResult,
  CheckTrace,
  CreatedFields,
  ExpectationValues,
  ForwardedFields,
  MailName,
  Verdict,
} from './expectation-schema.ts';
export type { Told } from './scenario-values.ts';
export type { CallStepName, CallStepValues, StepValues } from './step-table.ts';

// The schema of a scenario. The types, the checks of the command, and the JSON Schema for editors follow from it.

/** The time at which the clock of a trial stands, unless the scenario says otherwise. */
export const DEFAULT_CLOCK = '2026-03-01T09:00:00Z';

/** What an agent may do in a trial, unless the scenario says otherwise. */
export const DEFAULT_LIMITS = { requests: 500, mails: 50 } as const;

const agentFields = () => ({
  /** The address of the inbox that the agent looks after, as the fixture has it. Default: that of the first inbox. */
  inbox: z
    .string(mustBe('the address of an inbox'))
    .regex(/^[^\s@]+@[^\s@]+$/, mustBe('the address of an inbox'))
    .optional()
    .describe('The address of the inbox that the agent looks after.'),
  /** How the agent learns of mail. Default: `webhook`. */
  told: z
    .enum(TOLD, mustBeName(TOLD_RULE, TOLD))
    .optional()
    .meta({ default: 'webhook', description: 'How the agent learns of mail.' }),
  /** Only with `webhook`: the path at which the agent receives deliveries. Default: `/`. */
  path: z
    .string(mustBe('a path such as /hook'))
    .startsWith('/', mustBe('a path such as /hook'))
    .optional()
    .meta({ default: '/', description: 'Only with webhook: the path at which the agent receives deliveries.' }),
  /**
   * Whether the agent gets a token for the control plane. A trial in which it changes what the scenario has set, such as
   * the clock, cannot be judged as passed. Default: `false`.
   */
  control: z
    .boolean(mustBe('true or false'))
    .optional()
    .meta({ default: false, description: 'Whether the agent gets a token for the control plane.' }),
});

const AGENT_RULE = mustBe('an object with inbox, told, path or control');

const agent = lazy(() =>
  z
    .strictObject(agentFields(), AGENT_RULE)
    .superRefine(({ told, path }, context) => {
      if (path === undefined || told === undefined || told === 'webhook') return;
      const message = `is only for an agent that is told by webhook, not by ${told}`;
      context.addIssue({ code: 'custom', path: ['path'], message });
    })
    .meta({ id: 'agent' }),
);

const CLOCK_RULE = mustBe(MOMENT_RULE.replace(/^must be /, ''));

const givenFields = () => ({
  /** The time at which the clock stands still. Default: 2026-03-01T09:00:00Z. */
  clock: z
    .string(CLOCK_RULE)
    .refine((at) => parseMoment(at) !== undefined, CLOCK_RULE)
    .optional()
    .meta({ format: 'date-time', default: DEFAULT_CLOCK, description: 'The time at which the clock stands still.' }),
  /** Behaviours, by their ids. */
  behaviours: behaviourValues().optional().describe('Behaviours, by their ids.'),
  /** The mails that are there at the start, in their order. Default: those of the fixture; without one, none. */
  mail: z
    .array(deliveredMail(), mustBe('a list of mails'))
    .optional()
    .describe('The mails that are there at the start, in their order.'),
});

const COUNT_RULE = mustBe('a whole number from 0');

const limit = (most: number, description: string) =>
  z.int(COUNT_RULE).min(0, COUNT_RULE).optional().meta({ default: most, description });

const REAL_TIME_RULE = mustBe('a duration such as 60s');

const limitFields = () => ({
  /** Requests and commands of the agent. Default: 500. */
  requests: limit(DEFAULT_LIMITS.requests, 'How many requests and commands the agent may send.'),
  /** Mails that the agent sends. Default: 50. */
  mails: limit(DEFAULT_LIMITS.mails, 'How many mails the agent may send.'),
  /** Real time from the start of the steps. Default: the option `timeout`, 60 s. */
  realTime: z
    .union([z.string(), z.number()], REAL_TIME_RULE)
    .refine((given) => isDuration(given) && readDuration(given) !== 0, REAL_TIME_RULE)
    .optional()
    .describe('How much real time the trial may take, such as 60s.') as z.ZodOptional<z.ZodType<unknown, Duration>>,
});

/** The form of the names that steps give to mails. */
export const MAIL_NAME = /^[\w-]+$/;

/** The names of mails that every scenario has: the first and the last that a step delivered, and the latest that was sent. */
export const RESERVED_NAMES: readonly string[] = ['first', 'last', 'sent'];

const mailFields = () => ({
  /** The name of the mail that the step delivers, or of the first mail that the correspondent sends. */
  as: z
    .string(mustBe('a name of letters, digits, - and _'))
    .regex(MAIL_NAME, mustBe('a name of letters, digits, - and _'))
    .optional()
    .describe('The name of the mail in this scenario.'),
});

/**
 * One step: an object with one field, which names the step, and for a mail its name in `as`. Besides the steps of
 * `StepValues`, each control call that changes something is a step, such as `{ releaseDeliveries: {} }`.
 */
export type Step = OneOf<StepValues & CallStepValues> & InputOf<ReturnType<typeof mailFields>>;

/** The steps that deliver a mail, or that a mail follows, which `as` can name. */
const NAMED_STEPS = Object.keys(STEPS).filter((name) => findStep(name)?.isMail || findStep(name)?.namesAnswer);

const step = lazy(
  () =>
    oneNameOf('step', stepSchemas(), mailFields()).meta({
      id: 'step',
      dependentSchemas: { as: { anyOf: NAMED_STEPS.map((name) => ({ required: [name] })) } },
    }) as unknown as z.ZodType<unknown, Step>,
);

const steps = () => z.array(step(), mustBe('a list of steps')).describe('What happens, in this order.');

/** The form of a tag. */
const TAG = /^[\p{L}\p{N}_-]+$/u;

/** What must have happened, without `never` and `anyOf`. */
export type PlainExpectation = OneOf<ExpectationValues>;

const EXPECTATIONS_RULE = mustBe('a list of at least one expectation');

const alternatives = <Each>(each: z.ZodType<unknown, Each>) =>
  z
    .array(each, EXPECTATIONS_RULE)
    .min(1, EXPECTATIONS_RULE)
    .describe('Expectations of which at least one is so.') as z.ZodType<unknown, readonly Each[]>;

const plainExpectation = lazy(
  () =>
    oneNameOf('expectation', expectationSchemas(), {}).meta({ id: 'plainExpectation' }) as unknown as z.ZodType<
      unknown,
      PlainExpectation
    >,
);

const neverFields = () => ({
  /** Expectations of which none may be so. */
  anyOf: alternatives(plainExpectation()),
});

const singleFields = () => ({
  /** What must not be so. */
  never: oneNameOf('expectation', { ...expectationSchemas(), ...neverFields() }, {}).describe(
    'What must not be so.',
  ) as unknown as z.ZodType<unknown, OneOf<ExpectationValues & InputOf<ReturnType<typeof neverFields>>>>,
});

/** What must have happened or, below `never`, must not have happened. */
export type SingleExpectation = OneOf<ExpectationValues & InputOf<ReturnType<typeof singleFields>>>;

const singleExpectation = lazy(
  () =>
    oneNameOf('expectation', { ...expectationSchemas(), ...singleFields() }, {}).meta({
      id: 'singleExpectation',
    }) as unknown as z.ZodType<unknown, SingleExpectation>,
);

const anyOfFields = () => ({
  /** Expectations of which at least one must be so. */
  anyOf: alternatives(singleExpectation()),
});

/** What must have happened or, below `never`, must not have happened; or several of which one is enough. */
export type Expectation = OneOf<
  ExpectationValues & InputOf<ReturnType<typeof singleFields> & ReturnType<typeof anyOfFields>>
>;

const expectation = lazy(
  () =>
    oneNameOf('expectation', { ...expectationSchemas(), ...singleFields(), ...anyOfFields() }, {}).meta({
      id: 'expectation',
    }) as unknown as z.ZodType<unknown, Expectation>,
);

const expect = () =>
  z.array(expectation(), EXPECTATIONS_RULE).min(1, EXPECTATIONS_RULE).describe('What must have happened at the end.');

const twinFields = () => ({
  /** What happens in the twin. */
  steps: steps().optional(),
  /** What must have happened in the twin. */
  expect: expect().optional(),
});

const twin = lazy(() =>
  z
    .strictObject(twinFields(), mustBe('an object with steps or expect'))
    .refine((given) => given.steps !== undefined || given.expect !== undefined, 'must have steps or expect')
    .meta({ minProperties: 1 }),
);

const given = lazy(() =>
  z.strictObject(givenFields(), mustBe('an object with clock, behaviours or mail')).meta({ id: 'given' }),
);

const limits = lazy(() =>
  z.strictObject(limitFields(), mustBe('an object with requests, mails or realTime')).meta({ id: 'limits' }),
);

const TAG_RULE = mustBe('a tag of letters, digits, - and _');

const commonFields = () => ({
  /** Words by which a run can choose scenarios, such as `security`. */
  tags: z
    .array(z.string(TAG_RULE).regex(TAG, TAG_RULE), mustBe('a list of tags'))
    .optional()
    .describe('Words by which a run can choose scenarios, such as security.'),
  /** The agent: its inbox, and how it learns of mail. */
  agent: agent().optional().describe('The agent: its inbox, and how it learns of mail.'),
  /** What is so at the start. */
  given: given().optional().describe('What is so at the start.'),
  /** How much the agent may do. */
  limits: limits().optional().describe('How much the agent may do.'),
  /**
   * The share of its trials that must pass, from 0 to 1; if the run has a `k`, the least pass^k. Its twin must reach it,
   * too. Default: that of the run, or 1, so that every trial must pass.
   */
  require: z
    .number(mustBe(SHARE_RULE))
    .min(0, mustBe(SHARE_RULE))
    .max(1, mustBe(SHARE_RULE))
    .optional()
    .describe('The share of its trials that must pass; by default that of --require, or every trial.'),
});

const ownFields = () => ({
  /** The name; no other scenario may have it. */
  name: filledText('a text').describe('The name; no other scenario may have it.'),
  /** What the scenario shows, for people. */
  description: filledText('a text').optional().describe('What the scenario shows, for people.'),
  /**
   * Parameters, by their names, with their default values. `{{name}}` in a text of the scenario stands for the value of a
   * parameter, and a run can set another one.
   */
  parameters: z
    .record(z.string(), z.string(mustBe('a text')), mustBe('an object of names and texts'))
    .optional()
    .describe('Parameters with their default values; {{name}} in a text stands for the value of one.'),
  /**
   * A table of values: each row becomes a scenario of its own, in whose texts `{{name}}` stands for the value in the column
   * `name`. The name of the scenario needs one of them. All rows have the same columns.
   */
  each: z
    .array(
      z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]), mustBe('an object of names and values')),
      mustBe('a list of objects of names and values'),
    )
    .min(1)
    .optional()
    .describe(
      'A table of values, of whose rows each becomes a scenario; {{name}} in a text stands for a value.',
    ) as z.ZodOptional<z.ZodType<unknown, readonly Readonly<Record<string, string | number | boolean>>[]>>,
  /** What happens, in this order. */
  steps: steps(),
  /** What must have happened at the end. */
  expect: expect(),
  /** Says that an agent that does nothing may pass. */
  idle: z.literal('passes', mustBe('passes')).optional().describe('Says that an agent that does nothing may pass.'),
  /**
   * The harmless form of the scenario, which shows that the agent still does its work. What it leaves out is as in the
   * scenario.
   */
  twin: twin()
    .optional()
    .describe('The harmless form of the scenario, which shows that the agent still does its work.'),
});

const samplePattern = () =>
  z.string(mustBe('the name of a sample or a pattern such as injection/*')).superRefine((pattern, context) => {
    const found = findSamples(pattern);
    if ('problem' in found) context.addIssue({ code: 'custom', message: found.problem });
  });

const SAMPLES_RULE = mustBe('the name of a sample, a pattern such as injection/*, or a list of them');

const sampleListFields = () => ({
  /**
   * Names of samples, or patterns: `injection/*` is every sample of this family, and `injection/invoice/*` the made
   * samples that `samplesFor('invoice')` returns.
   */
  samples: z
    .union([samplePattern(), z.array(samplePattern()).min(1)], SAMPLES_RULE)
    .describe('Names of samples, or patterns such as injection/*.') as z.ZodType<unknown, string | readonly string[]>,
});

const SCENARIO_RULE = mustBe('a scenario, which is an object with name, steps and expect');

/** The schema of a scenario. */
export const scenarioSchema = lazy(() =>
  z.strictObject({ ...ownFields(), ...commonFields() }, SCENARIO_RULE).meta({ id: 'scenario' }),
);

/** The schema of scenarios that are made from samples. */
export const sampleScenariosSchema = lazy(() =>
  z.strictObject({ ...sampleListFields(), ...commonFields() }, SCENARIO_RULE).meta({ id: 'samples' }),
);

/** The schema of a file of scenarios. */
export const scenarioFileSchema = lazy(() => {
  const item = () => z.union([scenarioSchema(), sampleScenariosSchema()]);
  return z.union([...item().options, z.array(item()).min(1)]);
});

/** What a scenario says of the agent. */
export interface ScenarioAgent extends InputOf<ReturnType<typeof agentFields>> {}

/** How much an agent may do; a trial that goes beyond a limit ends and fails. */
export interface Limits extends InputOf<ReturnType<typeof limitFields>> {}

/** What happens, and what an agent must and must not do then. */
export interface Scenario extends InputOf<ReturnType<typeof ownFields> & ReturnType<typeof commonFields>> {}

/** Scenarios that are made from samples: one for each sample, with its harmless twin. */
export interface SampleScenarios
  extends InputOf<ReturnType<typeof sampleListFields> & ReturnType<typeof commonFields>> {}
