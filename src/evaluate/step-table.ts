import { z } from 'zod';
import type { Duration } from '../basics/duration.ts';
import { type InputOf, lazy } from '../basics/lazy-schema.ts';
import { messageOf } from '../basics/named-error.ts';
import { BEHAVIOURS, CHANGEABLE_IDS, parseBehaviours } from '../contract/behaviours.ts';
import type { EventKind } from '../contract/events.ts';
import {
  type ComposedMessage,
  composedMessage,
  type IncomingMessage,
  rawMessage,
} from '../contract/incoming-message.ts';
import { durationField } from '../control/call-fields.ts';
import { correspondentBody, correspondentOptions } from '../control/correspondent-options.ts';
import { faultForms, faultOptions } from '../control/faults/fault-options.ts';
import { FAULT_NAMES, NAMED_FAULTS } from '../control/faults/named-faults.ts';
import { waitOptions } from '../control/mail/mail-filter.ts';
import { MOMENT_RULE, parseMoment } from '../control/mailbox-clock.ts';
import { getSample, samples } from '../control/samples/create-sample.ts';
import { type IncomingSample, incomingSample } from '../control/samples/incoming-sample.ts';
import type { SampleName } from '../control/samples/sample-names.ts';
import { CONTROL_CALL_IDS, CONTROL_ROUTES, type ControlCallId } from '../control/table/routes.ts';
import { CONTROL_ROWS } from '../control/table/table.ts';
import type {
  AddedWebhook,
  BehaviourChanges,
  CorrespondentOptions,
  FaultName,
  FaultOptions,
  MailSelection,
  NamedFault,
  RedeliverOptions,
  ReleaseOptions,
  SettledOptions,
  TriggerOptions,
  WaitOptions,
} from '../mailbox/without-msw.ts';
import { filledText, mustBe, mustBeName } from './schema-parts.ts';

const yes = lazy(() => z.literal(true, mustBe('true')));

/** The name of a mail or a Message-ID, for a mail that answers another. */
const answeredMail = () => z.string(mustBe('the name of a mail or a Message-ID'));

/** Makes the recipients of a mail optional, because the inbox of the agent is their default. */
type WithOptionalRecipients<Mail extends { readonly to: unknown }> = Omit<Mail, 'to' | 'tenant' | 'baseUrl'> & {
  /** The recipients. Default: the inbox of the agent. */
  readonly to?: Mail['to'] | undefined;
};

/** A mail by its parts. `inReplyTo` may be the name of a mail. */
export const deliveredMail = lazy(
  () =>
    composedMessage()
      .omit({ tenant: true })
      .extend({ to: composedMessage().shape.to.optional(), inReplyTo: answeredMail().nullish() }) as z.ZodType<
      unknown,
      WithOptionalRecipients<ComposedMessage>
    >,
);

const sampleName = lazy(() =>
  z
    .string(mustBe('the name of a sample'))
    .superRefine((name, context) => {
      try {
        getSample(name as SampleName);
      } catch (error) {
        context.addIssue({ code: 'custom', message: `must be the name of a sample: ${withoutStop(messageOf(error))}` });
      }
    })
    .meta({
      anyOf: [
        { enum: samples.flatMap(({ name, twin }) => (twin === undefined ? [name] : [name, twin])) },
        { pattern: '^injection/' },
      ],
    }),
);

const sampleFields = lazy(() =>
  incomingSample().omit({ tenant: true, baseUrl: true }).extend({
    sample: sampleName(),
    to: incomingSample().shape.to.optional(),
    inReplyTo: answeredMail().optional(),
  }),
);

/** Says why a value is not a sample: an unknown name, or neither a name nor an object. */
function describeSample({ input }: { readonly input?: unknown }): string {
  const [issue] = sampleName().safeParse(input).error?.issues ?? [];
  const { error } = mustBe('the name of a sample, or an object with sample');
  return typeof input === 'string' && issue ? issue.message : error({ input });
}

const sample = lazy(
  () =>
    z.union([sampleName(), sampleFields()], { error: describeSample }) as z.ZodType<
      unknown,
      SampleName | WithOptionalRecipients<IncomingSample>
    >,
);

/** Behaviours, by their ids. Each is checked alone, so that a problem has the path of its id. */
export const behaviourValues = lazy(
  () =>
    z
      .record(z.string(), z.unknown(), mustBe('an object of behaviours, by their ids'))
      .superRefine((values, context) => {
        for (const [id, value] of Object.entries(values)) {
          try {
            if (value !== null) parseBehaviours({ [id]: value });
          } catch (error) {
            context.addIssue({ code: 'custom', path: [id], message: `is not valid: ${withoutStop(messageOf(error))}` });
          }
        }
      })
      .meta({ id: 'behaviours', properties: describeBehaviours(), additionalProperties: false }) as z.ZodType<
      unknown,
      BehaviourChanges
    >,
);

/** Describes each behaviour that can be changed in JSON Schema, so that editors complete ids and values. */
function describeBehaviours() {
  const properties = CHANGEABLE_IDS.map((id) => {
    const { choices, question, otherValues } = BEHAVIOURS[id] as {
      readonly choices: object;
      readonly question: string;
      readonly otherValues?: unknown;
    };
    const values = otherValues ? { type: ['string', 'null'] } : { enum: [...Object.keys(choices), null] };
    return [id, { ...values, description: question }];
  });
  return Object.fromEntries(properties);
}

function withoutStop(sentence: string): string {
  return sentence.replace(/\.$/, '');
}

/** The forms of a fault: for each target, its fields with `on`, and with the names that decide the target. */
const describedFaults = lazy(() => {
  const forms = faultForms().options.flatMap((option) => {
    if (!(option instanceof z.ZodObject)) return [];
    const { on, kind: _, ...fields } = option.shape as z.ZodRawShape;
    const names = FAULT_NAMES.filter((name) => on instanceof z.ZodLiteral && on.value === NAMED_FAULTS[name].fault.on);
    return names.length === 0 ? [] : [option, z.strictObject({ name: z.enum(names), ...fields })];
  });
  return z.union(forms);
});

/** The fields of a fault. The schema that checks them replaces a name by the fields that it stands for. */
const faultFields = lazy(() => faultOptions().meta({ describedBy: describedFaults }));

const fault = lazy(() => {
  const name = z.enum(FAULT_NAMES as [FaultName, ...FaultName[]]);
  const rule = mustBeName('the name of a fault, or an object with its fields', FAULT_NAMES);
  return z.union([name, faultFields()], rule) as z.ZodType<unknown, FaultName | FaultOptions | NamedFault>;
});

/** A correspondent. The schema that checks it allows functions, which JSON does not have. */
const correspondent = lazy(
  () => correspondentOptions().meta({ describedBy: correspondentBody }) as z.ZodType<unknown, CorrespondentOptions>,
);

const FREEZE_RULE = `true or ${MOMENT_RULE.replace(/^must be /, '')}`;

const freeze = () => z.union([yes(), z.string().refine((at) => parseMoment(at) !== undefined)], mustBe(FREEZE_RULE));

const TIERS = ['inbox', 'workspace', 'tenant'] as const;

const stepFields = () => ({
  /** Delivers a mail that is given by its parts. Default of `to`: the inbox of the agent. */
  deliver: deliveredMail().describe('Delivers a mail.'),
  /** Delivers a raw mail (RFC 5322): its text or, in a file of scenarios, the path of an `.eml` file beside that file. */
  eml: z
    .string(mustBe('the text of a mail, or the path of a file with one'))
    .describe('Delivers a raw mail (RFC 5322): its text, or the path of an .eml file.'),
  /** Delivers a sample. Default of `to`: the inbox of the agent. */
  sample: sample().describe('Delivers a sample, by its name.'),
  /** Adds somebody who answers the mail to an address. */
  correspondent: correspondent().describe('Adds somebody who answers the mail to an address.'),
  /** Adds a fault. */
  fault: fault().describe('Adds a fault, by its name or in its full form.'),
  /** Removes every fault. */
  clearFaults: yes().describe('Removes every fault.'),
  /** Advances the clock. */
  advance: durationField().describe('Advances the clock by this duration.') as z.ZodType<unknown, Duration>,
  /** Stops the clock at a time, or at its present time. */
  freeze: freeze().describe('Stops the clock at this time or, with true, at its present time.'),
  /** Lets the clock run. */
  resume: yes().describe('Lets the clock run.'),
  /** Replaces a key of the agent: that of its inbox, its workspace or its tenant. */
  rotate: z
    .enum(TIERS, mustBeName(`one of ${TIERS.join(', ')}`, TIERS))
    .describe('Replaces a key of the agent: that of its inbox, its workspace or its tenant.'),
  /** Changes behaviours. The scenario then runs in an emulator of its own. */
  behaviours: behaviourValues().describe('Changes behaviours; the scenario then runs in an emulator of its own.'),
  /** Waits for a mail. If it does not come in time, the trial fails. */
  wait: waitOptions()
    .omit({ sandbox: true, tenant: true, since: true })
    // A regular expression is possible only in code.
    .extend({ subject: waitOptions().shape.subject.meta({ describedBy: () => z.string() }) })
    .describe('Waits for a mail; if it does not come in time, the trial fails.') as z.ZodType<
    unknown,
    Omit<WaitOptions, 'sandbox' | 'tenant' | 'since'>
  >,
  /** Runs a command of the shell. */
  run: filledText('a command of the shell').describe('Runs a command of the shell.'),
  /** Waits until the agent is quiet. */
  until: z.literal('quiet', mustBe('quiet')).describe('Waits until the agent is quiet.'),
});

/** What each step does, by its name. */
export interface StepValues extends InputOf<ReturnType<typeof stepFields>> {}

/** What the control call of a step needs to know of the trial. */
export interface StepTrial {
  /** The URL of the emulator. */
  readonly url: string;
  /** The seed of the samples. */
  readonly seed: number;
  /** The address of the agent's inbox. */
  readonly address: string;
  /** Whether the agent is one that does nothing. */
  readonly isIdle: boolean;
  /** Returns the id of the agent's key of a tier. @throws {Error} if it has none. */
  keyIdOf(tier: string): string;
  /** Returns the Message-ID of a mail by its name. @throws {Error} if it was not delivered. */
  messageIdOf(name: string): string;
}

/** What is known of a step besides its schema. */
export interface StepRow<Value = never> {
  /** The control call; undefined if no control call does it. */
  readonly call?: ControlCallId;
  /** Returns the fields of the call. Default: those of the value. */
  readonly fields?: (value: Value, trial: StepTrial) => object;
  /** Whether the step delivers mail, so that `as` can name it. */
  readonly isMail?: true;
  /** Whether `as` names the first mail that comes later because of the step. */
  readonly namesAnswer?: true;
}

/** The steps with names of their own. */
export const STEPS: { readonly [Name in keyof StepValues]: StepRow<StepValues[Name]> } = {
  deliver: {
    call: 'receiveMessage',
    isMail: true,
    fields: (mail, trial) => ({ to: trial.address, ...mail, inReplyTo: answered(mail, trial) }),
  },
  eml: { call: 'receiveMessage', isMail: true, fields: (eml, { address }) => ({ eml, to: address }) },
  sample: {
    call: 'receiveMessage',
    isMail: true,
    fields(value, trial) {
      const given: WithOptionalRecipients<IncomingSample> = typeof value === 'string' ? { sample: value } : value;
      const { address, seed, url } = trial;
      return { to: address, seed, baseUrl: url, ...given, inReplyTo: answered(given, trial) };
    },
  },
  correspondent: { call: 'addCorrespondent', namesAnswer: true },
  fault: { call: 'addFault', fields: (fault) => (typeof fault === 'string' ? { name: fault } : fault) },
  clearFaults: { call: 'clearFaults', fields: () => ({}) },
  advance: { call: 'changeClock', fields: (advance) => ({ advance }) },
  freeze: { call: 'changeClock', fields: (freeze) => ({ freeze }) },
  resume: { call: 'changeClock', fields: (resume) => ({ resume }) },
  rotate: { call: 'rotateKey', fields: (tier, trial) => ({ id: trial.keyIdOf(tier) }) },
  behaviours: { call: 'changeBehaviours' },
  wait: {
    call: 'waitForMessage',
    // An idle agent sends nothing, so to wait for it would only take time.
    fields: (options, { isIdle }) => (isIdle ? { ...options, timeout: 1 } : options),
  },
  run: {},
  until: {},
};

/** Returns the Message-ID of the mail that another answers: `inReplyTo` is this id, or the name of a mail. */
function answered({ inReplyTo }: { readonly inReplyTo?: string | null | undefined }, trial: StepTrial) {
  return typeof inReplyTo !== 'string' || inReplyTo.startsWith('<') ? inReplyTo : trial.messageIdOf(inReplyTo);
}

/** Control calls that would end the sandbox of a trial, or begin another, or are steps with names of their own. */
const NOT_AS_STEPS = [
  'reset',
  'createSandbox',
  'addInbox',
  'closeSandbox',
  'changeBehaviours',
  'restoreCheckpoint',
  'clearFaults',
] as const satisfies readonly ControlCallId[];

/** The name of a control call that changes something, which is a step by its own name. */
export type CallStepName = {
  [Id in ControlCallId]: (typeof CONTROL_ROUTES)[Id] extends `GET ${string}` | 'GET'
    ? never
    : Id extends (typeof NOT_AS_STEPS)[number]
      ? never
      : Id;
}[ControlCallId];

/**
 * What each step takes that is a control call, by the name of the call. It is written out, because its declaration would
 * else contain the rows of all calls with their replies; a test of types holds it to these rows.
 */
export interface CallStepValues {
  /** Saves the present state under a name. */
  readonly addCheckpoint: NamedCheckpoint;
  /** Removes a checkpoint. */
  readonly removeCheckpoint: NamedCheckpoint;
  /** Adds somebody who answers the mail to an address. */
  readonly addCorrespondent: CorrespondentOptions;
  /** Removes every correspondent. */
  readonly clearCorrespondents: NoFields;
  /** Removes one correspondent. */
  readonly removeCorrespondent: NamedThing;
  /** Freezes, advances or resumes the clock: exactly one of the three. */
  readonly changeClock: ClockChange;
  /** Delivers an inbound mail: its parts, raw text, or a sample. */
  readonly receiveMessage: IncomingMessage | IncomingSample;
  /** Removes, for good, the mail that a search finds. */
  readonly clearMail: MailSelection;
  /** Removes a mail for good, with its files. */
  readonly removeMail: NamedThing;
  /** Triggers an event. */
  readonly triggerEvent: TriggerOptions & {
    /** The kind of the event. */
    readonly event: EventKind;
  };
  /** Sends a delivery again. */
  readonly redeliver: NamedThing & RedeliverOptions;
  /** Sends deliveries that a fault has held back. */
  readonly releaseDeliveries: ReleaseOptions;
  /** Adds a webhook. */
  readonly addWebhook: AddedWebhook;
  /** Replaces a key. */
  readonly rotateKey: NamedThing;
  /** Adds a fault, in its full form or by its name and the fields that differ. */
  readonly addFault: FaultOptions | NamedFault;
  /** Removes one fault. */
  readonly removeFault: NamedThing;
  /** Empties the list of requests. */
  readonly clearRequests: NoFields;
  /** Undoes the last emptying of the list of requests. */
  readonly restoreRequests: NoFields;
  /** Waits until nothing is running any more. */
  readonly settle: SettledOptions;
}

/** What a call applies to. */
interface NamedThing {
  /** Its id. */
  readonly id: string;
}

/** A checkpoint, by its name. */
interface NamedCheckpoint {
  /** The name of the checkpoint. */
  readonly name: string;
}

/** A change of the clock. */
interface ClockChange {
  /** The time at which the clock stops; `true` stops it at its present time. */
  readonly freeze?: string | true | undefined;
  /** How far the clock is advanced. */
  readonly advance?: Duration | undefined;
  /** Lets the clock run. */
  readonly resume?: true | undefined;
  /** The id of the tenant. Default: the tenant of the trial. */
  readonly tenant?: string | undefined;
}

/** An object without fields. */
type NoFields = Readonly<Record<never, never>>;

/** The names of the control calls that are steps. */
export const CALL_STEPS = CONTROL_CALL_IDS.filter(
  (id): id is CallStepName => !CONTROL_ROUTES[id].startsWith('GET') && !NOT_AS_STEPS.some((each) => each === id),
);

/** Returns the row of a step; undefined for an unknown name. */
export function findStep(name: string): StepRow | undefined {
  if (Object.hasOwn(STEPS, name)) return STEPS[name as keyof typeof STEPS];
  const call = CALL_STEPS.find((id) => id === name);
  return call && { call };
}

/** The schema of each step, by its name; its description says what the step does. */
export const stepSchemas = lazy(() => {
  const calls = CALL_STEPS.map((id) => [id, schemaOfCall(id).describe(CONTROL_ROWS[id].summary)]);
  return { ...stepFields(), ...Object.fromEntries(calls) } as ReturnType<typeof stepFields> & CallStepSchemas;
});

type CallStepSchemas = { readonly [Id in CallStepName]: z.ZodType<unknown, CallStepValues[Id]> };

/** The schemas of the control calls whose own schemas leave checks to the mailbox. */
const CALL_SCHEMAS: Readonly<Partial<Record<CallStepName, () => z.ZodType>>> = {
  addFault: faultFields,
  addCorrespondent: correspondent,
  receiveMessage: () =>
    z.union([composedMessage(), rawMessage(), incomingSample().extend({ sample: sampleName() })], mustBe('a mail')),
};

/** Returns the schema of the fields of a control call: the parameters of its path, and the fields of its query or body. */
function schemaOfCall(id: CallStepName): z.ZodType {
  const checked = CALL_SCHEMAS[id]?.();
  if (checked) return checked;
  const { params, query, body } = CONTROL_ROWS[id] as {
    readonly params?: z.ZodObject;
    readonly query?: z.ZodObject;
    readonly body?: z.ZodType;
  };
  // A body alone keeps the checks that concern several of its fields.
  if (body && !params && !query) return body instanceof z.ZodObject ? body.strict() : body;
  const bodyFields = body instanceof z.ZodObject ? body.shape : {};
  return z.strictObject({ ...params?.shape, ...query?.shape, ...bodyFields }, mustBe('an object of fields'));
}
