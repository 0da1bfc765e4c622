import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { closeGracefully } from './close-gracefully.ts';

/** A request with what makes the response to it, once the connection is free. */
interface Waiting {
  readonly request: IncomingMessage;
  readonly respond: () => ServerResponse;
}

/** What answers requests. */
export interface NodeRequestHandler {
  /** Answers a request; it never rejects. */
  answer(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

/** The requests of one connection, of which one at a time is answered: until then it owns the socket. */
export class RequestQueue {
  readonly #socket: Socket;
  readonly #served: NodeRequestHandler;
  readonly #waiting: Waiting[] = [];
  readonly #reading: Reading;
  #latest: ServerResponse | undefined;
  #isAnswering = false;
  #refusal: string | undefined;

  constructor(socket: Socket, served: NodeRequestHandler) {
    this.#socket = socket;
    this.#served = served;
    this.#reading = createReading(socket);
  }

  /** Answers a request as soon as those before it have been answered. */
  take(request: IncomingMessage, respond: () => ServerResponse): void {
    // Behind the last reply nothing is answered, and Node may have given the socket to a response that waits.
    if (!this.#socket.writable || this.#refusal !== undefined) return;
    if (!this.#isAnswering && this.#waiting.length === 0) {
      this.#reading.release();
      this.#start({ request, respond });
      return;
    }
    this.#waiting.push({ request, respond });
    this.#reading.hold();
  }

  /** Lets Node's HTTP parser go: nobody but the owner reads the socket from now on. */
  detach(): void {
    this.#reading.detach();
    // Node listens for these two until it lets the socket go, and the owner still depends on them.
    this.#socket.on('drain', () => this.#latest?.emit('drain'));
    this.#socket.on('timeout', () => this.#socket.destroy());
  }

  /** Refuses what cannot be read as a request, in its turn, and ends the connection. */
  refuse(writeReply: (method: string | undefined) => string): void {
    if (this.#refusal !== undefined) return;
    const partial = this.#findPartial();
    this.#refusal = writeReply(partial?.method);
    if (partial && partial === this.#latest?.req) {
      closeGracefully(this.#socket, this.#latest.headersSent ? undefined : this.#refusal);
      return;
    }
    if (partial) this.#waiting.pop();
    this.#reading.hold();
    this.#startNext();
  }

  #start({ request, respond }: Waiting): void {
    const response = respond();
    this.#latest = response;
    this.#isAnswering = true;
    response.once('finish', () => discardRest(request));
    response.once('close', () => {
      this.#isAnswering = false;
      // Other connections come first: a client may have sent hundreds of requests at once.
      if (this.#waiting.length > 0 || this.#refusal !== undefined) setImmediate(() => this.#startNext());
    });
    void this.#served.answer(request, response);
  }

  #startNext(): void {
    if (this.#isAnswering) return;
    if (!this.#socket.writable) this.#waiting.length = 0;
    const next = this.#waiting.shift();
    if (this.#waiting.length === 0 && (!next || this.#refusal === undefined)) this.#reading.release();
    if (next) this.#start(next);
    else if (this.#refusal !== undefined) closeGracefully(this.#socket, this.#refusal);
  }

  /** The request that has not arrived whole, to which the bytes belong that come next. */
  #findPartial(): IncomingMessage | undefined {
    const last = this.#waiting.at(-1)?.request ?? this.#latest?.req;
    return last?.complete ? undefined : last;
  }
}

interface Reading {
  /** Reads nothing more: what waits is enough. */
  hold(): void;
  release(): void;
  /** Holds the socket until its new owner has it. */
  detach(): void;
}

/**
 * Node reads on by itself whenever a request is read or answered, so holding a socket takes `resume` away from it.
 * A socket that Node has let go is not resumed: what arrives is for whoever takes it over.
 */
function createReading(socket: Socket): Reading {
  let isHeld = false;
  let isDetached = false;
  const hold = () => {
    if (isHeld) return;
    isHeld = true;
    if (!isDetached) socket.pause();
    Object.assign(socket, { resume: () => socket });
  };
  return {
    hold,
    release() {
      if (!isHeld) return;
      isHeld = false;
      Reflect.deleteProperty(socket, 'resume');
      if (!isDetached) socket.resume();
      // Node took its listeners from a socket that was paused, and the stream still takes itself to be reading.
      else socket.push('');
    },
    detach() {
      isDetached = true;
      hold();
    },
  };
}

/** Reads what is left of a body that nobody waits for, so that a client can send to the end and read its reply. */
function discardRest(request: IncomingMessage): void {
  if (request.readableEnded) return;
  request.removeAllListeners('data');
  request.resume();
}
