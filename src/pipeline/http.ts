import { isBytes } from '../contract/base64.ts';
import type { ApiError } from '../contract/errors.ts';
import type { HeaderReader } from '../contract/header-reader.ts';
import type { Outcome } from '../operations/context.ts';

/** A request as every adapter hands it over. */
export interface ApiRequest {
  readonly method: string;
  /** The path as it was sent, still percent-encoded, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: HeaderReader;
  /** The body in pieces; it throws when the body breaks off. `null` where there cannot be one. */
  readonly body: AsyncIterable<Uint8Array> | null;
}

/** A reply as every adapter gets it. */
export interface ApiReply {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array<ArrayBuffer> | null;
}

/** A reply that goes on for as long as its stream does. */
export interface StreamReply extends Pick<ApiReply, 'status' | 'headers'> {
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>;
}

/** Any reply: bytes, or a stream. */
export type AnyReply = ApiReply | StreamReply;

/** What a request is answered with. */
export interface HandlerResult {
  readonly reply: AnyReply;
  /** Why it was refused, with the reason that the reply does not tell. */
  readonly error?: ApiError | undefined;
}

/** The header of a reply that names the choices which shaped it. */
export const ASSUMED_HEADER = 'x-mock-assumed';

const encoder = new TextEncoder();

/** Makes a JSON reply; an `undefined` body makes one without content. */
export function jsonReply(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): ApiReply {
  if (value === undefined) return { status, headers: { ...headers, 'content-length': '0' }, body: null };
  const body = encoder.encode(JSON.stringify(value));
  const length = String(body.byteLength);
  return { status, headers: { 'content-type': 'application/json', 'content-length': length, ...headers }, body };
}

/** Makes a reply of bytes as they are; `headers` say what they are. */
function bytesReply(status: number, bytes: Uint8Array, headers: Readonly<Record<string, string>> = {}): ApiReply {
  const body = new Uint8Array(bytes);
  return { status, headers: { 'content-length': String(body.byteLength), ...headers }, body };
}

/** Makes a reply of text. */
export function textReply(status: number, text: string, contentType: string): ApiReply {
  return bytesReply(status, encoder.encode(text), { 'content-type': contentType });
}

/** Makes a reply that goes on: each text is sent when it is there, until the texts end or the client is gone. */
export function streamReply(status: number, texts: AsyncIterable<string>, contentType: string): StreamReply {
  const iterator = texts[Symbol.asyncIterator]();
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      const { done, value } = await iterator.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      await iterator.return?.();
    },
  });
  return { status, headers: { 'content-type': contentType, 'cache-control': 'no-store' }, body };
}

/** Makes the reply to OPTIONS: the methods that a path takes, and no body. */
export function optionsReply(allow: string): ApiReply {
  return { status: 204, headers: { allow }, body: null };
}

/** Makes the reply of what an operation answers: bytes as they are, anything else as JSON. */
export function outcomeReply(usualStatus: number, { status = usualStatus, body, headers }: Outcome): ApiReply {
  return isBytes(body) ? bytesReply(status, body, headers) : jsonReply(status, body, headers);
}

/** Takes the body away where the method is HEAD; the rest is what GET would get. */
export function stripBodyForHead<Reply extends AnyReply>(method: string, reply: Reply): Reply | ApiReply {
  return method === 'HEAD' ? { ...reply, body: null } : reply;
}
