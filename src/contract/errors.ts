/**
 * Every error the emulator can answer with: its code, its HTTP status and what it means.
 * The document shows no errors (section 7). The reference has the shape, 400 with its code, 401, 403 and 404;
 * the rest is our choice.
 */
export const ERRORS = {
  VALIDATION_ERROR: { status: 400, meaning: 'The path, the query or the body is not what the operation takes.' },
  UNAUTHORIZED: { status: 401, meaning: 'The API key is missing, malformed, unknown or revoked.' },
  FORBIDDEN: { status: 403, meaning: 'The key is valid, but its tier may not do this.' },
  HOST_NOT_ALLOWED: { status: 403, meaning: 'The Host header names neither this machine nor an allowed host.' },
  FOREIGN_ORIGIN: { status: 403, meaning: 'A page of another origin called the control plane.' },
  NOT_FOUND: { status: 404, meaning: 'There is no such route, or nothing with this id within the reach of the key.' },
  METHOD_NOT_ALLOWED: { status: 405, meaning: 'The path exists, but not with this method; see the Allow header.' },
  REQUEST_TIMEOUT: { status: 408, meaning: 'The request took too long to arrive.' },
  PAYLOAD_TOO_LARGE: { status: 413, meaning: 'The body is larger than 1 MiB.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, meaning: 'The body is not declared as application/json.' },
  HEADERS_TOO_LARGE: { status: 431, meaning: 'The request headers are too large.' },
  INTERNAL_ERROR: { status: 500, meaning: 'The emulator itself failed; this is a bug in it.' },
} as const;

/** The `code` of an error reply. */
export type ErrorCode = keyof typeof ERRORS;

/**
 * Thrown anywhere below the request pipeline to end the request with an error reply.
 * `message` becomes the reply's `error` text: one clear sentence for a person.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
}
