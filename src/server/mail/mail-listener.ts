import { createServer, type Socket } from 'node:net';
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls';
import { createOptionError, type OptionProblem } from '../../basics/check-options.ts';
import { messageOf } from '../../basics/named-error.ts';
import { clearTimeout, setImmediate, setTimeout } from '../../basics/real-timers.ts';
import type { Intake } from '../intake.ts';
import { createListener, type Listener } from '../listener.ts';
import { fileProblem, readRegularFile } from '../regular-file.ts';
import { LIMITS } from '../server-limits.ts';
import type { WaitingOutput } from '../waiting-output.ts';
import type { WorkQueue } from '../work-queue.ts';

/** The certificate of the mail servers, its key, and the TLS context of Node that contains both. */
export type MailTls = { readonly cert: Buffer; readonly key: Buffer; readonly context: SecureContext };

/** Problems of the certificate and the key, by the error code of OpenSSL. */
const TLS_PROBLEMS: Readonly<Record<string, string>> = {
  ERR_OSSL_X509_KEY_VALUES_MISMATCH: 'the key does not belong to the certificate',
  ERR_OSSL_PEM_NO_START_LINE: 'the first file contains no certificate, or the second no key, in PEM format',
};

/**
 * Reads the certificate and the key of the mail servers. Returns `undefined` if no file is given.
 *
 * @throws {TypeError} if a file is missing or wrong. The message begins with the name of the option.
 */
export async function readMailTls(certFile?: string, keyFile?: string): Promise<MailTls | undefined> {
  if (certFile === undefined && keyFile === undefined) return undefined;
  const [cert, key] = [await readTlsFile('tlsCert', certFile), await readTlsFile('tlsKey', keyFile)];
  try {
    return { cert, key, context: createSecureContext({ cert, key }) };
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    const problem =
      `must be a certificate and its key, not ${JSON.stringify(certFile)} and ${JSON.stringify(keyFile)}: ` +
      `${TLS_PROBLEMS[code] ?? messageOf(error)}.`;
    throw createTlsError(
      'The options',
      'tlsCert',
      (nameOf) => `${nameOf('tlsCert')} and ${nameOf('tlsKey')} ${problem}`,
    );
  }
}

async function readTlsFile(option: string, path: string | undefined): Promise<Buffer> {
  if (path === undefined) {
    throw createTlsError(
      'The options',
      option,
      (nameOf) =>
        `${nameOf('tlsCert')} and ${nameOf('tlsKey')} must be set together, but ${nameOf(option)} is missing.`,
    );
  }
  return readRegularFile(path).catch((error: unknown) => {
    const problem = `${JSON.stringify(path)} cannot be read: ${fileProblem(error, 'there is no such file')}.`;
    throw createTlsError('The option', option, (nameOf) => `${nameOf(option)}: ${problem}`);
  });
}

/** Creates an error about the options for TLS. Its message is the sentence of `describe` with their names in code. */
function createTlsError(subject: string, option: string, describe: NonNullable<OptionProblem['describe']>): TypeError {
  return createOptionError(new TypeError(`${subject} ${describe(String)}`), { option, describe });
}

/** The settings that the servers for SMTP and IMAP share. */
export interface MailServerSettings {
  readonly intake: Intake;
  readonly output: WaitingOutput;
  /** Runs the long work of all connections in slices. */
  readonly work: WorkQueue;
  readonly tls: MailTls | undefined;
  /** Whether a login needs TLS. */
  readonly tlsRequired: boolean;
}

/** Starts the session of a client. */
type Accept = (socket: Socket, isSecure: boolean) => void;

/**
 * Creates a server that accepts clients with and without TLS. When the server closes, `beforeDestroy` is called before
 * the connections that are still open are closed.
 */
export function createMailListener(tls: MailTls | undefined, accept: Accept, beforeDestroy?: () => void): Listener {
  const server = createServer({ highWaterMark: LIMITS.socket.value }, (socket) =>
    tls ? detectTls(socket, tls, accept) : accept(socket, false),
  );
  return createListener(server, undefined, beforeDestroy);
}

/** The time in which a client must begin TLS. A client that sends nothing then gets the greeting without TLS. */
const FIRST_BYTE_MS = 250;

/** The first byte that a client sends to begin TLS. */
const TLS_HANDSHAKE = 0x16;

/**
 * Finds out whether a client begins TLS, and if so, encrypts the connection. So the same port serves clients that use
 * TLS from the start, and clients that use STARTTLS or no TLS.
 */
function detectTls(socket: Socket, tls: MailTls, accept: Accept): void {
  const decide = () => {
    clearTimeout(timer);
    socket.off('readable', decide);
    const firstBytes: Buffer | null = socket.read();
    if (firstBytes) socket.unshift(firstBytes);
    if (firstBytes?.[0] === TLS_HANDSHAKE) accept(encrypt(socket, tls), true);
    else accept(socket, false);
  };
  // When the timer fires, bytes may have arrived that Node has not read yet. Node reads them in the next two turns of
  // the event loop.
  const timer = setTimeout(() => setImmediate(() => setImmediate(decide)), FIRST_BYTE_MS);
  socket.on('readable', decide);
  socket.once('close', () => clearTimeout(timer));
}

/** Encrypts a connection on which the client begins TLS. */
export function encrypt(socket: Socket, { context }: MailTls): TLSSocket {
  // Node takes the third option, which its types do not have.
  const options = { isServer: true, secureContext: context, highWaterMark: LIMITS.socket.value };
  const secure = new TLSSocket(socket, options);
  // Without this listener, a client that rejects the certificate would end the process, and not only its connection.
  secure.on('error', () => secure.destroy());
  return secure;
}
