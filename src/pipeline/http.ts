import { isBytes } from '../contract/base64.ts';
import type { ApiError } from '../contract/errors.ts';
import type { HeaderReader } from '../contract/header-reader.ts';
import type { Outcome } from '../operations/context.ts';

/** A request in the form that every adapter produces. */
export interface ApiRequest {
  readonly method: string;
  /** The path without the query, still percent-encoded. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: HeaderReader;
  /** The body in chunks; iterating throws if the body is truncated. `null` if the request cannot have a body. */
  readonly body: AsyncIterable<Uint8Array> | null;
}

/** A reply in the form that every adapter sends. */
export interface ApiReply {
  readonly status: number;
  readonly headers: Record<string, string>;
  /** Text or bytes. JSON stays text until it is sent: a server can write it together with the headers. */
  readonly body: string | Uint8Array<ArrayBuffer> | null;
}

/** A reply whose body is a stream. */
export interface StreamReply extends Pick<ApiReply, 'status' | 'headers'> {
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>;
}

/** A reply of bytes or of a stream. */
export type AnyReply = ApiReply | StreamReply;

/** The result of handling a request. */
export interface ApiResult {
  readonly reply: AnyReply;
  /** The error of a refused request, with the reason that the reply omits. */
  readonly error?: ApiError | undefined;
  /** What the request has and the operation does not read, each with what may have been meant. */
  readonly ignored?: readonly string[] | undefined;
}

/** The reply header that lists the behaviours that the reply depends on. */
export const ASSUMED_HEADER = 'x-mock-assumed';

/** The reply header that lists the faults that shaped the reply. */
export const FAULT_HEADER = 'x-mock-fault';

/** Stands for no reply at all: the adapter cuts the connection. A network error has the status 0 in fetch, too. */
export const CUT_REPLY: ApiReply = { status: 0, headers: {}, body: null };

/** Returns whether the connection is to be cut instead of a reply. */
export function isCut({ status }: Pick<ApiReply, 'status'>): boolean {
  return status === CUT_REPLY.status;
}

/** What a call in process rejects with if the connection is cut, as `fetch` does for a network error. */
export class ConnectionCutError extends TypeError {
  constructor() {
    super('A fault cut the connection before the reply.');
  }
}

const encoder = new TextEncoder();

/** Longer JSON becomes bytes, which wait outside of the JavaScript heap for clients that read slowly. */
const MAX_TEXT_LENGTH = 1024 * 1024;

/** Creates a JSON reply. If `value` is `undefined`, the reply has no content. */
export function jsonReply(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): ApiReply {
  if (value === undefined) return { status, headers: { ...headers, 'content-length': '0' }, body: null };
  const body = JSON.stringify(value);
  if (body.length > MAX_TEXT_LENGTH) {
    return bytesReply(status, encoder.encode(body), { 'content-type': 'application/json', ...headers });
  }
  const length = String(countBytes(body));
  return { status, headers: { 'content-type': 'application/json', 'content-length': length, ...headers }, body };
}

/** Returns the size of a text in UTF-8. Most replies are ASCII, which needs no encoding. */
export function countBytes(text: string): number {
  return /[\u0080-\uffff]/.test(text) ? encoder.encode(text).byteLength : text.length;
}

/** Creates a reply of unchanged bytes; `headers` must contain the content type. */
export function bytesReply(
  status: number,
  bytes: Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): ApiReply {
  // Those of stored mail are not copied, because many clients may read slowly.
  const body = bytes instanceof Uint8Array ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes);
  return { status, headers: { 'content-length': String(body.byteLength), ...headers }, body };
}

/** Creates a reply of text. */
export function textReply(status: number, text: string, contentType: string): ApiReply {
  const headers = { 'content-length': String(countBytes(text)), 'content-type': contentType };
  return { status, headers, body: text };
}

/**
 * Creates a streamed reply. Each text is sent as soon as it exists, until the last one or until the client disconnects.
 */
export function streamReply(status: number, texts: AsyncIterable<string>, contentType: string): StreamReply {
  const iterator = texts[Symbol.asyncIterator]();
  const source: UnderlyingDefaultSource<Uint8Array<ArrayBuffer>> = {
    async pull(controller) {
      const { done, value } = await iterator.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      await iterator.return?.();
    },
  };
  // Without a buffer, nothing is read for a client that does not read, or that asked by HEAD.
  const body = new ReadableStream(source, { highWaterMark: 0 });
  return { status, headers: { 'content-type': contentType, 'cache-control': 'no-store' }, body };
}

/** Creates the reply to OPTIONS: the methods that a path supports, without a body. */
export function optionsReply(allow: string): ApiReply {
  return { status: 204, headers: { allow }, body: null };
}

/** Creates the reply for an operation's outcome: bytes are sent unchanged, anything else as JSON. */
export function outcomeReply(usualStatus: number, { status = usualStatus, body, headers }: Outcome): ApiReply {
  return isBytes(body) ? bytesReply(status, body, headers) : jsonReply(status, body, headers);
}

/** Removes the body of a reply to HEAD. Status and headers stay as for GET. */
export function stripBodyForHead<Reply extends AnyReply>(method: string, reply: Reply): Reply | ApiReply {
  return method === 'HEAD' ? { ...reply, body: null } : reply;
}
