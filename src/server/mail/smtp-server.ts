import type { Socket } from 'node:net';
import type { SMTPServerAuthentication, SMTPServerDataStream, SMTPServerOptions, SMTPServerSession } from 'smtp-server';
import { SMTPServer } from 'smtp-server';
import { MAX_MAIL_BYTES } from '../../basics/size.ts';
import { isBareAddress, MAX_ADDRESSES } from '../../contract/email-address.ts';
import { ApiError, type ErrorCode } from '../../contract/errors.ts';
import type { MailboxInternals } from '../../mailbox/mailbox.ts';
import { acceptMessage } from '../../service/mail/incoming/accept-message.ts';
import { submitMail } from '../../service/mail/outgoing/send.ts';
import { mailContextOf } from '../../service/mail/store-message.ts';
import { findLogin, type InboxPrincipal } from '../../service/pipeline/access/principal.ts';
import { recordCommand, type Service } from '../../service/pipeline/exchange.ts';
import { isOwnAddress } from '../../world/store/world.ts';
import type { ByteCounter } from '../intake.ts';
import type { Listener } from '../listener.ts';
import { createMailListener, type MailServerSettings } from './mail-listener.ts';

/** The time after which an idle client is disconnected. */
const IDLE_MS = 30_000;

/**
 * Creates an SMTP server for a mailbox. A client without a login delivers mail from outside. The server refuses a
 * recipient that is not an inbox, and the 51st recipient, at once. It refuses a mail above 10 MiB after the client has
 * sent it. A client that logs in to an inbox sends mail from that inbox.
 */
export function createSmtpServer(internals: MailboxInternals, settings: MailServerSettings): Listener {
  const { tls, tlsRequired } = settings;
  const options = createOptions(internals, settings);
  const plain = createServer({ ...options, ...tls, allowInsecureAuth: !tlsRequired });
  const secure = createServer({ ...options, ...tls, secure: true, secured: true });
  const accept = (socket: Socket, isSecure: boolean) => (isSecure ? secure : plain).connect(socket, {});
  return createMailListener(tls, accept, () => {
    for (const client of [...plain.connections, ...secure.connections]) {
      client.send(421, 'Server shutting down');
      client.close();
    }
  });
}

function createServer(options: SMTPServerOptions): SMTPServer {
  const server = new SMTPServer(options);
  // Without this listener, an error on a connection would end the process, and not only close the connection.
  server.on('error', () => {});
  return server;
}

function createOptions(internals: MailboxInternals, { intake, tls }: MailServerSettings): SMTPServerOptions {
  /** The epoch in which the present mail of each client began. */
  const epochs = new WeakMap<SMTPServerSession, number>();
  return {
    banner: 'agent-mailbox-mock',
    size: MAX_MAIL_BYTES,
    socketTimeout: IDLE_MS,
    logger: false,
    authOptional: true,
    disabledCommands: tls ? [] : ['STARTTLS'],
    disableReverseLookup: true,
    onAuth(auth, _, done) {
      const user = logIn(internals.service, auth);
      if (user) done(null, { user: user as never });
      else done(createSmtpError(535, `5.7.8 ${WRONG_LOGIN}`));
    },
    onMailFrom({ address }, session, done) {
      const principal = principalOf(session);
      epochs.set(session, internals.service.worlds.epoch);
      const isAllowed = !principal || isOwnAddress(principal.world, principal.inboxId, address);
      done(isAllowed ? null : createSmtpError(553, `5.7.1 This inbox does not have the address <${address}>.`));
    },
    onRcptTo({ address }, session, done) {
      done(findRefusal(internals, address, session));
    },
    onData(stream, session, done) {
      const counter = intake.createCounter();
      readData(stream, counter, declaredSize(session))
        .then((chunks) => deliver(internals, Buffer.concat(chunks), session, epochs.get(session)))
        .then(
          (text) => done(null, text),
          (error: unknown) => done(toReplyError(error)),
        )
        .finally(counter.release);
    },
  };
}

const WRONG_LOGIN = 'The login is wrong; use the canonicalEmail of an inbox as the user, and its imapPassword.';

/** Checks a login and returns its inbox; `undefined` if the login is wrong. */
function logIn(service: Service, { method, username, password }: SMTPServerAuthentication) {
  const principal = findLogin(service.worlds, username ?? '', password ?? '');
  const name = `AUTH ${method}`;
  const [status, text] = principal ? [200, 'Logged in.'] : [401, WRONG_LOGIN];
  const command = { protocol: 'smtp', principal, name, text: name, path: '' } as const;
  recordCommand(service, { ...command, status, reply: text, messageIds: [] });
  return principal;
}

/** Returns the inbox to which a client has logged in; `undefined` for a client without a login. */
function principalOf({ user }: SMTPServerSession): InboxPrincipal | undefined {
  return user as InboxPrincipal | undefined;
}

/** Returns the error that refuses a recipient; null if the recipient is accepted. */
function findRefusal({ mailbox, takeSmtpFault }: MailboxInternals, address: string, session: SMTPServerSession) {
  if (session.envelope.rcptTo.length >= MAX_ADDRESSES) {
    return createSmtpError(452, `4.5.3 A message may have at most ${MAX_ADDRESSES} recipients.`);
  }
  if (principalOf(session)) {
    if (!isBareAddress(address)) return createSmtpError(553, `5.1.3 ${address} is not an address.`);
  } else if (!isBareAddress(address) || !mailbox.receives(address))
    // `receives` ignores the tag of an address, so `isBareAddress` checks that the tag has only allowed characters.
    return createSmtpError(550, `5.1.1 There is no inbox with the address ${address}.`);
  const fault = takeSmtpFault(address);
  return fault ? createSmtpError(fault.status, fault.message) : null;
}

/** Returns the size that the client declared (RFC 1870), or 0. */
function declaredSize({ envelope: { mailFrom } }: SMTPServerSession): number {
  const { SIZE = 0 } = mailFrom ? { ...mailFrom.args } : {};
  return Math.min(Number(SIZE) || 0, MAX_MAIL_BYTES);
}

/** Reads a mail to its end even if the mail is refused, because the client reads the reply only after the end. */
async function readData(stream: SMTPServerDataStream, counter: ByteCounter, declaredBytes: number): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  let refusal: Error | undefined = counter.add(declaredBytes);
  for await (const chunk of stream) {
    refusal ??= stream.sizeExceeded
      ? createSmtpError(552, '5.3.4 The message is larger than 10 MiB.')
      : counter.add(declaredBytes > 0 ? 0 : chunk.length);
    if (refusal) chunks.length = 0;
    else chunks.push(chunk as Buffer);
  }
  if (refusal) throw refusal;
  return chunks;
}

/** Sends a mail from the inbox of the login or, without a login, receives a mail from outside. Returns the reply. */
async function deliver(
  { service, report }: MailboxInternals,
  bytes: Buffer,
  session: SMTPServerSession,
  epoch = service.worlds.epoch,
): Promise<string> {
  const { mailFrom, rcptTo } = session.envelope;
  const recipients = rcptTo.map(({ address }) => address);
  const principal = principalOf(session);
  const path = recipients.join(', ');
  const command = { protocol: 'smtp', principal, name: 'DATA', text: 'DATA', path, epoch } as const;
  const context = mailContextOf(service, principal?.world, epoch);
  try {
    const mail = { eml: bytes, envelopeFrom: mailFrom ? mailFrom.address : '', to: recipients };
    const messages = principal
      ? [submitMail(context, principal, { bytes, recipients })]
      : await acceptMessage(context, mail);
    const messageIds = messages.map(({ id }) => id);
    const text = principal ? `The mail is sent as ${messageIds[0]}.` : 'The mail has arrived.';
    recordCommand(service, { ...command, status: 200, reply: text, messageIds });
    return text;
  } catch (error) {
    // The reply to the client does not contain the error, so the error is reported.
    if (!(error instanceof ApiError)) report(error);
    const status = error instanceof ApiError ? error.status : 500;
    recordCommand(service, { ...command, status, reply: toReplyError(error).message, messageIds: [] });
    throw error;
  }
}

/** The reply codes for a refused mail, by the code of the error. A refusal with any other code gets 554 5.6.0. */
const REPLIES: { readonly [Code in ErrorCode]?: readonly [code: number, status: string] } = {
  STORAGE_FULL: [452, '4.3.1'],
  SERVER_UNAVAILABLE: [451, '4.3.2'],
  RELAY_FAILED: [451, '4.4.0'],
  INBOX_PAUSED: [550, '5.7.1'],
  FORBIDDEN: [550, '5.7.1'],
  UNVERIFIED_RECIPIENT: [550, '5.7.1'],
};

/** Returns the error that is sent to the client for an error of any kind. */
function toReplyError(error: unknown): Error {
  if (error instanceof ApiError) {
    const [code, status] = REPLIES[error.code] ?? [554, '5.6.0'];
    return createSmtpError(code, `${status} ${error.message}`);
  }
  return error instanceof Error && 'responseCode' in error ? error : createSmtpError(451, '4.3.0 The emulator failed.');
}

/** Creates an error that is sent to the client with a reply code (RFC 5321, section 4.2). */
function createSmtpError(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}
