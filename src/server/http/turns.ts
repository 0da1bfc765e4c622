import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { hangUp } from './hang-up.ts';

/** A request with what makes the response to it, once the connection is free. */
interface Waiting {
  readonly request: IncomingMessage;
  readonly respond: () => ServerResponse;
}

/** The requests of one connection, of which one at a time is answered: until then it owns the socket. */
export interface Turns {
  /** Answers a request as soon as those before it have been answered. */
  take(request: IncomingMessage, respond: () => ServerResponse): void;
  /** Lets Node's HTTP parser go: nobody but the owner reads the socket from now on. */
  detach(): void;
  /** Refuses what cannot be read as a request, in its turn, and ends the connection. */
  refuse(writeReply: (method: string | undefined) => string): void;
}

/** Creates the turns of a connection whose requests `answer` answers. */
export function createTurns(socket: Socket, answer: RequestListener): Turns {
  const waiting: Waiting[] = [];
  const reading = createReading(socket);
  let latest: ServerResponse | undefined;
  let isAnswering = false;
  let refusal: string | undefined;

  function start({ request, respond }: Waiting): void {
    const response = respond();
    latest = response;
    isAnswering = true;
    response.once('finish', () => discardRest(request));
    response.once('close', () => {
      isAnswering = false;
      // Other connections come first: a client may have sent hundreds of requests at once.
      if (waiting.length > 0 || refusal !== undefined) setImmediate(startNext);
    });
    answer(request, response);
  }

  function startNext(): void {
    if (isAnswering) return;
    if (!socket.writable) waiting.length = 0;
    const next = waiting.shift();
    if (!next) {
      end();
      return;
    }
    if (waiting.length === 0 && refusal === undefined) reading.release();
    start(next);
  }

  function end(): void {
    reading.release();
    if (refusal !== undefined) hangUp(socket, refusal);
  }

  /** The request that has not arrived whole, to which the bytes belong that come next. */
  function findPartial(): IncomingMessage | undefined {
    const last = waiting.at(-1)?.request ?? latest?.req;
    return last?.complete ? undefined : last;
  }

  return {
    take(request, respond) {
      // Behind the last reply nothing is answered, and Node may have given the socket to a response that waits.
      if (!socket.writable || refusal !== undefined) return;
      const turn = { request, respond };
      if (!isAnswering && waiting.length === 0) {
        reading.release();
        start(turn);
        return;
      }
      waiting.push(turn);
      reading.hold();
    },
    detach() {
      reading.detach();
      // Node listens for these two until it lets the socket go, and the owner still depends on them.
      socket.on('drain', () => latest?.emit('drain'));
      socket.on('timeout', () => socket.destroy());
    },
    refuse(writeReply) {
      if (refusal !== undefined) return;
      const partial = findPartial();
      refusal = writeReply(partial?.method);
      if (partial && partial === latest?.req) {
        hangUp(socket, latest.headersSent ? undefined : refusal);
        return;
      }
      if (partial) waiting.pop();
      reading.hold();
      startNext();
    },
  };
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
