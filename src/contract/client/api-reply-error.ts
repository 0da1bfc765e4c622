import { createNameCheck } from '../../basics/named-error.ts';

/** The request of a call that was refused. */
export interface RefusedRequest {
  /** The method, such as `POST`. */
  readonly method: string;
  /** The whole URL. */
  readonly url: string;
  /** The fields of the body; `undefined` if the request had no body. */
  readonly body: unknown;
}

/** A reply with the status of an error. */
export interface ErrorReply {
  /** The HTTP status, such as 404. */
  readonly status: number;
  /** The headers of the reply, such as `Retry-After`. */
  readonly headers: Headers;
  /** The parsed JSON of the reply, or its text if it is not JSON. */
  readonly body: unknown;
}

/**
 * Thrown by a client when the service replies with the status of an error. Its `code` is one of `ERRORS`, if the
 * emulator has sent the reply.
 */
export class ApiReplyError extends Error {
  /** Recognises the error by its name, also if it comes from a second copy of this package. */
  static override readonly [Symbol.hasInstance] = createNameCheck('ApiReplyError');
  /** Always `ApiReplyError`. */
  override readonly name = 'ApiReplyError';
  /** The HTTP status of the reply. */
  readonly status: number;
  /** The code in the reply, such as `NOT_FOUND`; `undefined` if the reply has none. */
  readonly code: string | undefined;

  constructor(
    /** The request that was refused. */
    readonly request: RefusedRequest,
    /** The reply. */
    readonly reply: ErrorReply,
  ) {
    const { status, body } = reply;
    const code = textIn(body, 'code');
    const reason = [code, textIn(body, 'error')].filter((part) => part !== undefined).join(': ');
    super(`${request.method} ${request.url} was answered with ${status}${reason && ` ${reason}`}`);
    this.status = status;
    this.code = code;
  }
}

/** Returns the text in a field of a parsed body; `undefined` if there is none. */
function textIn(body: unknown, field: string): string | undefined {
  const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, field) : undefined;
  return typeof value === 'string' ? value : undefined;
}
