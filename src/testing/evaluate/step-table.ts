import { z } from 'zod';
import { lazy } from '../../basics/lazy-schema.ts';
import { messageOf } from '../../basics/named-error.ts';
import { parseBehaviours } from '../../contract/behaviours.ts';
import { composedMessage } from '../../contract/incoming-message.ts';
import { waitOptions } from '../../control/journal/mail-filter.ts';
import { MOMENT_RULE, parseMoment } from '../../control/mailbox-clock.ts';
import { getSample } from '../../control/samples/create-sample.ts';
import { incomingSample } from '../../control/samples/incoming-sample.ts';
import type { SampleName } from '../../control/samples/sample-names.ts';
import { CONTROL_CALLS, type ControlCallId } from '../../control/table/calls.ts';
import { CONTROL_ROWS } from '../../control/table/table.ts';
import { correspondentOptions } from '../../service/mail/correspondents/correspondent.ts';
import { durationField } from '../../world/clock.ts';
import { faultForms, faultOptions } from '../../world/fault.ts';
import type { StepValues } from './scenario.ts';

/** A step by its name: what it does, what it takes, and the control call that does it. */
export interface StepRow {
  /** What the step does, in one sentence. */
  readonly help: string;
  /** The control call; undefined if no control call does it. */
  readonly call?: ControlCallId;
  /** The schema of the value of the step. */
  readonly schema: () => z.ZodType;
  /** The schema that describes the forms, if it differs from the one that checks them. */
  readonly described?: () => z.ZodType;
  /** Whether the step delivers mail, so that `as` can name it. */
  readonly isMail?: true;
  /** Whether `as` names the first mail that comes later because of the step. */
  readonly namesAnswer?: true;
}

const yes = lazy(() => z.literal(true, 'must be true'));

/** The fields of a mail whose `to` may be left out, and whose `inReplyTo` may be the name of a mail. */
const deliveredMail = lazy(() =>
  composedMessage()
    .omit({ tenant: true })
    .extend({ to: composedMessage().shape.to.optional(), inReplyTo: z.string('must be a text').nullish() }),
);

const sampleFields = lazy(() =>
  incomingSample()
    .omit({ tenant: true, baseUrl: true })
    .extend({ to: incomingSample().shape.to.optional(), inReplyTo: z.string('must be a text').optional() }),
);

/** The schema of a sample: its name, or its fields. The name must be known. */
const sample = lazy(() =>
  z.preprocess(
    (given) => (typeof given === 'string' ? { sample: given } : given),
    sampleFields().superRefine(({ sample: name }, context) => {
      try {
        getSample(name as SampleName);
      } catch (error) {
        context.addIssue({ code: 'custom', path: [], message: withoutStop(messageOf(error)) });
      }
    }),
  ),
);

/** The schema of behaviours by their ids. */
export const behaviourValues = lazy(() =>
  z.record(z.string(), z.unknown(), 'must be an object of behaviours').superRefine((values, context) => {
    const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
    try {
      parseBehaviours(given as never);
    } catch (error) {
      context.addIssue({ code: 'custom', path: [], message: withoutStop(messageOf(error)) });
    }
  }),
);

function withoutStop(sentence: string): string {
  return sentence.replace(/\.$/, '');
}

/** The steps with names of their own. */
export const STEPS = {
  deliver: { help: 'Delivers a mail.', call: 'receiveMessage', schema: deliveredMail, isMail: true },
  eml: {
    help: 'Delivers a raw mail (RFC 5322): its text, or the path of an .eml file.',
    call: 'receiveMessage',
    schema: lazy(() => z.string('must be the text of a mail, or the path of a file with one')),
    isMail: true,
  },
  sample: { help: 'Delivers a sample, by its name.', call: 'receiveMessage', schema: sample, isMail: true },
  correspondent: {
    help: 'Adds somebody who answers the mail to an address.',
    call: 'addCorrespondent',
    schema: correspondentOptions,
    namesAnswer: true,
  },
  fault: {
    help: 'Adds a fault, by its name or in its full form.',
    call: 'addFault',
    schema: faultOptions,
    described: faultForms,
  },
  clearFaults: { help: 'Removes every fault.', call: 'clearFaults', schema: yes },
  advance: { help: 'Advances the clock by this duration.', call: 'changeClock', schema: durationField },
  freeze: {
    help: 'Stops the clock at this time or, with true, at its present time.',
    call: 'changeClock',
    schema: lazy(() =>
      z.union([yes(), z.string().refine((at) => parseMoment(at) !== undefined, `must be true or ${MOMENT_RULE}`)]),
    ),
  },
  resume: { help: 'Lets the clock run.', call: 'changeClock', schema: yes },
  rotate: {
    help: 'Replaces a key of the agent: that of its inbox, its workspace or its tenant.',
    call: 'rotateKey',
    schema: lazy(() => z.enum(['inbox', 'workspace', 'tenant'], 'must be inbox, workspace or tenant')),
  },
  behaviours: {
    help: 'Changes behaviours; the scenario then runs in an emulator of its own.',
    call: 'changeBehaviours',
    schema: behaviourValues,
  },
  wait: {
    help: 'Waits for a mail; if it does not come in time, the trial fails.',
    call: 'waitForMessage',
    schema: lazy(() => waitOptions().omit({ sandbox: true, tenant: true, since: true })),
  },
  run: {
    help: 'Runs a command of the shell.',
    schema: lazy(() => z.string('must be a command of the shell').min(1, 'must be a command of the shell')),
  },
  until: {
    help: 'Waits until the agent is quiet.',
    schema: lazy(() => z.literal('quiet', 'must be quiet')),
  },
} as const satisfies Readonly<Record<keyof StepValues, StepRow>>;

/** Control calls that would end the sandbox of a trial, or begin another, or are steps with names of their own. */
const NOT_AS_STEPS: ReadonlySet<string> = new Set<ControlCallId>([
  'reset',
  'createSandbox',
  'closeSandbox',
  'changeBehaviours',
  'restoreCheckpoint',
  'clearFaults',
]);

/** The control calls that change something, which are steps by their own names. */
export const CALL_STEPS = (Object.keys(CONTROL_CALLS) as ControlCallId[]).filter(
  (id) => !CONTROL_CALLS[id].startsWith('GET') && !NOT_AS_STEPS.has(id),
);

/** Every name of a step. */
export const STEP_NAMES: readonly string[] = [...Object.keys(STEPS), ...CALL_STEPS];

/** Returns the row of a step; undefined for an unknown name. */
export function findStep(name: string): StepRow | undefined {
  if (Object.hasOwn(STEPS, name)) return STEPS[name as keyof typeof STEPS];
  const call = CALL_STEPS.find((id) => id === name);
  if (call === undefined) return undefined;
  return { help: CONTROL_ROWS[call].summary, call, schema: () => schemaOfCall(call) };
}

/** Returns the schema of the fields of a control call: the parameters of its path, and the fields of its query or body. */
function schemaOfCall(id: ControlCallId): z.ZodType {
  const { params, query, body } = CONTROL_ROWS[id] as {
    readonly params?: z.ZodObject;
    readonly query?: z.ZodObject;
    readonly body?: z.ZodType;
  };
  if (body && !(body instanceof z.ZodObject)) return body;
  return z.strictObject({ ...params?.shape, ...query?.shape, ...body?.shape }, 'must be an object of fields');
}
