import { z } from 'zod';
import { isNestedDeeper, MAX_JSON_DEPTH } from '../../basics/json-depth.ts';
import { type FieldsOf, type InputOf, lazy } from '../../basics/lazy-schema.ts';
import { didYouMean } from '../../basics/similar-names.ts';
import { OPERATION_IDS } from '../../contract/operations.ts';
import { parseDuration } from '../../world/clock.ts';
import { REQUEST_FAULTS, type RequestFault, type RequestFaultKind } from '../../world/fault.ts';
import { MAX_COUNT, spanField, wholeNumber } from '../call-fields.ts';
import {
  basisFields,
  keyField,
  type ParsedOptions,
  planFields,
  tierField,
  type WithoutIdentity,
} from './fault-fields.ts';

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

/** The schema of the options of a fault of requests. */
export const requestOptions = lazy(() =>
  z.strictObject({ ...ownOptions(), ...planFields() }).superRefine(checkCombination),
);

/** The schema of a fault of requests that is set. */
export const requestFault = lazy(() =>
  z.strictObject({
    ...basisFields(),
    on: z.literal('request'),
    kind: z.enum(KINDS),
    times: basisFields().times.nullable(),
    operation: z.string().nullable(),
    key: z.string().nullable(),
    tier: tierField().nullable(),
    effect: z.enum(['applied', 'none']),
    status: z.int().optional(),
    body: z.unknown().optional(),
    headers: z.record(z.string(), z.string()).optional(),
    latency: z.strictObject(latencyFields()).optional(),
    rateLimit: z.strictObject({ limit: z.int(), perMs: z.int() }).optional(),
  } satisfies FieldsOf<RequestFault>),
);

/** Creates a fault of requests from its options. */
export function createRequestFault(options: ParsedOptions<typeof ownOptions>): WithoutIdentity<RequestFault> {
  const { on, operation = null, key = null, tier = null, effect, after, times } = options;
  const { status, body, headers, latency, cut, rateLimit } = options;
  const kind = kindOf(options);
  const isReplyReplaced = kind === 'rate-limit' || cut !== undefined || status !== undefined;
  const fault: { -readonly [Field in keyof WithoutIdentity<RequestFault>]: RequestFault[Field] } = {
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
}

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
