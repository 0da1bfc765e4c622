import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { clearInterval, setImmediate, setInterval } from '../../basics/real-timers.ts';
import type { HeaderReader } from '../../contract/header-fields.ts';
import { type ApiRequest, NO_QUERY } from '../../service/pipeline/exchange.ts';
import { type AnyReply, isCut, JsonBody } from '../../service/pipeline/reply.ts';
import { untilTaken, type WaitingOutput } from '../waiting-output.ts';
import { WorkQueue } from '../work-queue.ts';

/**
 * Converts a request of Node whose target is a path. Segments such as `..` are resolved, so that the guards check the
 * same path that is served. As in `fetch`, a GET or HEAD has no body.
 */
export function readRequest(
  message: IncomingMessage,
  { epoch, inSlices }: Pick<ApiRequest, 'epoch' | 'inSlices'>,
): ApiRequest {
  const { method = '', headers } = message;
  return {
    method,
    ...parseTarget(message.url ?? ''),
    headers: new NodeHeaderReader(headers),
    // If a body is not read to its end, the request must not be destroyed, because that would close the connection.
    // `releaseRequest` discards the rest.
    body: method === 'GET' || method === 'HEAD' ? null : message.iterator({ destroyOnReturn: false }),
    epoch,
    inSlices,
  };
}

function parseTarget(target: string): Pick<ApiRequest, 'path' | 'query'> {
  // With an origin in front, `//host/path` is parsed as a path, not as another host.
  const { pathname, search } = new URL(`http://localhost${target}`);
  return { path: pathname, query: search === '' ? NO_QUERY : new URLSearchParams(search) };
}

/**
 * Reads the headers of Node. It is a class, because the journal keeps a reader for each request, and an instance of a
 * class needs less memory than closures.
 */
class NodeHeaderReader implements HeaderReader {
  readonly #headers: IncomingHttpHeaders;

  constructor(headers: IncomingHttpHeaders) {
    this.#headers = headers;
  }

  get(name: string): string | null {
    return this.#headers[name.toLowerCase()]?.toString() ?? null;
  }

  forEach(visit: (value: string, name: string) => void): void {
    for (const [name, value] of Object.entries(this.#headers)) visit(String(value), name);
  }
}

/** The interval between two comments in an event stream. Without them, a client or a proxy may close the connection. */
const COMMENT_MS = 15_000;

/** How a reply is sent. */
interface SendOptions {
  /** Counts the bytes that wait until clients read them. A server of the user has none, and has its own limits. */
  readonly output?: WaitingOutput | undefined;
  /** Writes large JSON in slices. Default: a queue of its own. */
  readonly work?: WorkQueue;
  /** The interval between two comments in an event stream, in milliseconds. Default: 15 seconds. */
  readonly commentMs?: number;
}

/** A larger body is sent piece by piece, in pieces of this size. */
const PIECE_BYTES = 64 * 1024;

/**
 * Sends a reply. If a fault cuts the connection, no reply is sent. A large body is sent as the client reads it. An event
 * stream is sent until it ends or the client disconnects, with a comment from time to time.
 */
export async function sendReply(
  response: ServerResponse,
  { status, headers, body }: AnyReply,
  { output, work = new WorkQueue(), commentMs = COMMENT_MS }: SendOptions = {},
): Promise<void> {
  if (isCut({ status })) {
    // The log shows this status. No client gets it.
    response.statusCode = status;
    response.destroy();
    return;
  }
  response.writeHead(status, headers);
  // The condition does not use `instanceof ReadableStream`, because Node loads this class at its first use.
  if (body === null || typeof body === 'string' || body instanceof Uint8Array) {
    if (body !== null && body.length > PIECE_BYTES && response.req.method !== 'HEAD') {
      await sendLargeBody(response, typeof body === 'string' ? Buffer.from(body) : body, output);
    } else {
      // Node calls this after it has handled all requests that arrived together, so their replies are written one after
      // the other. The first reply wakes up its client, which on a busy machine takes longer than to write the reply;
      // when the others follow, their clients are awake. Without this, a request takes about 40 percent more processor
      // time.
      setImmediate(() => {
        const { socket } = response;
        response.end(body);
        if (socket) output?.written(socket, 'http');
      });
    }
    return;
  }
  if (body instanceof JsonBody) {
    if (response.req.method === 'HEAD') response.end();
    else await sendJson(response, body, output, work);
    return;
  }
  // The headers of an event stream are sent at once, so that the client knows that the stream is open.
  response.flushHeaders();
  const sendComment = () => {
    if (!response.writableNeedDrain) response.write(':\n\n');
  };
  const isEventStream = headers['content-type'] === 'text/event-stream';
  const timer = isEventStream ? setInterval(sendComment, commentMs) : undefined;
  try {
    await sendStream(response, body.getReader(), output);
  } finally {
    clearInterval(timer);
  }
}

/** Writes each piece of large JSON when the client has taken the earlier ones, and lets others run in between. */
async function sendJson(
  response: ServerResponse,
  body: JsonBody,
  output: WaitingOutput | undefined,
  work: WorkQueue,
): Promise<void> {
  const pieces = body.pieces();
  let remainingBytes = body.byteLength;
  // The texts of the value are those of the stored mail, which is counted elsewhere, until that has been removed.
  const countHeldBytes = () => (body.isAlone() ? Math.max(0, remainingBytes) : 0);
  for (;;) {
    const next = await work.next(pieces, () => response.destroyed);
    if (!next) return;
    if (next.done) break;
    const piece = Buffer.from(next.value);
    remainingBytes -= piece.length;
    if (!(await sendPiece(response, piece, output, countHeldBytes))) return;
  }
  response.end();
}

/**
 * Sends each piece of a large body when the client has taken the earlier ones. The rest of the body is in memory, so it
 * counts among the bytes that wait for the client.
 */
async function sendLargeBody(
  response: ServerResponse,
  body: Uint8Array,
  output: WaitingOutput | undefined,
): Promise<void> {
  for (let offset = 0; offset < body.length; offset += PIECE_BYTES) {
    const end = offset + PIECE_BYTES;
    if (!(await sendPiece(response, body.subarray(offset, end), output, Math.max(0, body.length - end)))) return;
  }
  response.end();
}

/**
 * Sends each piece of a stream when the client has taken the earlier ones. Node's `pipeline` is not used, because it is
 * slow when many feeds end at the same time.
 */
async function sendStream(
  response: ServerResponse,
  reader: ReadableStreamDefaultReader<Uint8Array>,
  output: WaitingOutput | undefined,
): Promise<void> {
  const cancel = () => void reader.cancel();
  response.once('close', cancel);
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      if (!(await sendPiece(response, piece.value, output, 0))) return;
    }
  } catch (error) {
    // A stream that has failed has ended. To cancel it would fail with the same error a second time.
    response.off('close', cancel);
    throw error;
  }
  response.end();
}

/** Sends a piece of a body. Resolves when the next piece may follow; the result is false if the client has gone. */
async function sendPiece(
  response: ServerResponse,
  piece: Uint8Array,
  output: WaitingOutput | undefined,
  heldBytes: number | (() => number),
): Promise<boolean> {
  response.write(piece);
  // A response has no socket while it waits for the replies before it.
  const { socket } = response;
  if (!socket) return untilTaken(response);
  output?.written(socket, 'http', heldBytes);
  return untilTaken(socket);
}

/** The interval between two probes of a client that has ended its side of the connection. */
const PROBE_MS = 500;

/**
 * Returns a signal that is aborted when the client disconnects before it has got its reply. A client that has ended its
 * side of the connection may still wait for the reply. Only a write shows whether it does, so such a client gets an
 * interim response (RFC 9110, section 15.2) from time to time.
 */
export function signalOfDisconnect({ socket, httpVersion }: IncomingMessage, response: ServerResponse): AbortSignal {
  const disconnected = new AbortController();
  let timer: ReturnType<typeof setInterval> | undefined;
  const probe = () => {
    if (!response.headersSent) response.writeProcessing();
  };
  const startProbes = () => {
    // A client with HTTP 1.0 does not know interim responses.
    if (httpVersion === '1.0' || timer) return;
    // Not at once, because most replies come before the first probe.
    timer = setInterval(probe, PROBE_MS);
  };
  socket.once('end', startProbes);
  if (socket.readableEnded) startProbes();
  response.once('close', () => {
    socket.off('end', startProbes);
    clearInterval(timer);
    if (!response.writableFinished) disconnected.abort(new Error('The client has disconnected.'));
  });
  return disconnected.signal;
}

/** Discards the unread rest of a body, so that the client can finish sending and then read its reply. */
export function releaseRequest(request: IncomingMessage): void {
  if (request.readableEnded) return;
  request.removeAllListeners('data');
  request.resume();
}
