import type { AssumptionId, ChangeableId } from '../../contract/behaviours.ts';
import type { ErrorCode } from '../../contract/errors.ts';
import type { OperationId } from '../../contract/operations.ts';
import type { Tier } from '../../contract/tiers.ts';

/** Who sent a request, if its key was valid. */
export interface RequestPrincipal {
  /** The tier of the key. */
  readonly tier: Tier;
  /** The id of the tenant; null for an operator key. */
  readonly tenantId: string | null;
  /** The id of the workspace of the key; null if the key is not bound to one. */
  readonly workspaceId: string | null;
  /** The id of the inbox of the key; null if the key is not bound to one. */
  readonly inboxId: string | null;
}

/** What a request or a reply carried. */
export interface RequestContent {
  /** The headers by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** The text of the body, at most its first 16 KiB; null if there is none, or if it is not text. */
  readonly body: string | null;
  /** The size of the whole body in bytes; null if it was too large or was truncated. */
  readonly bodyBytes: number | null;
}

/** A request in one line: who asked for what, and the result. */
export interface RequestSummary {
  /** The id of the request, such as `req_12`; it counts from 1 after a reset. */
  readonly id: string;
  /** When the reply was made: ISO 8601 UTC, by the clock of the tenant. */
  readonly at: string;
  /** When the reply was made, in real time. */
  readonly realTime: string;
  /** How long it took, in milliseconds of real time. */
  readonly durationMs: number;
  /** How it came: over HTTP, or as a command of SMTP or IMAP. */
  readonly protocol: 'http' | 'smtp' | 'imap';
  /** The operation; null for an unknown path or method, and for a command of SMTP or IMAP. */
  readonly operation: OperationId | null;
  /** The HTTP method, or the name of the command, such as `UID FETCH`. */
  readonly method: string;
  /** The path without the query; for IMAP the folder, for SMTP the recipients. */
  readonly path: string;
  /** The start of the API key that was sent, such as `tk_acme_…`; null if there was none. */
  readonly key: string | null;
  /** The id of the key, as `exposures()` shows it; null for the operator's key, and without a valid key. */
  readonly keyId: string | null;
  /** Who sent it; null if the key was missing or invalid. */
  readonly principal: RequestPrincipal | null;
  /** The status of the reply; for IMAP and SMTP, an HTTP status with the same meaning. */
  readonly status: number;
  /** The error code of a refused request; null after a success, or if a fault alone refused it. */
  readonly code: ErrorCode | null;
  /** Why the request was refused, with the details that the reply must not contain; null after a success. */
  readonly reason: string | null;
  /**
   * The fields of the body and the parameters of the query that the operation does not read, each with the names that
   * may have been meant: `body; did you mean plainBody?`. At most five of each.
   */
  readonly ignored: readonly string[];
  /** The assumptions of the ledger that shaped the reply. */
  readonly assumptions: readonly AssumptionId[];
  /** The behaviours with several values that shaped the reply, with the values at the time. */
  readonly choices: Readonly<Partial<Record<ChangeableId, string>>>;
  /** The ids of the faults that shaped the reply. */
  readonly faults: readonly string[];
  /** The ids of the messages that it has sent or received, or that have bounced because of it. */
  readonly messages: readonly string[];
  /** The ids of the deliveries that it has caused. */
  readonly deliveries: readonly string[];
}

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
