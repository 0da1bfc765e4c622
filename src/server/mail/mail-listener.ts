import { createServer, type Socket } from 'node:net';
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls';
import { messageOf } from '../../basics/named-error.ts';
import type { Intake } from '../intake.ts';
import { createListener, type Listener } from '../listener.ts';
import { fileProblem, readRegularFile } from '../regular-file.ts';

/** The certificate of the mail servers, and its key. */
export type MailTls = { readonly cert: Buffer; readonly key: Buffer; readonly context: SecureContext };

/** The problems of the files, by the error code of OpenSSL. */
const TLS_PROBLEMS: Readonly<Record<string, string>> = {
  ERR_OSSL_X509_KEY_VALUES_MISMATCH: 'the key is not that of the certificate',
  ERR_OSSL_PEM_NO_START_LINE: 'one of them has no such PEM text',
};

/**
 * Reads the certificate and the key of the mail servers; `undefined` if there are none.
 *
 * @throws {TypeError} with a message that begins with the option, if a file is missing or wrong.
 */
export async function readMailTls(certFile?: string, keyFile?: string): Promise<MailTls | undefined> {
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
  readonly tlsRequired: boolean;
}

/** Starts the session of a client. */
type Accept = (socket: Socket, isSecure: boolean) => void;

/** Creates a server that accepts clients with and without TLS. `atEnd` is called before the last ones are cut off. */
export function createMailListener(tls: MailTls | undefined, accept: Accept, atEnd?: () => void): Listener {
  const server = createServer((socket) => (tls ? detectTls(socket, tls, accept) : accept(socket, false)));
  return createListener(server, undefined, atEnd);
}

/** The time in which a client must begin with TLS. A client that sends nothing gets the greeting without TLS. */
const FIRST_BYTE_MS = 250;

/** The first byte of TLS. */
const HANDSHAKE = 0x16;

/**
 * Finds out whether a client begins with TLS, and encrypts the connection if it does. So one port serves clients with
 * TLS from the start, and those that use STARTTLS or no TLS.
 */
function detectTls(socket: Socket, tls: MailTls, accept: Accept): void {
  const decide = () => {
    clearTimeout(timer);
    socket.off('readable', decide);
    const first: Buffer | null = socket.read();
    if (first) socket.unshift(first);
    if (first?.[0] === HANDSHAKE) accept(encrypt(socket, tls), true);
    else accept(socket, false);
  };
  // Two further turns of the event loop let Node read bytes that have arrived already.
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
