import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls';
import { messageOf } from '../../basics/named-error.ts';
import type { Intake } from '../intake.ts';
import { fileProblem, readRegularFile } from '../regular-file.ts';

/** The paths of a certificate and its key. */
export interface TlsFiles {
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

/** The certificate of the mail servers, and whether a login needs TLS. */
export interface MailTls {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly context: SecureContext;
}

/** What is wrong with files that were read, by the code of OpenSSL. */
const TLS_PROBLEMS: Readonly<Record<string, string>> = {
  ERR_OSSL_X509_KEY_VALUES_MISMATCH: 'the key is not that of the certificate',
  ERR_OSSL_PEM_NO_START_LINE: 'one of them has no such PEM text',
};

/**
 * Reads the certificate and the key of the mail servers; `undefined` if there are none.
 *
 * @throws {TypeError} with a message that begins with the option, if a file is missing or wrong.
 */
export async function readMailTls({ cert: certFile, key: keyFile }: TlsFiles): Promise<MailTls | undefined> {
  if (certFile === undefined && keyFile === undefined) return undefined;
  const [cert, key] = [await readTlsFile('tlsCert', certFile), await readTlsFile('tlsKey', keyFile)];
  try {
    return { cert, key, context: createSecureContext({ cert, key }) };
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    throw new TypeError(
      `The options tlsCert and tlsKey must be a certificate and its key, not ${JSON.stringify(certFile)} and ` +
        `${JSON.stringify(keyFile)}: ${TLS_PROBLEMS[code] ?? messageOf(error)}.`,
    );
  }
}

async function readTlsFile(option: string, path: string | undefined): Promise<Buffer> {
  if (path === undefined)
    throw new TypeError(`The options tlsCert and tlsKey need each other, and ${option} is missing.`);
  return readRegularFile(path).catch((error: unknown) => {
    const problem = fileProblem(error, 'there is no such file');
    throw new TypeError(`The option ${option}: ${JSON.stringify(path)} cannot be read: ${problem}.`);
  });
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
    listen: (port, host) => listenAt(server, port, host),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        setTimeout(() => {
          for (const socket of sockets) socket.destroy();
        }, CLOSE_MS).unref();
      }),
  };
}

/** Lets a server listen, and returns the port. */
export function listenAt(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
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
