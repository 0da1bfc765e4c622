import { z } from 'zod';
import { foldAddress } from '../basics/domain-name.ts';
import { type InputOf, lazy, type OutputOf } from '../basics/lazy-schema.ts';
import { didYouMean } from '../basics/similar-names.ts';
import { CLOSE_CODES } from '../contract/stream-protocol.ts';
import { durationField, parseDuration } from './clock.ts';
import { FAULT_NAMES, type FaultName, NAMED_FAULTS } from './named-faults.ts';
import { REQUEST, type RequestFault, type RequestFaultOptions } from './request-fault.ts';
import type { FaultIdentity, faultFields, planFields } from './target-fields.ts';
import { defineTarget, keyField, MAX_COUNT, tierField, webhookField, wholeNumber } from './target-fields.ts';

/** A fault without its id and its tenant. */
type WithoutIdentity<Each> = Omit<Each, keyof FaultIdentity>;

/** What happens to the delivery, for each kind. A fault that changes the request affects the first attempt only. */
export const DELIVERY_FAULTS = {
  duplicate: 'It is sent twice, with the same `webhook-id`.',
  reorder: 'It is sent after the next delivery to the same webhook, or after a minute without a next delivery.',
  hold: 'It waits until it is released.',
  drop: 'It is never sent.',
  delay: 'It is sent after the time in `delay`.',
  'stale-timestamp': 'Its timestamp is an hour old, and the signature is valid.',
  'wrong-secret': 'It is signed with another secret.',
  'two-signatures': 'It has two signatures, as during a rotation of the secret; only the second is valid.',
  'truncated-body': 'Half of its body is missing, but the signature is for the whole body.',
  unreachable: 'The first attempt fails as if no program listened at the URL.',
  'oversize-body': 'Its body has 1 MiB of extra padding, and the signature is valid.',
} as const;

/** The kind of a delivery fault. */
export type DeliveryFaultKind = keyof typeof DELIVERY_FAULTS;

/** Every kind of delivery fault. */
export const DELIVERY_FAULT_KINDS = Object.keys(DELIVERY_FAULTS) as DeliveryFaultKind[];

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

const deliveryFields = () => ({
  /** What the fault happens to: `delivery`. */
  on: z.literal('delivery'),
  /** What goes wrong. */
  kind: z.enum(DELIVERY_FAULT_KINDS),
  /** The id of the only webhook that the fault applies to; null for any. */
  webhookId: z.string().nullable().describe('The only webhook to which it applies; null for any.'),
  /** The delay in milliseconds; 0 unless the kind is `delay`. */
  delayMs: z.number().describe('The delay in milliseconds, for the kind delay.'),
});

/** A fault of deliveries that is set. */
export type DeliveryFault = OutputOf<ReturnType<typeof deliveryFields> & ReturnType<typeof faultFields>>;

const DELIVERY = defineTarget(deliveryOptions, deliveryFields, (options): WithoutIdentity<DeliveryFault> => {
  const { on, kind, webhookId = null, after, times, delay } = options;
  return { on, kind, webhookId, after, times, delayMs: kind === 'delay' ? parseDuration(delay) : 0 };
});

/** What happens instead of sending the event, for each kind of stream fault. */
export const STREAM_FAULTS = {
  close: 'The stream is closed, with the code in `code`.',
  stall: 'The stream stays open, but nothing is sent on it any more: no event, no ping and no reply.',
} as const;

/** The kind of a stream fault. */
export type StreamFaultKind = keyof typeof STREAM_FAULTS;

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

const streamFields = () => ({
  /** What the fault happens to: `stream`. */
  on: z.literal('stream'),
  /** What goes wrong. */
  kind: z.enum(STREAM_KINDS),
  /** The fault applies only to streams that were opened with this key; null for any key. */
  key: z.string().nullable(),
  /** The fault applies only to streams that were opened with a key of this tier; null for any tier. */
  tier: tierField().nullable(),
  /** The close code, for `close`. */
  code: z.int(),
});

/** A fault of event streams that is set. */
export type StreamFault = OutputOf<ReturnType<typeof streamFields> & ReturnType<typeof faultFields>>;

const STREAM = defineTarget(streamOptions, streamFields, (options): WithoutIdentity<StreamFault> => {
  const { on, kind, key = null, tier = null, after, times, code } = options;
  return { on, kind, key, tier, after, times, code };
});

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

const smtpFields = () => ({
  /** What the fault happens to: `smtp`. */
  on: z.literal('smtp'),
  /** The only address to which the fault applies, in lower case; null for any. */
  recipient: z.string().nullable().describe('The only address to which it applies; null for any.'),
  /** The reply code. */
  status: z.int(),
  /** The text after the reply code. */
  message: z.string(),
});

/** A fault of mail over SMTP that is set. */
export type SmtpFault = OutputOf<ReturnType<typeof smtpFields> & ReturnType<typeof faultFields>>;

const SMTP = defineTarget(smtpOptions, smtpFields, (options): WithoutIdentity<SmtpFault> => {
  const { on, recipient = null, status, message, after, times } = options;
  // The text begins with an enhanced status code (RFC 3463) of the same class as the reply code.
  const text = message ?? `${Math.floor(status / 100)}.3.0 A fault of the emulator refuses this recipient.`;
  return { on, recipient, status, message: text, after, times };
});

/**
 * What each IMAP fault does. The first three affect a session from its login to its end, the next two affect a login,
 * and each of the others affects one command or one new mail of a session.
 */
export const IMAP_FAULTS = {
  'id-required': 'No folder can be opened until the client has sent ID.',
  disconnect: 'The connection is cut after `commands` commands or, without that option, after the time in `delay`.',
  slow: 'Each reply waits for the time in `delay`.',
  'login-refused': 'The login fails, although the password is right.',
  'too-many-connections': 'The login fails, because the inbox has too many connections.',
  'id-refused': 'The command ID is answered with BAD.',
  'repeated-exists': 'EXISTS is sent three times for one new mail.',
  'new-uidvalidity': 'The UIDVALIDITY of the open folder changes before the next command.',
  'cut-literal': 'The connection is cut in the middle of the content of a mail.',
} as const;

/** The kind of an IMAP fault. */
export type ImapFaultKind = keyof typeof IMAP_FAULTS;

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

const imapFields = () => ({
  /** What the fault happens to: `imap`. */
  on: z.literal('imap'),
  /** What goes wrong. */
  kind: z.enum(IMAP_KINDS),
  /** The address of the only inbox to which the fault applies, in lower case; null for any. */
  inbox: z.string().nullable().describe('The address of the only inbox to which it applies; null for any.'),
  /** The delay in milliseconds; 0 unless the kind is `slow` or `disconnect`. */
  delayMs: z.number().describe('The delay in milliseconds, for the kinds slow and disconnect.'),
  /** The number of commands after which the connection ends; null if `delayMs` decides. */
  commands: z.int().nullable().describe('The number of commands after which the connection ends, for disconnect.'),
});

/** A fault of IMAP sessions that is set. */
export type ImapFault = OutputOf<ReturnType<typeof imapFields> & ReturnType<typeof faultFields>>;

const IMAP = defineTarget(imapOptions, imapFields, (options): WithoutIdentity<ImapFault> => {
  const { on, kind, inbox = null, delay, commands = null, after, times } = options;
  const delayMs = kind === 'slow' || kind === 'disconnect' ? parseDuration(delay) : 0;
  return { on, kind, inbox, delayMs, commands: kind === 'disconnect' ? commands : null, after, times };
});

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

/** A fault that is set. `on` says what it applies to, and `times` how often it will still happen. */
export type Fault = RequestFault | DeliveryFault | StreamFault | SmtpFault | ImapFault;

/** What a fault applies to. */
export type FaultTarget = Fault['on'];

const fullForms = lazy(() =>
  z.discriminatedUnion(
    'on',
    [REQUEST.options(), DELIVERY.options(), STREAM.options(), SMTP.options(), IMAP.options()],
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
  z.discriminatedUnion('on', [REQUEST.fault(), DELIVERY.fault(), STREAM.fault(), SMTP.fault(), IMAP.fault()]),
);

/** The targets of faults, by the value of `on`. */
const TARGETS = { request: REQUEST, delivery: DELIVERY, stream: STREAM, smtp: SMTP, imap: IMAP };

/** Creates a fault from its options. */
export function createFault(options: z.output<ReturnType<typeof fullForms>>, identity: FaultIdentity): Fault {
  const { after = 0, times = 1 } = options;
  // TypeScript does not know that the target of `options.on` takes options of exactly this kind.
  return { ...identity, ...TARGETS[options.on].create({ ...options, after, times } as never) };
}
