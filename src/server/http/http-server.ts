import { createServer, type IncomingMessage, type Server, ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ApiError, type ErrorCode } from '../../contract/errors.ts';
import { CLOSE_MS, createListener, type Listener } from '../listener.ts';
import { LIMITS } from '../server-limits.ts';
import { createWrongMethodError } from './guards.ts';
import { closeGracefully, type NodeRequestHandler, RequestQueue, UpgradableMessage } from './request-queue.ts';

/** The time limits of a server, in milliseconds. */
export interface TimeLimits {
  /** Limit for receiving a complete request. */
  readonly requestMs: number;
  /** Limit for an idle connection between two requests. */
  readonly idleMs: number;
  /** Interval between two timeout checks. */
  readonly checkMs: number;
  /** Time that running requests have to finish after `close()` is called. */
  readonly closeMs: number;
}

const TIME_LIMITS: TimeLimits = {
  requestMs: LIMITS.httpRequest.value,
  idleMs: LIMITS.httpIdle.value,
  checkMs: 1_000,
  closeMs: CLOSE_MS,
};

/** Creates the HTTP server for an application. Its time limits prevent a client from blocking the server or its end. */
export function createHttpServer(app: NodeRequestHandler, limits: TimeLimits = TIME_LIMITS): Listener {
  const server = createServer({
    IncomingMessage: UpgradableMessage,
    requestTimeout: limits.requestMs,
    headersTimeout: limits.requestMs,
    keepAliveTimeout: limits.idleMs,
    connectionsCheckingInterval: limits.checkMs,
    // Node need not check the Host header, because the guard refuses a request without it. Node joins the values of a
    // repeated header, as `fetch` does.
    requireHostHeader: false,
    // Besides this, one piece of its reply may wait for a client.
    highWaterMark: LIMITS.socket.value,
    joinDuplicateHeaders: true,
  });
  // A client may end its side of the connection and still wait for replies, so Node must not close it at once.
  Object.assign(server, { httpAllowHalfOpen: true });
  serve(server, app);
  return createListener(server, limits.closeMs);
}

function serve(server: Server, app: NodeRequestHandler): void {
  const queues = new WeakMap<Duplex, RequestQueue>();
  server.on('connection', (socket: Socket) => {
    // Node calls destroySoon() after the last reply of a connection. Node's own function could lose the reply.
    socket.destroySoon = () => closeGracefully(socket);
    queues.set(socket, new RequestQueue(socket, app));
  });
  for (const event of ['request', 'checkExpectation'] as const) {
    server.on(event, (request, response) => {
      // Node loses the bytes after an ignored upgrade request in the same packet, so the connection must be closed.
      if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
      queues.get(request.socket)?.enqueue(request, () => response);
    });
  }
  const enqueueDetached = (request: IncomingMessage, socket: Socket) => {
    const queue = queues.get(socket);
    queue?.detach();
    queue?.enqueue(request, () => createDetachedResponse(request, socket));
  };
  server.on('connect', (request, socket) => enqueueDetached(request, socket as Socket));
  server.on('upgrade', (request, socket, head) => enqueueDetached(Object.assign(request, { head }), socket as Socket));
  server.on('clientError', (problem, socket) => refuseMalformedRequest(problem, socket, queues.get(socket)));
}

/** Creates a response to CONNECT or an upgrade. Node has released the socket, so the response must get it again. */
function createDetachedResponse(request: IncomingMessage, socket: Socket): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once('finish', () => closeGracefully(socket));
  return response;
}

/** The error of Node's HTTP parser for bytes that it cannot parse. */
type MalformedRequest = NodeJS.ErrnoException & { readonly bytesParsed?: number; readonly rawPacket?: Buffer };

const ERRORS: Record<string, readonly [ErrorCode, string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['REQUEST_TIMEOUT', 'The request took too long to arrive.'],
  HPE_HEADER_OVERFLOW: ['HEADERS_TOO_LARGE', 'The request headers are too large.'],
};

/** Refuses bytes that Node cannot parse, such as invalid HTTP or too large headers, and closes the connection. */
function refuseMalformedRequest(problem: MalformedRequest, socket: Duplex, queue: RequestQueue | undefined): void {
  if (problem.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  queue?.refuse((method) => toHttpText(toError(problem), method === 'HEAD' || mayBeHeadRequest(problem, socket)));
}

function toError(problem: MalformedRequest): ApiError {
  const method = problem.code === 'HPE_INVALID_METHOD' ? readMethod(problem) : undefined;
  if (method) return createWrongMethodError(method);
  return new ApiError(
    ...(ERRORS[problem.code ?? ''] ?? (['VALIDATION_ERROR', 'The request is not valid HTTP.'] as const)),
  );
}

/** Returns the method of a request line whose only problem is a method that Node does not know. */
function readMethod({ rawPacket = Buffer.alloc(0), bytesParsed = 0 }: MalformedRequest): string | undefined {
  const lineStart = bytesParsed === 0 ? 0 : rawPacket.lastIndexOf('\n', bytesParsed - 1) + 1;
  return /^([A-Z]{1,20}) \//.exec(rawPacket.toString('latin1', lineStart, lineStart + 22))?.[1];
}

/**
 * Returns whether the malformed request may be a HEAD request, whose reply has no body. Its request line is either in
 * the last packet, after the previous request, or in an earlier packet. Node no longer has an earlier packet, so the
 * method is then unknown.
 */
function mayBeHeadRequest({ code, rawPacket, bytesParsed = 0 }: MalformedRequest, socket: Duplex): boolean {
  if (!rawPacket || code === 'HPE_INVALID_METHOD') return false;
  const parsed = rawPacket.subarray(0, bytesParsed).toString('latin1');
  const [line = ''] = parsed
    .slice(parsed.lastIndexOf('\r\n\r\n') + 1)
    .trimStart()
    .split('\r\n', 1);
  const isFirstPacket = (socket as Socket).bytesRead === rawPacket.length;
  return /(?:^|[^A-Za-z])HEAD \S/.test(line) || !(isFirstPacket || /(?:^|[^A-Za-z])[A-Z]+ \S/.test(line));
}

function toHttpText({ status, message, code, headers }: ApiError, isWithoutBody: boolean): string {
  const body = isWithoutBody ? '' : JSON.stringify({ error: message, code });
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    'Connection: close',
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}
