import { isBytes } from '../../basics/base64.ts';
import { isLongJson, toJsonPieces } from '../../basics/json-pieces.ts';
import { byteLengthOf } from '../../basics/text.ts';
import type { Work } from '../../basics/work.ts';
import type { BehaviourReader } from '../../contract/behaviours.ts';
import type { ApiError } from '../../contract/errors.ts';
import type { Outcome } from '../operations/context.ts';

/** A reply in the form that every adapter sends. */
export interface ApiReply {
  readonly status: number;
  readonly headers: Record<string, string>;
  /**
   * Text or bytes. JSON stays text until it is sent: a server can write it together with the headers. Only a request
   * with `inSlices` gets a {@link JsonBody}.
   */
  readonly body: string | Uint8Array<ArrayBuffer> | JsonBody | null;
}

/** Runs work in slices, so that others are served meanwhile, and returns its result. */
export type RunInSlices = <Result>(work: Work<Result>) => Promise<Result>;

/** How much of the beginning of a large body is kept for the journal, in bytes. */
export const MAX_KEPT_BYTES = 16 * 1024;

/**
 * A large body of JSON. It is written piece by piece as the client takes it, so that others are served meanwhile, and
 * so that its text is never in memory as a whole.
 */
export class JsonBody {
  /** The size in UTF-8, in bytes, and the first of these bytes. Both are empty until the body is measured. */
  byteLength = 0;
  start: Uint8Array<ArrayBuffer> = new Uint8Array();
  readonly value: unknown;
  /** Whether nobody else has the texts of the value any more, so that they are in memory for this body only. */
  readonly isAlone: () => boolean;
  /** The beginning that `textIfShort` has written, and the pieces after it. */
  #begun: { readonly text: string; readonly rest: Generator<string, void> } | undefined;

  constructor(value: unknown, isAlone: () => boolean = () => false) {
    this.value = value;
    this.isAlone = isAlone;
  }

  /** Writes the body from its beginning. What `textIfShort` has written is not written again. */
  *pieces(): Generator<string, void> {
    const begun = this.#begun;
    this.#begun = undefined;
    if (begun) yield begun.text;
    yield* begun?.rest ?? toJsonPieces(this.value);
  }

  /** Returns the text of the body, unless it is very large. */
  *textIfShort(): Work<string | undefined> {
    const rest = toJsonPieces(this.value);
    let text = '';
    for (let piece = rest.next(); !piece.done; piece = rest.next()) {
      text += piece.value;
      if (text.length > MAX_TEXT_LENGTH) {
        this.#begun = { text, rest };
        return undefined;
      }
      yield;
    }
    return text;
  }

  /**
   * Writes the body once, to find its size and its beginning. If it is not very large, returns its text, so that nobody
   * has to write it again; otherwise `undefined`.
   */
  *measure(): Work<string | undefined> {
    let text: string | undefined = '';
    this.byteLength = 0;
    for (const piece of this.pieces()) {
      if (this.byteLength === 0) this.start = encoder.encode(piece).slice(0, MAX_KEPT_BYTES);
      this.byteLength += byteLengthOf(piece);
      if (text !== undefined) text = text.length + piece.length > MAX_TEXT_LENGTH ? undefined : text + piece;
      yield;
    }
    return text;
  }
}

/** A reply whose body may also be a stream. */
export interface AnyReply extends Omit<ApiReply, 'body'> {
  readonly body: ApiReply['body'] | ReadableStream<Uint8Array<ArrayBuffer>>;
}

/** The reply header that lists the behaviours that were read for the reply. */
export const ASSUMED_HEADER = 'x-mock-assumed';

/** The reply header that lists the faults that shaped the reply. */
export const FAULT_HEADER = 'x-mock-fault';

/** Stands for no reply at all: the adapter cuts the connection. A network error has the status 0 in fetch, too. */
export const CUT_REPLY: ApiReply = { status: 0, headers: {}, body: null };

/** Returns whether the adapter must cut the connection instead of sending a reply. */
export function isCut({ status }: Pick<ApiReply, 'status'>): boolean {
  return status === CUT_REPLY.status;
}

/** The error of a call in process if the connection is cut. It is a `TypeError`, like the network errors of `fetch`. */
export class ConnectionCutError extends TypeError {
  constructor() {
    super('A fault cut the connection before the reply.');
  }
}

const encoder = new TextEncoder();

/** Longer JSON is sent as bytes, because bytes that wait for slow clients are outside of the JavaScript heap. */
const MAX_TEXT_LENGTH = 1024 * 1024;

/** Creates a JSON reply. If `value` is `undefined`, the reply has no content. */
export function jsonReply(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): ApiReply {
  if (value === undefined) return { status, headers: { ...headers, 'content-length': '0' }, body: null };
  const body = JSON.stringify(value);
  if (body.length > MAX_TEXT_LENGTH) {
    return bytesReply(status, encoder.encode(body), { 'content-type': 'application/json', ...headers });
  }
  const length = String(byteLengthOf(body));
  return { status, headers: { 'content-type': 'application/json', 'content-length': length, ...headers }, body };
}

/** Creates a reply of unchanged bytes; `headers` must contain the content type. */
export function bytesReply(status: number, bytes: Uint8Array, headers: Readonly<Record<string, string>> = {}) {
  // The bytes of stored mail are not copied, because a copy would stay in memory as long as a slow client reads.
  const body = bytes instanceof Uint8Array ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes);
  return { status, headers: { 'content-length': String(body.byteLength), ...headers }, body };
}

/** Creates a reply of text. */
export function textReply(status: number, text: string, contentType: string): ApiReply {
  const headers = { 'content-length': String(byteLengthOf(text)), 'content-type': contentType };
  return { status, headers, body: text };
}

/**
 * Creates a streamed reply. Each text is sent as soon as it exists, until the last one or until the client disconnects.
 * A text may be given in UTF-8, so that many readers of the same text share its bytes.
 */
export function streamReply(
  status: number,
  texts: AsyncIterable<string | Uint8Array<ArrayBuffer>>,
  contentType: string,
): AnyReply {
  return { status, headers: { 'content-type': contentType, 'cache-control': 'no-store' }, body: toStream(texts) };
}

/** Creates a stream of texts, each of which is read when the reader of the stream wants it. */
function toStream(texts: AsyncIterable<string | Uint8Array<ArrayBuffer>> | Iterable<string>) {
  const iterator = Symbol.asyncIterator in texts ? texts[Symbol.asyncIterator]() : texts[Symbol.iterator]();
  const source: UnderlyingDefaultSource<Uint8Array<ArrayBuffer>> = {
    async pull(controller) {
      const { done, value } = await iterator.next();
      if (done) controller.close();
      else controller.enqueue(typeof value === 'string' ? encoder.encode(value) : value);
    },
    async cancel() {
      await iterator.return?.();
    },
  };
  // There is no buffer, so that no text is created for a client that does not read, or that sent HEAD.
  return new ReadableStream(source, { highWaterMark: 0 });
}

/** Creates the reply to OPTIONS: the methods that a path supports, without a body. */
export function optionsReply(allow: string): ApiReply {
  return { status: 204, headers: { allow }, body: null };
}

/**
 * Creates the reply for an operation's outcome: bytes are sent unchanged, anything else as JSON. With `isAlone`, large
 * JSON becomes a {@link JsonBody}, which has to be finished by `measureBody`.
 */
export function outcomeReply(
  defaultStatus: number,
  { status = defaultStatus, body, headers }: Outcome,
  isAlone?: () => boolean,
): ApiReply {
  if (isBytes(body)) return bytesReply(status, body, headers);
  if (!isAlone || !isLongJson(body)) return jsonReply(status, body, headers);
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: new JsonBody(body, isAlone) };
}

/** Writes the body of a reply in slices, and adds its size to the headers. It becomes a text if it is not very large. */
export async function measureBody(reply: ApiReply, body: JsonBody, runInSlices: RunInSlices): Promise<ApiReply> {
  const text = await runInSlices(body.measure());
  // The size stands where `jsonReply` writes it.
  const { 'content-type': type = '', ...headers } = reply.headers;
  return {
    status: reply.status,
    headers: { 'content-type': type, 'content-length': String(body.byteLength), ...headers },
    body: text ?? body,
  };
}

/** Returns a body in a form that `Response` takes. */
export function toResponseBody(body: AnyReply['body']): Exclude<AnyReply['body'], JsonBody> {
  return body instanceof JsonBody ? toStream(body.pieces()) : body;
}

/** Removes the body of a reply to HEAD. Status and headers stay as for GET. */
export function stripBodyForHead<Reply extends AnyReply>(method: string, reply: Reply): Reply | ApiReply {
  return method === 'HEAD' ? { ...reply, body: null } : reply;
}

/** Converts an error to a reply, in the shape that `errors.shape` decides. */
export function toErrorReply({ status, message, code, headers }: ApiError, { readBehaviour }: BehaviourReader) {
  const hasCode = readBehaviour('errors.shape') === 'error-and-code';
  return jsonReply(status, hasCode ? { error: message, code } : { error: message }, headers);
}
