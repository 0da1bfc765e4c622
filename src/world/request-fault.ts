import { z } from 'zod';
import { isNestedDeeper, MAX_JSON_DEPTH } from '../basics/json-depth.ts';
import { type InputOf, lazy, type OutputOf } from '../basics/lazy-schema.ts';
import { didYouMean } from '../basics/similar-names.ts';
import { OPERATION_IDS } from '../contract/operations.ts';
import { parseDuration, spanField } from './clock.ts';
import type { FaultIdentity, ParsedOptions } from './target-fields.ts';
import { faultFields, keyField, MAX_COUNT, planFields, tierField, wholeNumber } from './target-fields.ts';

/** The options of a request fault, before their combination is checked. */
type Options = Readonly<Record<string, unknown>>;

/** The options that say what a request fault does. A fault needs at least one of them. */
const EFFECTS = ['status', 'body', 'headers', 'latency', 'cut', 'rateLimit'];

/** For each of these options, the options that must not be combined with it. */
const EXCLUDED: Readonly<Record<string, readonly string[]>> = {
  cut: ['status', 'body', 'headers'],
  rateLimit: ['status', 'body', 'headers', 'latency', 'cut', 'effect', 'after', 'times'],
};

/** The statuses whose replies have no body. */
const STATUSES_WITHOUT_BODY: readonly unknown[] = [204, 205, 304];

/** Reports each combination of options of a request fault that makes no sense. */
function checkCombination(options: Options, context: z.RefinementCtx): void {
  const isGiven = (name: string) => options[name] !== undefined;
  const refuse = (name: string | undefined, message: string) =>
    context.addIssue({ code: 'custom', path: name === undefined ? [] : [name], message });

  if (!EFFECTS.some(isGiven)) refuse(undefined, `must have one of ${EFFECTS.join(', ')}`);
  for (const [name, excluded] of Object.entries(EXCLUDED)) {
    const conflicting = isGiven(name) ? excluded.find(isGiven) : undefined;
    if (conflicting !== undefined) refuse(conflicting, `must not be combined with ${name}`);
  }
  if (options.effect === 'none' && !isGiven('status') && !isGiven('cut')) {
    refuse('effect', 'must be applied if the fault has neither status nor cut');
  }
  if (isGiven('body') && STATUSES_WITHOUT_BODY.includes(options.status)) {
    refuse('body', `must not be combined with the status ${options.status}, which has no body`);
  }
}

/** What each kind of request fault does. The kind follows from the options. */
export const REQUEST_FAULTS = {
  reply: 'The reply has another status, body or headers.',
  cut: 'The connection is cut without a reply.',
  latency: 'The reply comes later.',
  'rate-limit': 'Requests above a limit are refused with 429.',
} as const;

/** The kind of a request fault. */
export type RequestFaultKind = keyof typeof REQUEST_FAULTS;

const KINDS = Object.keys(REQUEST_FAULTS) as RequestFaultKind[];

const operationField = () =>
  z.enum(OPERATION_IDS, {
    error: ({ input }) => {
      const hint = typeof input === 'string' ? didYouMean(input, OPERATION_IDS) : '';
      return `must be the id of an operation${hint || ', such as listWebhooks'}`;
    },
  });

const MAX_LATENCY_MS = 600_000;
const LATENCY_RULE = `must be a whole number of milliseconds from 0 to ${MAX_LATENCY_MS}`;
const HEADER_NAME_RULE = 'must have header names that a reply may set, such as x-request-id';
const HEADER_RULE = 'must be one line of printable ASCII characters';

const latencyMs = () => z.int(LATENCY_RULE).min(0, LATENCY_RULE).max(MAX_LATENCY_MS, LATENCY_RULE);

const latencyFields = () => ({
  /** The shortest wait, in milliseconds, at most ten minutes. */
  ms: latencyMs(),
  /** The longest random time that is added to `ms`, in milliseconds. Default: 0. */
  jitterMs: latencyMs().default(0),
});

/** How long a reply waits. */
type Latency = InputOf<ReturnType<typeof latencyFields>>;

/** Names the type of the input. Otherwise a declaration file would write out this type without its comments. */
type LatencySchema = z.ZodType<z.output<z.ZodObject<ReturnType<typeof latencyFields>>>, Latency>;

/** The name of a header, except for the headers that HTTP itself uses for the end of a reply or for the connection. */
const headerName = () =>
  z
    .string()
    .regex(
      /^(?!(?:connection|content-length|keep-alive|transfer-encoding|trailer|upgrade)$)[\w!#$%&'*+.^`|~-]{1,100}$/i,
      HEADER_NAME_RULE,
    )
    .toLowerCase();

// The fields that every fault has are not spread here, because declaration files lose the comments of spread fields.
const BODY_RULE = `must be text or a value that JSON can express, nested at most ${MAX_JSON_DEPTH} levels deep`;

const ownOptions = () => ({
  /** What the fault applies to: requests to the service that are not refused because of their key. */
  on: z.literal('request'),
  /** The operation that the fault applies to. Default: any operation. */
  operation: operationField().optional(),
  /** The API key of the requests that the fault applies to. Default: any key. */
  key: keyField().optional(),
  /** The tier of the keys of the requests that the fault applies to. Default: any tier. */
  tier: tierField().optional(),
  /** The status of the reply, from 200 to 599. */
  status: wholeNumber(200, 599).optional(),
  /** The body of the reply: a string is sent as text, anything else as JSON. Default with a status: an error. */
  body: z.unknown().refine(isJson, BODY_RULE).optional(),
  /** Headers that are added to the reply. They replace headers of the reply with the same name. */
  headers: z
    .record(headerName(), z.string(HEADER_RULE).regex(/^[\t\x20-\x7e]*$/, HEADER_RULE), 'must be an object of headers')
    .optional(),
  /** How long the reply waits, in real time. */
  latency: (z.strictObject(latencyFields(), 'must be an object with ms') as LatencySchema).optional(),
  /** Whether the connection is cut instead of a reply. */
  cut: z.literal(true, 'must be true').optional(),
  /**
   * Whether the operation runs, although the client gets another reply or none. `applied`: it runs, and only its reply
   * is lost. `none`: it does not run. Default: `none` with `status` or `cut`, otherwise `applied`.
   */
  effect: z.enum(['applied', 'none'], 'must be one of applied, none').optional(),
  /** How many requests are allowed in a span of the tenant's time. Any others get 429, until the fault is removed. */
  rateLimit: z
    .strictObject(
      {
        /** How many requests of one tenant are allowed. */
        limit: wholeNumber(0, MAX_COUNT),
        /** The span of time, such as `1m`, from the first request on. */
        per: spanField(),
      },
      'must be an object with limit and per',
    )
    .optional(),
});

/** The options of a fault of requests. */
export type RequestFaultOptions = InputOf<ReturnType<typeof ownOptions> & ReturnType<typeof planFields>>;

const ownFields = () => ({
  /** What the fault happens to: `request`. */
  on: z.literal('request'),
  /** What goes wrong. */
  kind: z.enum(KINDS),
  /** How many more times it will happen; null for a rate limit, which applies until it is removed. */
  times: faultFields().times.nullable(),
  /** The only operation that the fault applies to; null for any. */
  operation: z.string().nullable(),
  /** The only key that the fault applies to; null for any. */
  key: z.string().nullable(),
  /** The only tier that the fault applies to; null for any. */
  tier: tierField().nullable(),
  /** Whether the operation runs. */
  effect: z.enum(['applied', 'none']),
  /** The status of the reply. If it is left out, the reply has the status of the operation. */
  status: z.int().optional(),
  /** The body of the reply. If it is left out, the reply has the body of the operation or of an error. */
  body: z.unknown().optional(),
  /** The headers that are added to the reply. They replace headers of the reply with the same name. */
  headers: z.record(z.string(), z.string()).optional(),
  /** How long the reply waits, in milliseconds of real time: `ms` and up to `jitterMs` more. */
  latency: z.strictObject(latencyFields()).optional(),
  /** How many requests are allowed in a span of the tenant's time. */
  rateLimit: z
    .strictObject({
      /** How many requests of one tenant are allowed. */
      limit: z.int(),
      /** The span of time in milliseconds. */
      perMs: z.int(),
    })
    .optional(),
});

/** A fault of requests that is set. */
export type RequestFault = OutputOf<ReturnType<typeof ownFields> & Omit<ReturnType<typeof faultFields>, 'times'>>;

/** The schemas of the options and of a fault of requests, and the function that creates a fault from its options. */
export const REQUEST = {
  options: lazy(() => z.strictObject({ ...ownOptions(), ...planFields() }).superRefine(checkCombination)),
  fault: lazy(() => z.strictObject({ ...faultFields(), ...ownFields() })),
  create(options: ParsedOptions<typeof ownOptions>): OwnFields {
    const { on, operation = null, key = null, tier = null, effect, after, times } = options;
    const { status, body, headers, latency, cut, rateLimit } = options;
    const kind = kindOf(options);
    const isReplyReplaced = kind === 'rate-limit' || cut !== undefined || status !== undefined;
    const fault: { -readonly [Field in keyof OwnFields]: OwnFields[Field] } = {
      on,
      kind,
      operation,
      key,
      tier,
      after,
      times: kind === 'rate-limit' ? null : times,
      effect: effect ?? (isReplyReplaced ? 'none' : 'applied'),
    };
    if (status !== undefined) fault.status = status;
    if (body !== undefined) fault.body = JSON.parse(JSON.stringify(body));
    if (headers) fault.headers = headers;
    if (latency) fault.latency = latency;
    if (rateLimit) fault.rateLimit = { limit: rateLimit.limit, perMs: parseDuration(rateLimit.per) };
    return fault;
  },
};

/** The fields of a fault of requests without its identity. */
type OwnFields = Omit<RequestFault, keyof FaultIdentity>;

function kindOf(options: ParsedOptions<typeof ownOptions>): RequestFaultKind {
  const { rateLimit, cut, status, body, headers } = options;
  if (rateLimit) return 'rate-limit';
  if (cut) return 'cut';
  return status === undefined && body === undefined && headers === undefined ? 'latency' : 'reply';
}

/** Returns whether a value can be written as JSON. */
function isJson(value: unknown): boolean {
  if (isNestedDeeper(value)) return false;
  try {
    return JSON.stringify(value) !== undefined;
  } catch {
    return false;
  }
}
