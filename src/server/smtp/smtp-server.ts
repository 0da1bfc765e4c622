import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import { isBareAddress, MAX_ADDRESSES } from '../../contract/email-address.ts';
import { ApiError } from '../../contract/errors.ts';
import { MAX_MAIL_BYTES } from '../../contract/size.ts';
import type { Mailbox, MailboxInternals } from '../../mailbox.ts';

/** The limits for an idle client, and for open connections after the server closes. */
const IDLE_MS = 30_000;
const CLOSE_MS = 300;

/** The parts of a mailbox that SMTP needs. */
export type SmtpMailbox = Pick<Mailbox, 'receiveMessage' | 'receives'> & Pick<MailboxInternals, 'takeSmtpFault'>;

/** A server that accepts mail over SMTP. */
interface SmtpServer {
  /** Starts to listen and returns the port. */
  listen(port: number, host: string): Promise<number>;
  close(): Promise<void>;
}

/**
 * Creates an SMTP server for a mailbox, without TLS and login, as test clients use it. A recipient that is not an inbox
 * and the 51st recipient are refused at once; a mail above 10 MiB is refused after it is received.
 */
export function createSmtpServer(mailbox: SmtpMailbox): SmtpServer {
  const server = new SMTPServer({
    banner: 'agent-mailbox-mock',
    size: MAX_MAIL_BYTES,
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    logger: false,
    socketTimeout: IDLE_MS,
    closeTimeout: CLOSE_MS,
    onRcptTo({ address }, { envelope }, done) {
      done(findProblem(mailbox, address, envelope.rcptTo.length));
    },
    onData(stream, session, done) {
      receiveData(mailbox, stream, session).then(
        () => done(null, 'The mail has arrived.'),
        (error: unknown) => done(toReply(error)),
      );
    },
  });
  // An error on a connection closes that connection only; without a listener, it would end the process.
  server.on('error', () => {});

  return {
    listen: (port, host) =>
      new Promise((resolve, reject) => {
        server.server.once('error', reject);
        server.listen(port, host, () => resolve((server.server.address() as AddressInfo).port));
      }),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** Returns the refusal of a recipient, or null. */
function findProblem(mailbox: SmtpMailbox, address: string, recipientsBefore: number): Error | null {
  if (recipientsBefore >= MAX_ADDRESSES) {
    return reply(452, `4.5.3 A message may have at most ${MAX_ADDRESSES} recipients.`);
  }
  // A tagged form of an address may have characters that no address of the service has.
  if (!isBareAddress(address) || !mailbox.receives(address))
    return reply(550, `5.1.1 There is no inbox with the address ${address}.`);
  const fault = mailbox.takeSmtpFault(address);
  return fault ? reply(fault.status, fault.message) : null;
}

async function receiveData(
  mailbox: Pick<Mailbox, 'receiveMessage'>,
  stream: SMTPServerDataStream,
  { envelope }: SMTPServerSession,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) if (!stream.sizeExceeded) chunks.push(chunk as Buffer);
  if (stream.sizeExceeded) throw reply(552, '5.3.4 The message is larger than 10 MiB.');
  const { mailFrom, rcptTo } = envelope;
  await mailbox.receiveMessage({
    eml: Buffer.concat(chunks),
    envelopeFrom: mailFrom ? mailFrom.address : '',
    to: rcptTo.map(({ address }) => address),
  });
}

function toReply(error: unknown): Error {
  if (error instanceof ApiError && error.code === 'STORAGE_FULL') return reply(452, `4.3.1 ${error.message}`);
  if (error instanceof ApiError) return reply(554, `5.6.0 ${error.message}`);
  return error instanceof Error && 'responseCode' in error ? error : reply(451, '4.3.0 The emulator failed.');
}

/** Creates an error that is sent to the client with a reply code (RFC 5321, section 4.2). */
function reply(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}
