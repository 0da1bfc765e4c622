import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** The connection of a request that asks to go on in another protocol. */
export interface Upgrade {
  readonly socket: Socket;
  /** What the client has sent already behind its request. */
  readonly head: Buffer;
}

/** Where the connections of such requests are kept while they are decided on. */
export type Upgrades = WeakMap<IncomingMessage, Upgrade>;

/**
 * A request that offers another protocol only where that is WebSocket, or by CONNECT. Any other offer is passed over,
 * as HTTP wants it (RFC 9110, section 7.8): Java's client offers h2c with every request.
 */
export class UpgradableMessage extends IncomingMessage {
  /** What the parser has found; its own setter in Node is called before any field here could be made. */
  declare private offered: unknown;

  get upgrade(): boolean {
    return Boolean(this.offered) && (this.method === 'CONNECT' || asksForWebSocket(this));
  }

  set upgrade(offered: unknown) {
    this.offered = offered;
  }
}

function asksForWebSocket({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';
}
