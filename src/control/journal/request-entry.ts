import { z } from 'zod';
import { type InputOf, lazy, type OutputOf } from '../../basics/lazy-schema.ts';
import { didYouMean } from '../../basics/similar-names.ts';
import type { ChangeableId } from '../../contract/behaviours.ts';
import type { ErrorCode } from '../../contract/errors.ts';
import { OPERATION_IDS, type OperationId } from '../../contract/operations.ts';
import { wholeNumber } from '../../contract/query.ts';
import { timestamp } from '../../contract/schemas.ts';
import { TIERS } from '../../contract/tiers.ts';
import type { ProtocolPart } from '../../service/journal/entry-data.ts';
import { dateField, tenantField } from '../call-fields.ts';

/**
 * Creates the schema of a text of the type `Value`. The schema allows any text, because a list of all values would make
 * the OpenAPI document of the control calls long.
 */
const textLike = <Value extends string>() => z.string() as z.ZodType<string> as z.ZodType<Value>;

const principalFields = () => ({
  /** The tier of the key. */
  tier: z.enum(TIERS),
  /** The id of the tenant; null for an operator key. */
  tenantId: z.string().nullable(),
  /** The id of the workspace to which the key is bound; null if it is bound to no workspace. */
  workspaceId: z.string().nullable(),
  /** The id of the inbox to which the key is bound; null if it is bound to no inbox. */
  inboxId: z.string().nullable(),
});

/** Who sent a request, if its key was valid. */
export interface RequestPrincipal extends OutputOf<ReturnType<typeof principalFields>> {}

const contentFields = () => ({
  /** The headers by lower-case name. */
  headers: z.record(z.string(), z.string()),
  /** The text of the body, at most its first 16 KiB; null if there is none, or if it is not text. */
  body: z.string().nullable().describe('At most the first 16 KiB; null if there is none, or if it is not text.'),
  /** The size of the whole body in bytes; null if it was too large or was truncated. */
  bodyBytes: z.int().nullable(),
});

/** The headers and the body of a request or a reply. */
export interface RequestContent extends OutputOf<ReturnType<typeof contentFields>> {}

/** Returns the schema of requests and commands: the fields of each protocol, as `ProtocolPart`, and those of all. */
const ofEachProtocol = <Shape extends z.ZodRawShape>(common: Shape) => {
  const command = z.string().describe('The name of the command, such as UID FETCH.');
  return z.discriminatedUnion('protocol', [
    z.strictObject({ protocol: z.literal('http'), method: z.string(), status: z.int(), ...common }),
    z.strictObject({ protocol: z.literal('imap'), command, result: z.enum(['OK', 'NO', 'BAD']), ...common }),
    z.strictObject({ protocol: z.literal('smtp'), command, result: z.int().describe('The reply code.'), ...common }),
  ]);
};

/** The fields of a request that describe the call. */
const callFields = () => ({
  /**
   * The id of the request, such as `req_12`. The number counts from 1 again after a reset. In a sandbox, the number
   * counts only the requests of the sandbox; the mailbox counts all requests.
   */
  id: z.string(),
  /** When the reply was made: ISO 8601 UTC, by the clock of the tenant. */
  at: timestamp().describe("By the tenant's clock."),
  /** When the reply was made, in real time. */
  realTime: timestamp(),
  /** How long the request took, in milliseconds of real time. */
  durationMs: z.number(),
  /** Only for a request by a tool of the Model Context Protocol: `mcp`. */
  via: z.literal('mcp').optional().describe('Only for a request by a tool of the Model Context Protocol.'),
  /** The operation; null for an unknown path or method, and for a command of SMTP or IMAP. */
  operation: textLike<OperationId>().nullable(),
  /** The path without the query; for IMAP the folder, for SMTP the recipients, for a login its user. */
  path: z.string(),
  /** The start of the API key that was sent, such as `tk_acme_…`; null if there was none. */
  key: z.string().nullable().describe('The start of the key.'),
  /** The id of the key, as `exposures()` shows it; null for the operator's key, and without a valid key. */
  keyId: z
    .string()
    .nullable()
    .describe("The id of a valid key, as `GET /__mock/keys` shows it; null for the operator's key."),
  /** Who sent it; null if the key was missing or invalid. */
  principal: (z.strictObject(principalFields()) as z.ZodType<RequestPrincipal>).nullable(),
});

/** The fields of a request that describe the result. */
const resultFields = () => ({
  /** The error code of a refused request; null after a success, or if a fault alone refused it. */
  code: textLike<ErrorCode>().nullable(),
  /** Why the request was refused, with the details that the reply must not contain; null after a success. */
  reason: z.string().nullable().describe('Why it was refused, with the details that the reply omits.'),
  /**
   * The fields of the body and the parameters of the query that the operation does not read, at most five of each.
   * Similar known names are added: `body; did you mean plainBody?`.
   */
  ignored: z.array(z.string()).describe('The fields and parameters that were not read, with similar known names.'),
  /** The changeable behaviours that were read for the reply, with their values at that time. */
  choices: z.record(z.string(), z.string()) as z.ZodType<Partial<Record<ChangeableId, string>>>,
  /** The ids of the faults that affected the reply. */
  faults: z.array(z.string()),
  /** The ids of the messages that it has sent or received, or that have bounced because of it. */
  messages: z.array(z.string()).describe('The ids of the messages that it has sent or received.'),
  /** The ids of the messages that a command of IMAP has read or changed; empty for other protocols. */
  read: z.array(z.string()).describe('The ids of the messages that a command of IMAP has read or changed.'),
  /** The ids of the deliveries that it has caused. */
  deliveries: z.array(z.string()).describe('The ids of the deliveries that it has caused.'),
});

/** The fields of the summary of a request that do not depend on its protocol. */
interface SummaryFields extends OutputOf<ReturnType<typeof callFields> & ReturnType<typeof resultFields>> {}

/**
 * The summary of a request or a command: who sent it, what was asked for, and the result. With the `protocol` `http`, it
 * has `method` and `status`; with `imap` and `smtp`, `command` and `result`.
 */
export type RequestSummary = SummaryFields & ProtocolPart;

/** The schema of the summary of a request. */
export const summaryReply = lazy(() => ofEachProtocol({ ...callFields(), ...resultFields() }));

/** The schema of a request of the journal. */
export const requestReply = lazy(() => {
  const query = z.array(z.tuple([z.string(), z.string()]));
  return ofEachProtocol({
    ...callFields(),
    ...resultFields(),
    request: z.strictObject({ ...contentFields(), query }),
    reply: z.strictObject(contentFields()),
  });
});

/** What was sent and replied. */
interface ExchangedContent {
  /** The request. */
  readonly request: RequestContent & {
    /** The parameters of the query, in their order. */
    readonly query: readonly (readonly [name: string, value: string])[];
  };
  /** The reply. */
  readonly reply: RequestContent;
}

/** A request of the journal, with its reply. API keys, secrets and passwords are masked everywhere. */
export type RequestEntry = RequestSummary & ExchangedContent;

/** A request over HTTP, with its reply. */
export type HttpEntry = Extract<RequestEntry, { readonly protocol: 'http' }>;

const STATUS_RULE = 'must be a status from 100 to 599';
const SINCE_RULE = 'must be a time such as 2026-01-05T09:00:00.000Z';

/** The highest `limit`, which is more than a journal keeps. */
const MAX_LIMIT = 1_000_000_000;

const timeText = () => z.iso.datetime({ offset: true, error: SINCE_RULE });

const filterFields = () => ({
  /** Only requests over this protocol: `http`, `smtp` or `imap`. */
  protocol: z.enum(['http', 'smtp', 'imap'], 'must be http, smtp or imap').optional(),
  /** Only requests for this operation, such as `createWebhook`. */
  operation: z
    .string('must be the name of an operation')
    .refine((id) => OPERATION_IDS.some((known) => known === id), {
      error: ({ input }) => {
        const hint = didYouMean(String(input), OPERATION_IDS);
        return `must be the name of an operation${hint || ', such as createWebhook'}`;
      },
    })
    .optional(),
  /** Only requests over HTTP with this status, from 100 to 599. */
  status: z.int(STATUS_RULE).min(100, STATUS_RULE).max(599, STATUS_RULE).optional(),
  /** Only requests with this API key, in full or as the journal shows it. */
  key: z.string('must be an API key').optional(),
  /** Only requests since this time, by the clock of the tenant: ISO 8601, or in code a `Date`. */
  since: z.union([timeText(), dateField()], SINCE_RULE).optional(),
  /** Only requests with a key of the tenant with this id. */
  tenant: tenantField().optional(),
  /** Only requests after the request with this id, such as `req_12`. With it, a long journal can be read in parts. */
  after: z
    .string('must be the id of a request')
    .regex(/^req_\d{1,15}$/, 'must be the id of a request, such as req_12')
    .optional(),
  /** At most this many requests, the oldest that match. Default: all. */
  limit: wholeNumber(1, MAX_LIMIT).optional(),
});

/** The schema of a request filter. */
export const requestFilter = lazy(() => z.strictObject(filterFields(), 'must be an object'));

/** The schema of a request filter in a query, where all values are texts. */
export const requestQuery = () =>
  requestFilter().extend({
    status: z.preprocess((value) => (/^\d{3}$/.test(String(value)) ? Number(value) : value), filterFields().status),
    since: timeText().optional(),
    format: z.enum(['har', 'summary'], 'must be har or summary').optional(),
  });

/** Selects requests. A request must match every field that is given; without fields, all match. */
export type RequestFilter = InputOf<ReturnType<typeof filterFields>>;

/** A request filter that has been parsed. */
export type ParsedRequestFilter = z.output<ReturnType<typeof requestFilter>>;
