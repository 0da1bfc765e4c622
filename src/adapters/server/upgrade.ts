import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** The connection of a request that asks to go on in another protocol. */
export interface Upgrade {
  readonly socket: Socket;
  /** What the client has sent already behind its request. */
  readonly head: Buffer;
}

/** Where the connections of such requests are kept while they are decided on. */
export type Upgrades = WeakMap<IncomingMessage, Upgrade>;

/** Says whether a request asks for a WebSocket. */
export function asksForWebSocket({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';
}
