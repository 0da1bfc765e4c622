import { IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { clearTimeout, setImmediate, setTimeout } from '../../basics/real-timers.ts';
import { LIMITS } from '../server-limits.ts';
import { releaseRequest } from './node-adapter.ts';

/** A request of Node. */
export interface NodeRequest extends IncomingMessage {
  /** The first bytes after an upgrade request. */
  readonly head?: Buffer;
}

/** A queued request. Its response is created when the connection is free. */
type QueuedRequest = { readonly request: NodeRequest; readonly createResponse: () => ServerResponse };

/** A handler of Node's HTTP requests. */
export interface NodeRequestHandler {
  /** Handles a request. The promise never rejects. */
  handle(request: NodeRequest, response: ServerResponse): Promise<void>;
}

/** The queue of the requests of one connection. One request runs at a time, because its response uses the socket. */
export class RequestQueue {
  readonly #socket: Socket;
  readonly #handler: NodeRequestHandler;
  readonly #waiting: QueuedRequest[] = [];
  #latestResponse: ServerResponse | undefined;
  #isRunning = false;
  #isPaused = false;
  #isDetached = false;
  #refusal: string | undefined;

  constructor(socket: Socket, handler: NodeRequestHandler) {
    this.#socket = socket;
    this.#handler = handler;
  }

  /** Handles a request as soon as all requests before it are finished. */
  enqueue(request: NodeRequest, createResponse: () => ServerResponse): void {
    // A request on a connection that is closing is ignored, because no further reply may be sent on this connection.
    if (!this.#socket.writable || this.#refusal !== undefined) return;
    this.#waiting.push({ request, createResponse });
    if (this.#isRunning) this.#pause();
    else void this.#run();
  }

  /**
   * Stops reading the socket for HTTP, because Node has released it for an upgrade. From now on, only a WebSocket may
   * read the socket.
   */
  detach(): void {
    this.#isDetached = true;
    this.#pause();
    // Node removes its listener for `drain` when it releases the socket. The response still needs it.
    this.#socket.on('drain', () => this.#latestResponse?.emit('drain'));
  }

  /** Sends a refusal of a malformed request after all earlier replies, then closes the connection. */
  refuse(writeReply: (method: string | undefined) => string): void {
    if (this.#refusal !== undefined) return;
    const incomplete = this.#findIncomplete();
    this.#refusal = writeReply(incomplete?.method);
    if (incomplete && incomplete === this.#latestResponse?.req) {
      closeGracefully(this.#socket, this.#latestResponse.headersSent ? undefined : this.#refusal);
      return;
    }
    if (incomplete) this.#waiting.pop();
    this.#pause();
    if (!this.#isRunning) void this.#run();
  }

  /** Runs the requests that wait, each when the reply to the one before it is sent, and then sends the refusal. */
  async #run(): Promise<void> {
    this.#isRunning = true;
    for (let next = this.#takeNext(); next; next = this.#takeNext()) {
      const { request } = next;
      const response = next.createResponse();
      this.#latestResponse = response;
      response.once('finish', () => releaseRequest(request));
      const isClosed = new Promise((resolve) => response.once('close', resolve));
      void this.#handler.handle(request, response);
      await isClosed;
      // Other connections run before the next request, because a client may send hundreds at once. An upgrade is the
      // last request. It is handled at once, because its reply must be sent before the client's end of the connection
      // is noticed.
      if (this.#waiting.length > 0 && !this.#isDetached) await new Promise((resolve) => setImmediate(resolve));
    }
    this.#isRunning = false;
    if (this.#refusal !== undefined) closeGracefully(this.#socket, this.#refusal);
  }

  /** Takes the next request that waits. The socket is read again while the last one runs, unless a refusal follows it. */
  #takeNext(): QueuedRequest | undefined {
    if (!this.#socket.writable) this.#waiting.length = 0;
    const next = this.#waiting.shift();
    if (this.#waiting.length === 0 && (!next || this.#refusal === undefined)) this.#resume();
    return next;
  }

  /** Finds the request whose body has not been received completely. The next bytes belong to this request. */
  #findIncomplete(): IncomingMessage | undefined {
    const last = this.#waiting.at(-1)?.request ?? this.#latestResponse?.req;
    return last?.complete ? undefined : last;
  }

  /**
   * Stops reading the socket while a request waits. Node resumes a socket after each request and reply, so the `resume`
   * method of the socket is replaced, too. The bytes that arrive at a detached socket are kept for the WebSocket.
   */
  #pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    const socket = this.#socket;
    if (!this.#isDetached) socket.pause();
    Object.assign(socket, { resume: () => socket });
  }

  #resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    Reflect.deleteProperty(this.#socket, 'resume');
    if (!this.#isDetached) this.#socket.resume();
    // Node no longer listens to a detached socket, so `resume()` would discard bytes. `push('')` restarts reading.
    else this.#socket.push('');
  }
}

/**
 * A request that Node treats as an upgrade only for WebSocket and CONNECT. Other upgrades are ignored, as HTTP allows
 * (RFC 9110, section 7.8), because Java's HTTP client asks for h2c with every request.
 */
export class UpgradableMessage extends IncomingMessage {
  /**
   * The value that Node's parser has set. The field is only declared, because Node calls the setter before fields get
   * their initial values, and an initial value would replace the value of the parser.
   */
  declare private parsedUpgrade: unknown;

  get upgrade(): boolean {
    return Boolean(this.parsedUpgrade) && (this.method === 'CONNECT' || isWebSocketUpgrade(this));
  }

  set upgrade(value: unknown) {
    this.parsedUpgrade = value;
  }
}

function isWebSocketUpgrade({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';
}

/**
 * Ends a connection after all written bytes are sent, and keeps reading until the client ends it too. Closing a socket
 * with unread bytes would reset the connection, and the client could lose a reply that it has not read yet.
 */
export function closeGracefully(socket: Duplex, finalData?: string): void {
  if (!socket.writable) return;
  const timer = setTimeout(() => socket.destroy(), LIMITS.httpEnd.value);
  socket.once('close', () => clearTimeout(timer));
  socket.end(finalData);
  socket.resume();
}
