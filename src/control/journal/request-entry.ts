import { z } from 'zod';
import { lazy, type OutputOf } from '../../basics/lazy-schema.ts';
import type { AssumptionId, ChangeableId } from '../../contract/behaviours.ts';
import type { ErrorCode } from '../../contract/errors.ts';
import type { OperationId } from '../../contract/operations.ts';
import { timestamp } from '../../contract/schemas.ts';
import { TIERS } from '../../contract/tiers.ts';

/** A text that is one of these, which the OpenAPI document of the control calls does not list. */
const textOf = <Value extends string>() => z.string() as z.ZodType<string> as z.ZodType<Value>;

const principalFields = () => ({
  /** The tier of the key. */
  tier: z.enum(TIERS),
  /** The id of the tenant; null for an operator key. */
  tenantId: z.string().nullable(),
  /** The id of the workspace of the key; null if the key is not bound to one. */
  workspaceId: z.string().nullable(),
  /** The id of the inbox of the key; null if the key is not bound to one. */
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

/** What a request or a reply carried. */
export interface RequestContent extends OutputOf<ReturnType<typeof contentFields>> {}

/** What the schema of a request says of the call. */
const callFields = () => ({
  /** The id of the request, such as `req_12`; it counts from 1 after a reset. */
  id: z.string(),
  /** When the reply was made: ISO 8601 UTC, by the clock of the tenant. */
  at: timestamp().describe("By the tenant's clock."),
  /** When the reply was made, in real time. */
  realTime: timestamp(),
  /** How long it took, in milliseconds of real time. */
  durationMs: z.number(),
  /** How it came: over HTTP, or as a command of SMTP or IMAP. */
  protocol: z.enum(['http', 'smtp', 'imap']),
  /** The operation; null for an unknown path or method, and for a command of SMTP or IMAP. */
  operation: textOf<OperationId>().nullable(),
  /** The HTTP method, or the name of the command, such as `UID FETCH`. */
  method: z.string(),
  /** The path without the query; for IMAP the folder, for SMTP the recipients. */
  path: z.string(),
  /** The start of the API key that was sent, such as `tk_acme_…`; null if there was none. */
  key: z.string().nullable().describe('The start of the key.'),
  /** The id of the key, as `exposures()` shows it; null for the operator's key, and without a valid key. */
  keyId: z
    .string()
    .nullable()
    .describe("The id of a valid key, as `GET /__mock/keys` shows it; null for the operator's."),
  /** Who sent it; null if the key was missing or invalid. */
  principal: (z.strictObject(principalFields()) as z.ZodType<RequestPrincipal>).nullable(),
});

/** What the schema of a request says of the result. */
const resultFields = () => ({
  /** The status of the reply; for IMAP and SMTP, an HTTP status with the same meaning. */
  status: z.int(),
  /** The error code of a refused request; null after a success, or if a fault alone refused it. */
  code: textOf<ErrorCode>().nullable(),
  /** Why the request was refused, with the details that the reply must not contain; null after a success. */
  reason: z.string().nullable().describe('Why it was refused, with the details that the reply omits.'),
  /**
   * The fields of the body and the parameters of the query that the operation does not read, each with the names that
   * may have been meant: `body; did you mean plainBody?`. At most five of each.
   */
  ignored: z.array(z.string()).describe('What the operation did not read, with what may have been meant.'),
  /** The assumptions of the ledger that shaped the reply. */
  assumptions: z.array(textOf<AssumptionId>()),
  /** The behaviours with several values that shaped the reply, with the values at the time. */
  choices: z.record(z.string(), z.string()) as z.ZodType<Partial<Record<ChangeableId, string>>>,
  /** The ids of the faults that shaped the reply. */
  faults: z.array(z.string()),
  /** The ids of the messages that it has sent or received, or that have bounced because of it. */
  messages: z.array(z.string()).describe('The ids of the messages that it has sent or received.'),
  /** The ids of the deliveries that it has caused. */
  deliveries: z.array(z.string()).describe('The ids of the deliveries that it has caused.'),
});

/** A request in one line: who asked for what, and the result. */
export interface RequestSummary extends OutputOf<ReturnType<typeof callFields> & ReturnType<typeof resultFields>> {}

/** The schema of a request of the journal. */
export const requestReply = lazy(() => {
  const query = z.array(z.tuple([z.string(), z.string()]));
  return z.strictObject({
    ...{ ...callFields(), ...resultFields() },
    request: z.strictObject({ ...contentFields(), query }),
    reply: z.strictObject(contentFields()),
  });
});

/** A request of the journal, with its reply. API keys, secrets and passwords are masked everywhere. */
export interface RequestEntry extends RequestSummary {
  /** The request. */
  readonly request: RequestContent & {
    /** The parameters of the query, in their order. */
    readonly query: readonly (readonly [name: string, value: string])[];
  };
  /** The reply. */
  readonly reply: RequestContent;
}
