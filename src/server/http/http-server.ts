import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { closeGracefully } from './close-gracefully.ts';
import { refuseMalformedRequest } from './malformed-request.ts';
import { type NodeRequestHandler, RequestQueue } from './request-queue.ts';
import { UpgradableMessage, type Upgrades } from './upgrade.ts';

/** How long a client may keep the server waiting. */
export interface TimeLimits {
  /** For a whole request to arrive. */
  readonly requestMs: number;
  /** Between two requests of one connection. */
  readonly idleMs: number;
  /** Between two looks at the clock. */
  readonly checkMs: number;
  /** For running requests to finish, once the server closes. */
  readonly closeMs: number;
}

const TIME_LIMITS: TimeLimits = { requestMs: 10_000, idleMs: 5_000, checkMs: 1_000, closeMs: 300 };

/** An HTTP server that no client can hold up, nor keep from closing. */
export interface HttpServer {
  /** NodeRequestHandler the port that it listens on. */
  listen(port: number, host: string): Promise<number>;
  close(): Promise<void>;
}

/** What an HTTP server serves. */
export interface ServerApp extends NodeRequestHandler {
  /** Where the server puts the connections of requests that ask for another protocol. */
  readonly upgrades: Upgrades;
}

/** Creates the HTTP server around what answers its requests. */
export function createHttpServer(served: ServerApp, limits: TimeLimits = TIME_LIMITS): HttpServer {
  const server = createServer({
    IncomingMessage: UpgradableMessage,
    requestTimeout: limits.requestMs,
    headersTimeout: limits.requestMs,
    keepAliveTimeout: limits.idleMs,
    connectionsCheckingInterval: limits.checkMs,
    // A missing Host is for the guard to refuse, and of a repeated header every value counts, as in a fetch request.
    requireHostHeader: false,
    joinDuplicateHeaders: true,
  });
  server.timeout = limits.requestMs * 2;
  // A client that has sent everything may still wait for its replies.
  Object.assign(server, { httpAllowHalfOpen: true });
  const sockets = trackSockets(server);
  serve(server, served);

  let closing: Promise<void> | undefined;
  return {
    async listen(port, host) {
      server.listen(port, host);
      await once(server, 'listening');
      return (server.address() as AddressInfo).port;
    },
    close() {
      closing ??= closeServer(server, sockets, limits.closeMs);
      return closing;
    },
  };
}

/** Keeps every connection, those that Node no longer counts too, and has each one closed gently. */
function trackSockets(server: Server): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    // Between two requests of a connection Node itself listens; while one waits for its turn, nobody would.
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
    // Node calls this after the last reply of a connection.
    socket.destroySoon = () => closeGracefully(socket);
  });
  return sockets;
}

function serve(server: Server, served: ServerApp): void {
  const connections = new WeakMap<Duplex, RequestQueue>();
  const turnsOf = (duplex: Duplex): RequestQueue => {
    const turns = connections.get(duplex) ?? new RequestQueue(duplex as Socket, served);
    connections.set(duplex, turns);
    return turns;
  };
  const listener: RequestListener = (request, response) => {
    // Node drops what comes in one packet with the offer of another protocol, so the client must not wait for more.
    if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
    turnsOf(request.socket).take(request, () => response);
  };
  server.on('request', listener);
  server.on('checkExpectation', listener);
  const detached = (request: IncomingMessage, socket: Socket) => {
    const turns = turnsOf(socket);
    turns.detach();
    turns.take(request, () => createDetachedResponse(request, socket));
  };
  server.on('connect', (request, socket) => detached(request, socket as Socket));
  server.on('upgrade', (request, duplex, head) => {
    const socket = duplex as Socket;
    served.upgrades.set(request, { socket, head });
    detached(request, socket);
  });
  server.on('clientError', (problem, socket) => refuseMalformedRequest(problem, socket, turnsOf(socket)));
}

/** A response to CONNECT or Upgrade: by then Node has let go of the socket, and expects something else on it. */
function createDetachedResponse(request: IncomingMessage, socket: Socket): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once('finish', () => closeGracefully(socket));
  return response;
}

async function closeServer(server: Server, sockets: ReadonlySet<Socket>, graceMs: number): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  const cut = setTimeout(() => {
    for (const socket of sockets) socket.destroy();
  }, graceMs);
  await closed;
  clearTimeout(cut);
}
