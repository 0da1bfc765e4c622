import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls';
import type { Intake } from '../intake.ts';

/** The certificate of the mail servers, and whether a login needs TLS. */
export interface MailTls {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly context: SecureContext;
}

/**
 * Reads the certificate and the key of the mail servers; `undefined` if there are none.
 *
 * @throws {TypeError} if only one of them is given, or if they cannot be read or used.
 */
export function readMailTls(certFile: string | undefined, keyFile: string | undefined): MailTls | undefined {
  if (certFile === undefined && keyFile === undefined) return undefined;
  if (certFile === undefined || keyFile === undefined) {
    throw new TypeError('The options tlsCert and tlsKey need each other: a certificate is of no use without its key.');
  }
  try {
    const [cert, key] = [readFileSync(certFile), readFileSync(keyFile)];
    return { cert, key, context: createSecureContext({ cert, key }) };
  } catch (error) {
    throw new TypeError(
      `The options tlsCert and tlsKey must be PEM files with a certificate and its key, not ` +
        `${JSON.stringify(certFile)} and ${JSON.stringify(keyFile)}: ` +
        `${error instanceof Error ? error.message : error}.`,
    );
  }
}

/** The settings that the servers for SMTP and IMAP share. */
export interface MailServerSettings {
  readonly intake: Intake;
  readonly tls: MailTls | undefined;
  /** Whether a login needs TLS. */
  readonly isTlsRequired: boolean;
}

/** A server for SMTP or IMAP. */
export interface MailServer {
  /** Starts to listen and returns the port. */
  listen(port: number, host: string): Promise<number>;
  close(): Promise<void>;
}

/** How long the clients have to close their side when the server closes. */
export const CLOSE_MS = 300;

/** Creates a server that accepts clients with and without TLS. */
export function createMailListener(
  tls: MailTls | undefined,
  accept: (socket: Socket, isSecure: boolean) => void,
): MailServer {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    // An error on a connection closes that connection only; without a listener, it would end the process.
    socket.on('error', () => socket.destroy());
    socket.once('close', () => sockets.delete(socket));
    acceptClient(socket, tls, accept);
  });
  return {
    listen: (port, host) =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        setTimeout(() => {
          for (const socket of sockets) socket.destroy();
        }, CLOSE_MS).unref();
      }),
  };
}

/** How long a client may take to begin with TLS. One that says nothing gets the greeting of the server. */
const FIRST_BYTE_MS = 250;

/** The first byte of TLS. */
const HANDSHAKE = 0x16;

/**
 * Finds out whether a client begins with TLS, and encrypts the connection if it does. So one port serves clients with
 * TLS from the start, and those that use STARTTLS or no TLS.
 */
function acceptClient(
  socket: Socket,
  tls: MailTls | undefined,
  accept: (socket: Socket, isSecure: boolean) => void,
): void {
  if (!tls) {
    accept(socket, false);
    return;
  }
  const decide = () => {
    clearTimeout(timer);
    socket.off('readable', decide);
    const first: Buffer | null = socket.read();
    if (first) socket.unshift(first);
    if (first?.[0] === HANDSHAKE) accept(encrypt(socket, tls), true);
    else accept(socket, false);
  };
  // The bytes of a client that has sent some are read before the timer's second turn.
  const timer = setTimeout(() => setImmediate(() => setImmediate(decide)), FIRST_BYTE_MS);
  socket.on('readable', decide);
  socket.once('close', () => clearTimeout(timer));
}

/** Encrypts a connection on which the client begins with TLS. */
export function encrypt(socket: Socket, { context }: MailTls): TLSSocket {
  const secure = new TLSSocket(socket, { isServer: true, secureContext: context });
  // A client that does not accept the certificate ends the connection, and nothing else.
  secure.on('error', () => secure.destroy());
  return secure;
}
