import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import { isBareAddress, MAX_ADDRESSES } from '../../contract/email-address.ts';
import { ApiError } from '../../contract/errors.ts';
import { MAX_MAIL_BYTES } from '../../contract/size.ts';
import type { Mailbox, MailboxInternals } from '../../mailbox.ts';
import type { HeldBytes, Intake } from '../intake.ts';

/** The limits for an idle client, and for open connections after the server closes. */
const IDLE_MS = 30_000;
const CLOSE_MS = 300;

/** The parts of a mailbox that SMTP needs. */
type SmtpMailbox = Pick<Mailbox, 'receiveMessage' | 'receives'> & Pick<MailboxInternals, 'takeSmtpFault'>;

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
export function createSmtpServer(internals: MailboxInternals, intake: Intake): SmtpServer {
  const mailbox = reportFailures(internals);
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
      const held = intake.hold();
      readData(stream, held, declaredSize(session))
        .then((chunks) => receiveData(mailbox, chunks, session))
        .then(
          () => done(null, 'The mail has arrived.'),
          (error: unknown) => done(toReply(error)),
        )
        .finally(held.release);
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

/** Returns the size that the client declared (RFC 1870), or 0. */
function declaredSize({ envelope: { mailFrom } }: SMTPServerSession): number {
  const { SIZE = 0 } = mailFrom ? { ...mailFrom.args } : {};
  return Math.min(Number(SIZE) || 0, MAX_MAIL_BYTES);
}

/** Reads a mail to its end, also if it is refused: only then can the client read the reply. */
async function readData(stream: SMTPServerDataStream, held: HeldBytes, declaredBytes: number): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  let refusal: Error | undefined = held.add(declaredBytes);
  for await (const chunk of stream) {
    refusal ??= stream.sizeExceeded
      ? reply(552, '5.3.4 The message is larger than 10 MiB.')
      : held.add(declaredBytes > 0 ? 0 : chunk.length);
    if (refusal) chunks.length = 0;
    else chunks.push(chunk as Buffer);
  }
  if (refusal) throw refusal;
  return chunks;
}

async function receiveData(
  mailbox: Pick<Mailbox, 'receiveMessage'>,
  chunks: readonly Buffer[],
  { envelope }: SMTPServerSession,
): Promise<void> {
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

/** Returns the part of a mailbox that SMTP needs, with failures reported, because SMTP clients receive no details. */
function reportFailures({ mailbox, report, takeSmtpFault }: MailboxInternals): SmtpMailbox {
  return {
    receives: mailbox.receives,
    takeSmtpFault,
    receiveMessage: (message) =>
      mailbox.receiveMessage(message).catch((error: unknown) => {
        if (!(error instanceof ApiError)) report(error);
        throw error;
      }),
  };
}
