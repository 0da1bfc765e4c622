import type { Socket } from 'node:net';
import type { SMTPServerAuthentication, SMTPServerDataStream, SMTPServerOptions, SMTPServerSession } from 'smtp-server';
import { SMTPServer } from 'smtp-server';
import { CollectedBytes } from '../../basics/collected-bytes.ts';
import { performance, setImmediate } from '../../basics/real-timers.ts';
import { isBareAddress } from '../../contract/addresses/email-address.ts';
import { ApiError, type ErrorCode } from '../../contract/errors.ts';
import type { MailboxInternals } from '../../mailbox/mailbox.ts';
import { findLogin, type InboxPrincipal } from '../../service/access/principal.ts';
import type { Entry } from '../../service/journal/entry-kinds.ts';
import { acceptMessage } from '../../service/mail/incoming/accept-message.ts';
import { submitMail } from '../../service/mail/outgoing/send.ts';
import { mailContextOf } from '../../service/mail/store-message.ts';
import { recordCommand } from '../../service/pipeline/record-exchange.ts';
import type { Service } from '../../service/pipeline/service.ts';
import type { Environment } from '../../world/environment.ts';
import type { Cause } from '../../world/journal/entry.ts';
import { isOwnAddress } from '../../world/store/world.ts';
import type { Intake } from '../intake.ts';
import type { Listener } from '../listener.ts';
import { nameClient } from '../name-client.ts';
import { LIMITS } from '../server-limits.ts';
import { findClientToEnd, watchPace } from './client-limits.ts';
import { createMailListener, type MailServerSettings } from './mail-listener.ts';

/** What the SMTP server uses. */
type SmtpContext = MailServerSettings & { readonly internals: MailboxInternals };

/**
 * Creates an SMTP server for a mailbox. A client without a login delivers mail from outside. The server refuses a
 * recipient that is not an inbox, and the 51st recipient, at once. It refuses a mail above 10 MiB after the client has
 * sent it. A client that logs in to an inbox sends mail from that inbox.
 */
export function createSmtpServer(internals: MailboxInternals, settings: MailServerSettings): Listener {
  const { tls, tlsRequired, output } = settings;
  /** The clients by the id of their session, the oldest first. */
  const clients = new Map<string, SmtpClient>();
  const options = createOptions({ ...settings, internals }, clients);
  const plain = createServer({ ...options, ...tls, allowInsecureAuth: !tlsRequired });
  const secure = createServer({ ...options, ...tls, secure: true, secured: true });
  let latestId = 0;
  const accept = (socket: Socket, isSecure: boolean) => {
    latestId += 1;
    const id = String(latestId);
    const server = isSecure ? secure : plain;
    const client = new SmtpClient(id, server, internals.environment, () => {
      clients.delete(id);
      removeConnection();
    });
    const removeConnection = internals.service.connections.add({
      protocol: 'smtp',
      since: internals.environment.now(),
      principal: () => client.principal,
    });
    clients.set(id, client);
    socket.once('close', () => client.leave());
    output.watch(socket, 'smtp');
    server.connect(socket, { id });
    findClientToEnd([...clients.values()])?.end('There are too many connections.');
  };
  return createMailListener(tls, accept, () => {
    for (const client of [...plain.connections, ...secure.connections]) {
      client.send(421, 'Server shutting down');
      client.close();
    }
  });
}

/** A connected client, with the limits of its time. */
class SmtpClient {
  readonly #id: string;
  readonly #server: SMTPServer;
  readonly #environment: Pick<Environment, 'setTimer'>;
  readonly #onEnd: () => void;
  /** The latest command of the client, without credentials. */
  latestCommand = '';
  /** Whether the journal has the refusal that is sent next. */
  hasRecordedRefusal = false;
  /** Whether the latest command that was no consequence of another was refused. */
  wasRefused = false;
  #cancelLoginTimer: () => void;
  #cancelMailTimer = () => {};
  #wrongLogins = 0;
  /** Its session; `undefined` before the greeting. */
  session: SMTPServerSession | undefined;

  constructor(id: string, server: SMTPServer, environment: Pick<Environment, 'setTimer'>, onEnd: () => void) {
    this.#id = id;
    this.#server = server;
    this.#environment = environment;
    this.#onEnd = onEnd;
    this.#cancelLoginTimer = environment.setTimer(LIMITS.mailLogin.value, () => {
      if (this.inboxId === undefined) this.end('You neither logged in nor named a recipient within a minute.');
    });
  }

  get inboxId(): string | undefined {
    return this.principal?.inboxId;
  }

  /** Whose login the client has; `undefined` without a login. */
  get principal(): InboxPrincipal | undefined {
    return this.session && principalOf(this.session);
  }

  /** Whether the client has named a recipient of a mail that is not complete yet. */
  get isSendingMail(): boolean {
    return (this.session?.envelope?.rcptTo.length ?? 0) > 0;
  }

  /** Starts the time of a mail. */
  startMail({ envelope }: SMTPServerSession): void {
    this.#cancelMailTimer();
    this.#cancelMailTimer = this.#environment.setTimer(LIMITS.arrival.value, () => {
      // Each transaction has an envelope of its own.
      if (this.session?.envelope === envelope) this.end('A mail must arrive within 5 minutes.');
    });
  }

  /** Notes that the client has named a recipient, as somebody does who sends a mail. */
  noteRecipient(): void {
    this.#cancelLoginTimer();
  }

  /** Ends the connection if the bytes of a mail, which `countReceived` returns, arrive too slowly. Returns what stops it. */
  watchPace(countReceived: () => number): () => void {
    return watchPace(this.#environment, {
      countReceived,
      unhurriedMs: LIMITS.smtpUnhurried.value,
      onTooSlow: () => this.end('The mail arrives too slowly.'),
    });
  }

  /** Counts a wrong login. Returns whether it was one too many. */
  isTooManyLogins(): boolean {
    this.#wrongLogins += 1;
    return this.#wrongLogins >= LIMITS.wrongLogins.value;
  }

  /** Ends the connection, and tells the client why. */
  end(reason: string): void {
    const connection = [...this.#server.connections].find(({ id }) => id === this.#id);
    this.leave();
    // The reply 421 also closes the connection.
    connection?.send(421, `4.7.0 ${reason}`, false);
  }

  /** Forgets the client, because its connection has ended. */
  leave(): void {
    this.#cancelLoginTimer();
    this.#cancelMailTimer();
    this.#onEnd();
  }
}

/**
 * Creates the logger of a server, which adds each refused command to the journal: also those that smtp-server refuses
 * by itself, which it tells nobody else. Its logger gets each command without credentials, and each reply.
 */
function createRefusalLogger(service: Service, clients: ReadonlyMap<string, SmtpClient>) {
  const ignore = () => {};
  return {
    trace: ignore,
    info: ignore,
    warn: ignore,
    error: ignore,
    fatal: ignore,
    debug({ tnx, cid }: { readonly tnx?: string; readonly cid?: string }, _prefix?: unknown, line?: unknown): void {
      const client = clients.get(cid ?? '');
      if (client && tnx === 'command') client.latestCommand = String(line);
      if (client && tnx === 'send') noteReply(service, client, String(line));
    },
  };
}

/** Adds a command to the journal if this reply refuses it. */
function noteReply(service: Service, client: SmtpClient, reply: string): void {
  const [, code = '', text = ''] = /^([45]\d\d)[ -](.*)/s.exec(reply) ?? [];
  // A client may send commands before it reads the reply to MAIL FROM. Those after a refused one are refused, too.
  const isConsequence = code === OUT_OF_SEQUENCE && client.wasRefused;
  const isRecorded = client.hasRecordedRefusal;
  client.hasRecordedRefusal = false;
  client.wasRefused = code !== '';
  // A connection ends with 421, whatever the client did.
  if (code === '' || code === '421' || isConsequence || isRecorded) return;
  const { latestCommand, session } = client;
  const [word = ''] = latestCommand.toUpperCase().match(/^\S+/) ?? [];
  const name = { MAIL: 'MAIL FROM', RCPT: 'RCPT TO' }[word] ?? (SMTP_COMMANDS.has(word) ? word : 'unknown command');
  const [, address = ''] = /<([^<>]*)>/.exec(latestCommand) ?? [];
  const recipients = session?.envelope?.rcptTo.map((each) => each.address).join(', ') ?? '';
  recordCommand(service, {
    call: { protocol: 'smtp', command: name, result: Number(code) },
    principal: session && principalOf(session),
    path: name === 'DATA' ? recipients : address,
    text: name,
    reply: text,
    messageIds: [],
    startedMs: performance.now(),
  });
}

/** The reply code for a command that needs another one before it. */
const OUT_OF_SEQUENCE = '503';

/** The commands whose names the journal shows. Another word may be anything, such as a password. */
const SMTP_COMMANDS: ReadonlySet<string> = new Set([
  ...['HELO', 'EHLO', 'AUTH', 'STARTTLS', 'DATA', 'RSET', 'NOOP', 'VRFY', 'HELP', 'QUIT'],
]);

function createServer(options: SMTPServerOptions): SMTPServer {
  const server = new SMTPServer(options);
  // Without this listener, an error on a connection would end the process, and not only close the connection.
  server.on('error', () => {});
  return server;
}

function createOptions(
  { internals, intake, output, tls }: SmtpContext,
  clients: ReadonlyMap<string, SmtpClient>,
): SMTPServerOptions {
  /** The epoch in which the present mail of each client began. */
  const epochs = new WeakMap<SMTPServerSession, number>();
  return {
    banner: 'agent-mailbox-mock',
    size: LIMITS.mailBytes.value,
    socketTimeout: LIMITS.smtpIdle.value,
    logger: createRefusalLogger(internals.service, clients),
    authOptional: true,
    disabledCommands: tls ? [] : ['STARTTLS'],
    disableReverseLookup: true,
    onConnect(session, done) {
      const client = clients.get(session.id);
      if (client) client.session = session;
      done();
    },
    onSecure(socket, _, done) {
      output.watch(socket, 'smtp');
      done();
    },
    onAuth(auth, session, done) {
      const user = logIn(internals.service, auth);
      if (user) {
        done(null, { user: user as never });
        return;
      }
      const client = clients.get(session.id);
      if (client) client.hasRecordedRefusal = true;
      done(createSmtpError(WRONG_CREDENTIALS, `5.7.8 ${WRONG_LOGIN}`));
      if (client?.isTooManyLogins()) client.end('There were too many wrong logins.');
    },
    onMailFrom({ address }, session, done) {
      const principal = principalOf(session);
      epochs.set(session, internals.service.worlds.epoch);
      const isAllowed = !principal || isOwnAddress(principal.world, principal.inboxId, address);
      clients.get(session.id)?.startMail(session);
      const refusal = isAllowed
        ? null
        : createSmtpError(553, `5.7.1 This inbox does not have the address <${address}>.`);
      // If this were done at once, smtp-server would lose its place in a chunk that contains two whole mails: it forgets
      // that the second one has to be continued, because it is still busy with the end of the first one.
      setImmediate(() => done(refusal));
    },
    onRcptTo({ address }, session, done) {
      const refusal = findRefusal(internals, address, session);
      if (!refusal) clients.get(session.id)?.noteRecipient();
      done(refusal);
    },
    onData(stream, session, done) {
      const client = clients.get(session.id);
      const stopWatching = client?.watchPace(() => stream.byteLength);
      const names = nameClient(session.remoteAddress, principalOf(session), 'smtp');
      readData(stream, { intake, client: names }, async (bytes) => {
        stopWatching?.();
        try {
          return await deliver(internals, bytes, session, epochs.get(session));
        } catch (error) {
          if (client) client.hasRecordedRefusal = true;
          throw error;
        }
      })
        .then(
          (text) => done(null, text),
          (error: unknown) => done(toReplyError(error)),
        )
        .finally(() => stopWatching?.());
    },
  };
}

/** The reply codes of a login (RFC 4954), and of a mail that was taken. */
const LOGGED_IN = 235;
const WRONG_CREDENTIALS = 535;
const DONE = 250;

const WRONG_LOGIN = 'The login is wrong; use the canonicalEmail of an inbox as the user, and its imapPassword.';

/** Checks a login and returns its inbox; `undefined` if the login is wrong. */
function logIn(service: Service, { method, username, password }: SMTPServerAuthentication) {
  const principal = findLogin(service.worlds, username ?? '', password ?? '');
  const name = `AUTH ${method}`;
  recordCommand(service, {
    call: { protocol: 'smtp', command: name, result: principal ? LOGGED_IN : WRONG_CREDENTIALS },
    principal,
    path: '',
    user: username,
    text: name,
    reply: principal ? 'Logged in.' : WRONG_LOGIN,
    messageIds: [],
    startedMs: performance.now(),
  });
  return principal;
}

/** Returns the inbox to which a client has logged in; `undefined` for a client without a login. */
function principalOf({ user }: SMTPServerSession): InboxPrincipal | undefined {
  return user as InboxPrincipal | undefined;
}

/** Returns the error that refuses a recipient; null if the recipient is accepted. */
function findRefusal(
  { mailbox, takeSmtpFault }: MailboxInternals,
  address: string,
  session: SMTPServerSession,
): Error | null {
  if (session.envelope.rcptTo.length >= LIMITS.smtpRecipients.value) {
    return createSmtpError(452, `4.5.3 A message may have at most ${LIMITS.smtpRecipients.value} recipients.`);
  }
  if (principalOf(session)) {
    if (!isBareAddress(address)) return createSmtpError(553, `5.1.3 ${address} is not an address.`);
  } else if (!isBareAddress(address) || !mailbox.receives(address))
    // `receives` ignores the tag of an address, so `isBareAddress` checks that the tag has only allowed characters.
    return createSmtpError(550, `5.1.1 There is no inbox with the address ${address}.`);
  const fault = takeSmtpFault(address);
  return fault ? createSmtpError(fault.status, fault.message) : null;
}

/**
 * Reads a mail and passes it on. It is read to its end even if it is refused, because the client reads the reply only
 * after the end. Its bytes are counted as they arrive, until it was passed on.
 */
async function readData(
  stream: SMTPServerDataStream,
  { intake, client }: { readonly intake: Intake; readonly client: readonly string[] },
  accept: (bytes: Buffer) => Promise<string>,
): Promise<string> {
  const received = new CollectedBytes();
  let refusal: Error | undefined;
  const refuse = (error: Error) => {
    refusal ??= error;
    // What has arrived is dropped.
    received.take();
    counter.release();
  };
  const counter = intake.createCounter({ client, onDropped: refuse });
  try {
    for await (const chunk of stream) {
      const error = stream.sizeExceeded
        ? createSmtpError(552, '5.3.4 The message is larger than 10 MiB.')
        : (refusal ?? counter.add(chunk.length));
      if (error) refuse(error);
      else received.add(chunk as Buffer, LIMITS.mailBytes.value);
    }
    if (refusal) throw refusal;
    return await accept(Buffer.from(received.take().buffer));
  } finally {
    counter.release();
  }
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
  const cause: Cause = {};
  const caused: Entry[] = [];
  const startedMs = performance.now();
  const common = { principal, path, epoch, startedMs, caused, cause };
  const context = mailContextOf(service, principal ? 'submission' : 'smtp', principal?.world, epoch);
  try {
    const mail = { eml: bytes, envelopeFrom: mailFrom ? mailFrom.address : '', to: recipients };
    // All of this work is synchronous.
    const messages = await service.journals.runFor('DATA', cause, caused, () =>
      principal ? [submitMail(context, principal, { bytes, recipients })] : acceptMessage(context, mail),
    );
    const messageIds = messages.map(({ id }) => id);
    const text = principal ? `The mail is sent as ${messageIds[0]}.` : 'The mail has arrived.';
    const call = { protocol: 'smtp', command: 'DATA', result: DONE } as const;
    recordCommand(service, { ...common, call, text: 'DATA', reply: text, messageIds });
    return text;
  } catch (error) {
    // The reply to the client does not contain the error, so the error is reported.
    if (!(error instanceof ApiError)) report(error);
    const refusal = toReplyError(error);
    const call = { protocol: 'smtp', command: 'DATA', result: refusal.responseCode } as const;
    // Nothing else keeps a mail that was refused. The record shows what its sender tried to send.
    const text = principal ? `DATA\n${new TextDecoder().decode(bytes)}` : 'DATA';
    recordCommand(service, { ...common, call, text, reply: refusal.message, messageIds: [] });
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
function toReplyError(error: unknown): SmtpError {
  if (error instanceof ApiError) {
    const [code, status] = REPLIES[error.code] ?? [554, '5.6.0'];
    return createSmtpError(code, `${status} ${error.message}`);
  }
  return isSmtpError(error) ? error : createSmtpError(451, '4.3.0 The emulator failed.');
}

/** An error that is sent to the client with a reply code (RFC 5321, section 4.2). */
type SmtpError = Error & { readonly responseCode: number };

function isSmtpError(error: unknown): error is SmtpError {
  return error instanceof Error && 'responseCode' in error && typeof error.responseCode === 'number';
}

/** Creates an error that is sent to the client with a reply code (RFC 5321, section 4.2). */
function createSmtpError(responseCode: number, message: string): SmtpError {
  return Object.assign(new Error(message), { responseCode });
}
