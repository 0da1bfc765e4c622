import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** The connection of an upgrade request. */
export interface Upgrade {
  readonly socket: Socket;
  /** The first bytes that the client sent after its request. */
  readonly head: Buffer;
}

/** The connections of upgrade requests that are not accepted or refused yet. */
export type Upgrades = WeakMap<IncomingMessage, Upgrade>;

/**
 * A request that Node treats as an upgrade only for WebSocket and CONNECT. Other upgrades are ignored, as HTTP allows
 * (RFC 9110, section 7.8), because Java's HTTP client asks for h2c with every request.
 */
export class UpgradableMessage extends IncomingMessage {
  /** The parser's value. It is only declared here, because Node calls the setter before fields are initialised. */
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
