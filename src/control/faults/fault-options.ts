import { z } from 'zod';
import { foldAddress } from '../../basics/domain-name.ts';
import { type FieldsOf, type InputOf, lazy } from '../../basics/lazy-schema.ts';
import { didYouMean } from '../../basics/similar-names.ts';
import { CLOSE_CODES } from '../../contract/stream-protocol.ts';
import { parseDuration } from '../../world/clock.ts';
import {
  DELIVERY_FAULT_KINDS,
  type DeliveryFault,
  type Fault,
  IMAP_FAULTS,
  type ImapFault,
  type ImapFaultKind,
  type SmtpFault,
  STREAM_FAULTS,
  type StreamFault,
  type StreamFaultKind,
} from '../../world/fault.ts';
import { durationField, MAX_COUNT, webhookField, wholeNumber } from '../call-fields.ts';
import {
  basisFields,
  type FaultIdentity,
  keyField,
  type ParsedOptions,
  planFields,
  tierField,
  type WithoutIdentity,
} from './fault-fields.ts';
import { FAULT_NAMES, type FaultName, NAMED_FAULTS } from './named-faults.ts';
import { createRequestFault, type RequestFaultOptions, requestFault, requestOptions } from './request-fault-options.ts';

// The fields that every fault has are not spread here, because declaration files lose the comments of spread fields.
const deliveryOptions = () => ({
  /** What the fault applies to: deliveries to webhooks. */
  on: z.literal('delivery'),
  /** The kind of the fault. */
  kind: z.enum(DELIVERY_FAULT_KINDS, `must be one of ${DELIVERY_FAULT_KINDS.join(', ')}`),
  /** The id of the webhook that the fault applies to. Default: any webhook. */
  webhookId: webhookField().optional(),
  /** Only for `delay`: the length of the delay. Default: one minute. */
  delay: durationField().default('1m'),
});

/** The options of a fault of deliveries to webhooks. */
export type DeliveryFaultOptions = InputOf<ReturnType<typeof deliveryOptions> & ReturnType<typeof planFields>>;

const deliveryFault = lazy(() =>
  z.strictObject({
    on: z.literal('delivery'),
    kind: z.enum(DELIVERY_FAULT_KINDS),
    webhookId: z.string().nullable().describe('The only webhook to which it applies; null for any.'),
    delayMs: z.number().describe('The delay in milliseconds, for the kind delay.'),
    ...basisFields(),
  } satisfies FieldsOf<DeliveryFault>),
);

function createDeliveryFault(options: ParsedOptions<typeof deliveryOptions>): WithoutIdentity<DeliveryFault> {
  const { on, kind, webhookId = null, after, times, delay } = options;
  return { on, kind, webhookId, after, times, delayMs: kind === 'delay' ? parseDuration(delay) : 0 };
}

const STREAM_KINDS = Object.keys(STREAM_FAULTS) as StreamFaultKind[];

const streamOptions = () => ({
  /** What the fault applies to: events that are sent to streams. */
  on: z.literal('stream'),
  /** The kind of the fault. */
  kind: z.enum(STREAM_KINDS, `must be one of ${STREAM_KINDS.join(', ')}`),
  /** The key that opened the stream. Default: any key. */
  key: keyField().optional(),
  /** The tier of the key that opened the stream. Default: any tier. */
  tier: tierField().optional(),
  /** Only for `close`: the close code, from 4000 to 4999. Default: 4503. */
  code: wholeNumber(4000, 4999).default(CLOSE_CODES.fault),
});

/** The options of a fault of event streams. */
export type StreamFaultOptions = InputOf<ReturnType<typeof streamOptions> & ReturnType<typeof planFields>>;

const streamFault = lazy(() =>
  z.strictObject({
    on: z.literal('stream'),
    kind: z.enum(STREAM_KINDS),
    key: z.string().nullable(),
    tier: tierField().nullable(),
    code: z.int(),
    ...basisFields(),
  } satisfies FieldsOf<StreamFault>),
);

function createStreamFault(options: ParsedOptions<typeof streamOptions>): WithoutIdentity<StreamFault> {
  const { on, kind, key = null, tier = null, after, times, code } = options;
  return { on, kind, key, tier, after, times, code };
}

const ADDRESS_RULE = 'must be a mail address without a display name';

const bareAddress = () =>
  z
    .string(ADDRESS_RULE)
    .regex(/^[^\s<>@]+@[^\s<>@]+$/, ADDRESS_RULE)
    .overwrite(foldAddress);

const MESSAGE_RULE = 'must be one line of at most 200 printable ASCII characters';

const smtpOptions = () => ({
  /** What the fault applies to: recipients of mail over SMTP. */
  on: z.literal('smtp'),
  /** The address of the recipient that is refused; it must belong to an inbox. Default: any recipient. */
  recipient: bareAddress().optional(),
  /** The reply code: 4xx asks the client to try again later, 5xx refuses permanently. Default: 451. */
  status: wholeNumber(400, 599).default(451),
  /** The text after the reply code. Default: a text that says that a fault refuses the recipient. */
  message: z
    .string(MESSAGE_RULE)
    .regex(/^[\x20-\x7e]{1,200}$/, MESSAGE_RULE)
    .optional(),
});

/** The options of a fault of mail over SMTP. */
export type SmtpFaultOptions = InputOf<ReturnType<typeof smtpOptions> & ReturnType<typeof planFields>>;

const smtpFault = lazy(() =>
  z.strictObject({
    on: z.literal('smtp'),
    recipient: z.string().nullable().describe('The only address to which it applies; null for any.'),
    status: z.int(),
    message: z.string(),
    ...basisFields(),
  } satisfies FieldsOf<SmtpFault>),
);

function createSmtpFault(options: ParsedOptions<typeof smtpOptions>): WithoutIdentity<SmtpFault> {
  const { on, recipient = null, status, message, after, times } = options;
  // The text begins with an enhanced status code (RFC 3463) of the same class as the reply code.
  const text = message ?? `${Math.floor(status / 100)}.3.0 A fault of the emulator refuses this recipient.`;
  return { on, recipient, status, message: text, after, times };
}

/** Every kind of IMAP fault. */
const IMAP_KINDS = Object.keys(IMAP_FAULTS) as ImapFaultKind[];

const imapOptions = () => ({
  /** What the fault applies to: IMAP sessions. */
  on: z.literal('imap'),
  /** The kind of the fault. */
  kind: z.enum(IMAP_KINDS, `must be one of ${IMAP_KINDS.join(', ')}`),
  /** An address of the inbox that the fault applies to. Default: any inbox. */
  inbox: bareAddress().optional(),
  /** Only for `slow` and `disconnect`: the length of the delay. Default: two seconds. */
  delay: durationField().default('2s'),
  /** Only for `disconnect`: how many commands after the login are answered. Default: no number; `delay` decides. */
  commands: wholeNumber(1, MAX_COUNT).optional(),
});

/** The options of a fault of IMAP sessions. */
export type ImapFaultOptions = InputOf<ReturnType<typeof imapOptions> & ReturnType<typeof planFields>>;

const imapFault = lazy(() =>
  z.strictObject({
    on: z.literal('imap'),
    kind: z.enum(IMAP_KINDS),
    inbox: z.string().nullable().describe('The address of the only inbox to which it applies; null for any.'),
    delayMs: z.number().describe('The delay in milliseconds, for the kinds slow and disconnect.'),
    commands: z.int().nullable().describe('The number of commands after which the connection ends, for disconnect.'),
    ...basisFields(),
  } satisfies FieldsOf<ImapFault>),
);

function createImapFault(options: ParsedOptions<typeof imapOptions>): WithoutIdentity<ImapFault> {
  const { on, kind, inbox = null, delay, commands = null, after, times } = options;
  const delayMs = kind === 'slow' || kind === 'disconnect' ? parseDuration(delay) : 0;
  return { on, kind, inbox, delayMs, commands: kind === 'disconnect' ? commands : null, after, times };
}

/** The options of `addFault`: what the fault applies to, what happens, and how often. */
export type FaultOptions =
  | RequestFaultOptions
  | DeliveryFaultOptions
  | StreamFaultOptions
  | SmtpFaultOptions
  | ImapFaultOptions;

/** The options of a fault that has a name, except those that its name decides; other values of `times` are possible. */
export type NamedFaultOptions<Name extends FaultName = FaultName> = Omit<
  Extract<FaultOptions, { readonly on: (typeof NAMED_FAULTS)[Name]['fault']['on'] }>,
  'on' | 'kind'
>;

/** The name of a fault, which decides what it applies to. */
interface FaultByName<Name extends FaultName> {
  /** The name of the fault. */
  readonly name: Name;
  /** Must be left out, because the name decides it. */
  readonly on?: never;
}

/** A fault by its name: `{ name: 'lost-reply', operation: 'sendMessage' }`. */
export type NamedFault = {
  [Name in FaultName]: FaultByName<Name> & NamedFaultOptions<Name>;
}[FaultName];

const fullForms = lazy(() =>
  z.discriminatedUnion(
    'on',
    [
      requestOptions(),
      z.strictObject({ ...deliveryOptions(), ...planFields() }),
      z.strictObject({ ...streamOptions(), ...planFields() }),
      z.strictObject({ ...smtpOptions(), ...planFields() }),
      z.strictObject({ ...imapOptions(), ...planFields() }),
    ],
    {
      error: ({ code }) =>
        code === 'invalid_union' ? 'must be one of request, delivery, stream, smtp, imap' : 'must be an object',
    },
  ),
);

/**
 * Replaces the name of a fault by the fields that the name stands for. Other fields of the fault, such as its
 * operation, are kept, and replace a field of the same name. The fields `on` and `kind` are refused.
 */
function expandName(given: unknown, context: z.RefinementCtx): unknown {
  const written = typeof given === 'string' ? { name: given } : given;
  if (typeof written !== 'object' || written === null || !('name' in written)) return written;
  const { name, ...fields } = written;
  const refuse = (path: string[], message: string) => {
    context.addIssue({ code: 'custom', path, message, input: given });
    return z.NEVER;
  };
  if (!isFaultName(name)) {
    const hint = typeof name === 'string' ? didYouMean(name, FAULT_NAMES) : '';
    return refuse(['name'], `must be the name of a fault${hint || `: ${FAULT_NAMES.join(', ')}`}`);
  }
  const decided = ['on', 'kind'].find((field) => field in fields);
  if (decided !== undefined) return refuse([decided], `must not be combined with name, because ${name} decides it`);
  return { ...NAMED_FAULTS[name].fault, ...fields };
}

function isFaultName(name: unknown): name is FaultName {
  return FAULT_NAMES.some((each) => each === name);
}

/** The schema of the options of `addFault`: a fault in its full form, or by its name. */
export const faultOptions = lazy(() => z.preprocess(expandName, fullForms()));

/** The form with a name. Each name is described, because the page shows the descriptions. */
const namedForm = lazy(() => {
  const names = FAULT_NAMES.map((name) => z.literal(name).describe(NAMED_FAULTS[name].help));
  const name = z.union(names).meta({ type: 'string', description: 'The name of a fault, instead of on and kind.' });
  return z.looseObject({ name }) as unknown as z.ZodType<NamedFault, NamedFault>;
});

/** The schema that describes the forms of a fault; `faultOptions` is the one that checks them. */
export const faultForms = lazy(() => z.union([...fullForms().options, namedForm()]));

/** The schema of `faults`, the option with the faults that a mailbox has at its start. */
export const initialFaults = lazy(() => z.object({ faults: z.array(faultOptions(), 'must be a list of faults') }));

/** The schema of a fault that is set. */
export const anyFault = lazy(() =>
  z.discriminatedUnion('on', [requestFault(), deliveryFault(), streamFault(), smtpFault(), imapFault()]),
);

/** Creates a fault from its options. */
export function createFault(options: z.output<ReturnType<typeof fullForms>>, identity: FaultIdentity): Fault {
  const { after = 0, times = 1 } = options;
  switch (options.on) {
    case 'request':
      return { ...identity, ...createRequestFault({ ...options, after, times }) };
    case 'delivery':
      return { ...identity, ...createDeliveryFault({ ...options, after, times }) };
    case 'stream':
      return { ...identity, ...createStreamFault({ ...options, after, times }) };
    case 'smtp':
      return { ...identity, ...createSmtpFault({ ...options, after, times }) };
    case 'imap':
      return { ...identity, ...createImapFault({ ...options, after, times }) };
  }
}
