import type { z } from 'zod';
import { createNameCheck } from '../basics/named-error.ts';
import { findSimilarFields } from '../basics/similar-names.ts';

/**
 * Every error that the emulator can return, with its code, HTTP status and meaning. The service document does not
 * describe errors (section 7). The reference defines the form of an error, the status 400 with its code, 401, 403 with
 * `INBOX_PAUSED`, 404, 409 with `USERNAME_TAKEN`, and 502. This project has decided everything else.
 */
export const ERRORS = {
  VALIDATION_ERROR: { status: 400, meaning: 'The path, the query or the body is not valid for this operation.' },
  UNAUTHORIZED: { status: 401, meaning: 'The API key is missing, malformed, unknown or revoked.' },
  FORBIDDEN: { status: 403, meaning: 'The key is valid, but its tier may not do this.' },
  INBOX_PAUSED: { status: 403, meaning: 'The inbox is paused and cannot send.' },
  UNVERIFIED_RECIPIENT: {
    status: 403,
    meaning: 'A recipient has never written to this inbox, and the request does not contain `verified: true`.',
  },
  HOST_NOT_ALLOWED: { status: 403, meaning: 'The Host header is neither a loopback name nor an allowed host.' },
  FOREIGN_ORIGIN: { status: 403, meaning: 'A page from another origin called the control plane or opened a stream.' },
  DELIVERY_REFUSED: { status: 403, meaning: 'A webhook delivery was sent to the control plane.' },
  NOT_FOUND: {
    status: 404,
    meaning: 'There is no such route, or no resource with this id within the scope of the key.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    meaning: 'The path does not support this method; the Allow header lists the supported methods.',
  },
  REQUEST_TIMEOUT: { status: 408, meaning: 'The request took too long to arrive.' },
  CONFLICT: { status: 409, meaning: 'The current state does not allow this.' },
  ALREADY_EXISTS: { status: 409, meaning: 'The slug, address, list entry or domain already exists.' },
  USERNAME_TAKEN: {
    status: 409,
    meaning: 'Another owner has the address, and either its numbered variants are taken too or `strict` is set.',
  },
  PAYLOAD_TOO_LARGE: { status: 413, meaning: 'The body is larger than 1 MiB.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, meaning: 'The body is not declared as application/json.' },
  UPGRADE_REQUIRED: { status: 426, meaning: 'The path is an event stream and needs a WebSocket client.' },
  RATE_LIMITED: { status: 429, meaning: 'A fault limits the rate of requests, and this request is above the limit.' },
  HEADERS_TOO_LARGE: { status: 431, meaning: 'The request headers are too large.' },
  INTERNAL_ERROR: {
    status: 500,
    meaning:
      'The emulator failed because of a bug, a handler of yours threw an error, or several tests of vitest that run at ' +
      'once have the key.',
  },
  RELAY_FAILED: { status: 502, meaning: 'The mail relay failed, so nothing was sent.' },
  SERVER_UNAVAILABLE: {
    status: 503,
    meaning:
      'The process is ending, a load balancer cannot reach it, or the mailbox or its sandbox was reset while the ' +
      'request ran.',
  },
  STORAGE_FULL: { status: 507, meaning: 'The message does not fit into the storage, or too much arrives at once.' },
} as const;

/** The `code` of an error reply. */
export type ErrorCode = keyof typeof ERRORS;

const REFERENCE_CODES: readonly string[] = ['VALIDATION_ERROR', 'INBOX_PAUSED', 'USERNAME_TAKEN'];

/** The error codes that neither the service document nor the reference states. */
export const INVENTED_CODES: readonly string[] = Object.keys(ERRORS).filter((code) => !REFERENCE_CODES.includes(code));

/** The statuses of errors that neither the service document nor the reference states. */
export const INVENTED_STATUSES: readonly number[] = [405, 408, 413, 415, 426, 429, 431, 500, 503, 507];

/** The error codes that a behaviour can choose, by the value of the behaviour. */
export const REFUSALS = {
  invalid: 'VALIDATION_ERROR',
  forbidden: 'FORBIDDEN',
  conflict: 'CONFLICT',
} as const satisfies Record<string, ErrorCode>;

/**
 * Ends a request with an error reply when it is thrown during the request.
 * `message` becomes the reply's `error` text: one plain sentence.
 */
export class ApiError extends Error {
  /** Recognises the error by its name, also if it comes from a second copy of this package. */
  static override readonly [Symbol.hasInstance] = createNameCheck('ApiError');
  /** Always `ApiError`. */
  override readonly name = 'ApiError';

  /** Additional headers of the reply, such as `Allow`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Returns the reason for the log, such as the owner of the resource. It must not appear in the reply. */
  readonly internalReason: (() => string) | undefined;

  constructor(
    /** The code of the error, such as `NOT_FOUND`. */
    readonly code: ErrorCode,
    message: string,
    { headers = {}, internalReason }: Partial<Pick<ApiError, 'headers' | 'internalReason'>> = {},
  ) {
    super(message);
    this.headers = headers;
    this.internalReason = internalReason;
  }

  /** The HTTP status of the error. */
  get status(): number {
    return ERRORS[this.code].status;
  }
}

/** Creates the error for work that began before a reset, such as a slow request. It must not change the new state. */
export function createResetError(): ApiError {
  const problem = 'The mailbox or its sandbox was reset or closed while this request ran, so nothing of it is kept.';
  return new ApiError('SERVER_UNAVAILABLE', problem);
}

/**
 * Parses a value by a schema. `where` names the value, for example `The body`.
 *
 * @throws {ApiError} VALIDATION_ERROR with `where` and each problem.
 */
export function parseOrRefuse<Schema extends z.ZodType>(where: string, schema: Schema, value: unknown) {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw createValidationError(where, parsed.error, (path) => knownFields(schema, value, path));
}

/**
 * Creates the error for a failed parse. `where` names the value, for example `The body`. `fieldsAt` returns the fields
 * that the object at a path may have, so that the error can name one that is similar to an unknown field.
 */
export function createValidationError(
  where: string,
  error: z.ZodError,
  fieldsAt: (path: readonly PropertyKey[]) => readonly string[] = () => [],
): ApiError {
  const problems = error.issues.slice(0, 5).map((issue) => {
    const problem =
      issue.code === 'unrecognized_keys' ? describeUnknown(issue.keys, fieldsAt(issue.path)) : describeIssue(issue);
    return `${formatPath(issue.path)} ${problem}`.trim();
  });
  const text = `${where} is not valid: ${problems.join('; ')}`;
  return new ApiError('VALIDATION_ERROR', text.endsWith('?') ? text : `${text}.`);
}

/** Formats a path such as `['events', 1]` as `events[1]`. */
function formatPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[${step}]` : text ? `${text}.${String(step)}` : String(step)),
    '',
  );
}

function describeIssue(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_key') return issue.issues[0]?.message ?? issue.message;
  return issue.message;
}

function describeUnknown(keys: readonly string[], known: readonly string[]): string {
  const shown = keys.map((key) => {
    const similar = findSimilarFields(key, known);
    const hint = similar.length > 0 ? ` (did you mean ${similar.join(', ')}?)` : '';
    return JSON.stringify(key.slice(0, 100)) + hint;
  });
  return `has unknown fields: ${shown.join(', ')}`;
}

/** Returns the fields of the object schema that refused a field of the object at a path of `value`. */
export function knownFields(schema: z.ZodType, value: unknown, path: readonly PropertyKey[]): string[] {
  // Only the raw issues name the schema that found them, and only a second run returns these.
  const result = schema._zod.run({ value, issues: [] }, { async: false });
  if (result instanceof Promise) return [];
  const found = result.issues.find((issue) => issue.code === 'unrecognized_keys' && isSamePath(issue.path ?? [], path));
  const definition: z.core.$ZodTypeDef | undefined = found?.inst?._zod.def as z.core.$ZodTypeDef | undefined;
  return definition?.type === 'object' ? Object.keys((definition as z.core.$ZodObjectDef).shape) : [];
}

function isSamePath(one: readonly PropertyKey[], other: readonly PropertyKey[]): boolean {
  return one.length === other.length && one.every((step, index) => step === other[index]);
}
