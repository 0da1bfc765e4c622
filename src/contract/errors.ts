/**
 * Every error the emulator can answer with: its code, its HTTP status and what it means.
 * The document shows no errors (section 7). The reference has the shape, 400 with its code, 401, 403
 * with `INBOX_PAUSED`, 404, 409 with `USERNAME_TAKEN`, and 502; the rest is our choice.
 */
export const ERRORS = {
  VALIDATION_ERROR: { status: 400, meaning: 'The path, the query or the body is not what the operation takes.' },
  UNAUTHORIZED: { status: 401, meaning: 'The API key is missing, malformed, unknown or revoked.' },
  FORBIDDEN: { status: 403, meaning: 'The key is valid, but its tier may not do this.' },
  INBOX_PAUSED: { status: 403, meaning: 'The inbox is paused and may not send.' },
  UNVERIFIED_RECIPIENT: {
    status: 403,
    meaning: 'A recipient has never written to this inbox, and the request does not say `verified: true`.',
  },
  HOST_NOT_ALLOWED: { status: 403, meaning: 'The Host header is neither a loopback name nor an allowed host.' },
  FOREIGN_ORIGIN: { status: 403, meaning: 'A page from another origin called the control plane, or opened a stream.' },
  DELIVERY_REFUSED: { status: 403, meaning: 'A delivery to a webhook called the control plane.' },
  NOT_FOUND: { status: 404, meaning: 'There is no such route, or nothing with this id within the reach of the key.' },
  METHOD_NOT_ALLOWED: { status: 405, meaning: 'The path exists, but not with this method; see the Allow header.' },
  REQUEST_TIMEOUT: { status: 408, meaning: 'The request took too long to arrive.' },
  CONFLICT: { status: 409, meaning: 'The present state does not allow this.' },
  ALREADY_EXISTS: { status: 409, meaning: 'There is one already: a slug, an address, a list entry or a domain.' },
  USERNAME_TAKEN: {
    status: 409,
    meaning: 'Another owner has the address, and so are its numbered variants or `strict` is set.',
  },
  PAYLOAD_TOO_LARGE: { status: 413, meaning: 'The body is larger than 1 MiB.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, meaning: 'The body is not declared as application/json.' },
  UPGRADE_REQUIRED: { status: 426, meaning: 'The path is an event stream; it takes a WebSocket client.' },
  HEADERS_TOO_LARGE: { status: 431, meaning: 'The request headers are too large.' },
  INTERNAL_ERROR: { status: 500, meaning: 'The emulator itself failed; this is a bug in it.' },
  RELAY_FAILED: { status: 502, meaning: 'The mail relay failed, so nothing was sent.' },
  STORAGE_FULL: { status: 507, meaning: 'The message does not fit in the storage.' },
} as const;

/** The `code` of an error reply. */
export type ErrorCode = keyof typeof ERRORS;

/** The error codes of the refusals among which choices of the ledger pick. */
export const REFUSALS = {
  invalid: 'VALIDATION_ERROR',
  forbidden: 'FORBIDDEN',
  conflict: 'CONFLICT',
} as const satisfies Record<string, ErrorCode>;

/**
 * Thrown anywhere below the request pipeline to end the request with an error reply.
 * `message` becomes the reply's `error` text: one clear sentence for a person.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  /** Headers that the reply needs besides the usual ones, such as `Allow`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Says, for the log, what the reply must not tell, such as whose the resource is. It is only looked up when asked. */
  readonly explain: (() => string) | undefined;

  constructor(
    readonly code: ErrorCode,
    message: string,
    { headers = {}, explain }: { headers?: Readonly<Record<string, string>>; explain?: () => string } = {},
  ) {
    super(message);
    this.headers = headers;
    this.explain = explain;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
}
