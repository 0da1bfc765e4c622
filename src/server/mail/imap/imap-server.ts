import type { Socket } from 'node:net';
import { NAME } from '../../../basics/version.ts';
import type { MailboxInternals } from '../../../mailbox/mailbox.ts';
import type { InboxPrincipal } from '../../../service/access/principal.ts';
import type { Output } from '../../../service/imap/fetch-items.ts';
import type { ByteCounter } from '../../intake.ts';
import { CLOSE_MS, type Listener } from '../../listener.ts';
import { nameClient } from '../../name-client.ts';
import { LIMITS } from '../../server-limits.ts';
import { findClientToEnd, watchPace } from '../client-limits.ts';
import { createMailListener, encrypt, type MailServerSettings } from '../mail-listener.ts';
import { CommandReader } from './command-reader.ts';
import { FOLDER_COMMANDS } from './folder-commands.ts';
import { capabilitiesOf, LOGIN_COMMANDS } from './login-commands.ts';
import { MESSAGE_COMMANDS } from './message-commands.ts';
import { type Connection, ConnectionEnded, createImapContext, type ImapContext, Session } from './session.ts';

const COMMANDS = [LOGIN_COMMANDS, FOLDER_COMMANDS, MESSAGE_COMMANDS];

/** Creates a server over which IMAP clients read and change the mail of inboxes. */
export function createImapServer(internals: MailboxInternals, settings: MailServerSettings): Listener {
  const context = createImapContext(internals, settings.work);
  /** The clients whose connections have not ended, the oldest first. */
  const clients = new Set<ImapClient>();
  const listener = createMailListener(settings.tls, (socket, isSecure) => {
    const client = new ImapClient(context, settings, socket, isSecure, () => {
      clients.delete(client);
      removeConnection();
    });
    const removeConnection = internals.service.connections.add({
      protocol: 'imap',
      since: internals.environment.now(),
      principal: () => client.principal,
    });
    clients.add(client);
    const ending = findClientToEnd([...clients]);
    ending?.end('There are too many connections', ending === client ? undefined : CLOSE_MS);
    client.greet();
  });
  const close = () => {
    for (const client of clients) client.end('The server is closed', CLOSE_MS);
    return listener.close();
  };
  return { listen: listener.listen, close };
}

/** The connection of an IMAP client, with its session. The commands of the client run one after the other. */
class ImapClient implements Connection {
  readonly #settings: MailServerSettings;
  readonly #environment: ImapContext['environment'];
  readonly #session: Session;
  readonly #onEnd: () => void;
  /** Counts the bytes of the current command; `undefined` while it takes no room. */
  #counter: ByteCounter | undefined;
  #reader: CommandReader;
  #socket: Socket;
  /** The output that the socket has not got yet. */
  #output: Output = [];
  #outputBytes = 0;
  /** The functions to call when the client can get more output, or when the connection has ended. */
  #waiting: (() => void)[] = [];
  /** Whether the next commands are ignored, because the connection ends as soon as all output was sent. */
  #isEnding = false;
  #cancelLoginTimer: () => void;
  /** Ends the limits of the time in which the command must arrive; `undefined` if no command is arriving. */
  #endArrival: (() => void) | undefined;
  #receivedBytes = 0;
  /** Whether the client has ended its side of the connection, so that it sends nothing more. */
  #hasClientEnded = false;
  /** Whether commands that the client has sent are still running. */
  #isRunning = false;
  /** Whether the current command has arrived completely, and is being handled. */
  #isHandling = false;
  isSecure: boolean;

  constructor(
    context: ImapContext,
    settings: MailServerSettings,
    socket: Socket,
    isSecure: boolean,
    onEnd: () => void,
  ) {
    this.#settings = settings;
    this.#environment = context.environment;
    this.#socket = socket;
    this.#onEnd = onEnd;
    this.isSecure = isSecure;
    this.#reader = this.#createReader();
    this.#session = new Session(context, this, COMMANDS);
    this.#cancelLoginTimer = context.environment.setTimer(LIMITS.mailLogin.value, () =>
      this.end('You did not log in within a minute'),
    );
    this.#listen();
  }

  /** Whose login the client has; `undefined` before the login. */
  get principal(): InboxPrincipal | undefined {
    return this.#session.account?.principal;
  }

  get mayStartTls(): boolean {
    return this.#settings.tls !== undefined;
  }

  get refusesLogin(): boolean {
    return this.#settings.tlsRequired && !this.isSecure;
  }

  get hasEnded(): boolean {
    return this.#isEnding || this.#socket.destroyed;
  }

  get inboxId(): string | undefined {
    return this.#session.account?.principal.inboxId;
  }

  get isLoggedIn(): boolean {
    return this.inboxId !== undefined;
  }

  /** A client of IMAP that stores a mail may lose its place. */
  readonly isSendingMail = false;

  greet(): void {
    this.send(`* OK [CAPABILITY ${capabilitiesOf(this.#session)}] ${NAME}\r\n`);
    this.#write();
  }

  send(...output: Output): void {
    if (this.#isEnding) return;
    for (const piece of output) {
      const last = this.#output.at(-1);
      const isShort = typeof last === 'string' && last.length < LIMITS.socket.value;
      if (typeof piece === 'string' && isShort) this.#output.splice(-1, 1, last + piece);
      else this.#output.push(piece);
      this.#outputBytes += piece.length;
    }
  }

  async flush(): Promise<void> {
    this.#write();
    while (!this.hasEnded && (this.#output.length > 0 || this.#socket.writableNeedDrain)) await this.#untilTaken();
    if (this.hasEnded) throw new ConnectionEnded();
  }

  async drain(): Promise<void> {
    const isFull = () => this.#outputBytes >= LIMITS.socket.value || this.#socket.writableNeedDrain;
    if (isFull()) this.#write();
    while (!this.hasEnded && isFull()) await this.#untilTaken();
    if (this.hasEnded) throw new ConnectionEnded();
  }

  end(reason?: string, graceMs: number = LIMITS.imapGrace.value): void {
    if (this.hasEnded) return;
    if (reason !== undefined) this.send(`* BYE ${reason}.\r\n`);
    this.#isEnding = true;
    this.#onEnd();
    this.#write();
    const socket = this.#socket;
    this.#environment.setTimer(graceMs, () => socket.destroy());
  }

  cut(): void {
    this.#isEnding = true;
    this.#socket.destroy();
  }

  async startTls(): Promise<void> {
    const { tls } = this.#settings;
    if (!tls) return;
    await this.flush();
    const socket = this.#socket;
    // What was sent before the handshake must not become a part of it.
    await new Promise((resolve) => socket.write('', resolve));
    if (this.hasEnded) throw new ConnectionEnded();
    for (const event of ['data', 'drain', 'end', 'timeout']) socket.removeAllListeners(event);
    // What follows the command belongs to the handshake, whether it came in the same chunk or later. So commands that
    // were sent without TLS end the connection.
    const rest = this.#reader.takeRest();
    if (rest.length > 0) socket.unshift(rest);
    this.#socket = encrypt(socket, tls);
    this.isSecure = true;
    this.#reader = this.#createReader();
    this.#listen();
  }

  #createReader(): CommandReader {
    return new CommandReader({
      isLoggedIn: () => this.isLoggedIn,
      count: (bytes) => {
        this.#counter ??= this.#createCounter();
        const refusal = this.#counter.add(bytes);
        // The bytes before are not kept either.
        if (refusal) this.#counter.release();
        return refusal;
      },
    });
  }

  /** Creates the counter of the current command. */
  #createCounter(): ByteCounter {
    return this.#settings.intake.createCounter({
      client: nameClient(this.#socket.remoteAddress, this.#session.account?.principal, 'imap'),
      onDropped: (refusal) => {
        if (this.#isHandling) this.end(refusal.message.slice(0, -1));
        else this.#reader.drop(refusal);
      },
    });
  }

  #listen(): void {
    const socket = this.#socket;
    socket.setNoDelay(true);
    socket.on('timeout', () => this.end('You were silent for too long'));
    socket.on('drain', () => this.#write());
    // A client that sends nothing more still gets the replies to what it has sent, if that takes no longer than a while.
    socket.allowHalfOpen = true;
    socket.on('end', () => {
      this.#hasClientEnded = true;
      this.#environment.setTimer(LIMITS.imapGrace.value, () => socket.destroy());
      if (!this.#isRunning) this.end();
    });
    socket.once('close', () => {
      if (socket !== this.#socket) return;
      this.#onEnd();
      this.#cancelLoginTimer();
      this.#endCommand();
      this.#output = [];
      this.#wake();
      this.#session.leave();
    });
    socket.on('data', (chunk: Buffer) => {
      // After the last reply, what the client sends is read and ignored, so that it can receive the reply.
      if (this.hasEnded) return;
      socket.pause();
      this.#isRunning = true;
      this.#runCommands(chunk).then(() => {
        this.#isRunning = false;
        if (socket !== this.#socket) return;
        socket.resume();
        if (this.#hasClientEnded) this.end();
      });
    });
  }

  /** Runs the commands that a chunk completes, one after the other. The promise never rejects. */
  async #runCommands(chunk: Buffer): Promise<void> {
    const reader = this.#reader;
    reader.push(chunk);
    this.#receivedBytes += chunk.length;
    while (!this.hasEnded) {
      const event = reader.next();
      if (event === undefined) break;
      if (event === 'lost') this.end('The size of a literal is too large');
      else if (event === 'continue') {
        this.send('+ Send the literal.\r\n');
        this.#write();
      } else {
        this.#isHandling = true;
        if (event.refusal !== undefined) await this.#session.refuse(event.line, event.refusal);
        else await this.#session.handle(event.line, event.literals);
        this.#isHandling = false;
        this.#endCommand();
      }
    }
    if (reader.isInCommand && !this.hasEnded) this.#endArrival ??= this.#watchArrival();
  }

  /** Releases what the current command uses. If the client is logged in, it may be silent for `LIMITS.imapIdle` from now on. */
  #endCommand(): void {
    this.#counter?.release();
    this.#counter = undefined;
    this.#endArrival?.();
    this.#endArrival = undefined;
    if (!this.isLoggedIn) return;
    this.#cancelLoginTimer();
    this.#socket.setTimeout(LIMITS.imapIdle.value);
  }

  /** Ends the connection if the current command does not arrive in time. A small command may arrive slowly. */
  #watchArrival(): () => void {
    return watchPace(this.#environment, {
      countReceived: () => this.#receivedBytes,
      withinMs: LIMITS.arrival.value,
      mayBeSlow: () => !this.#reader.takesRoom,
      onTooSlow: () => this.end('The command took too long to arrive'),
    });
  }

  async #untilTaken(): Promise<void> {
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** Gives the socket as much output as the client can receive. The rest waits until the client has read that. */
  #write(): void {
    const socket = this.#socket;
    socket.cork();
    while (this.#output.length > 0 && !socket.destroyed && !socket.writableNeedDrain) {
      const piece = this.#output.shift() ?? '';
      const part =
        typeof piece === 'string' ? piece.slice(0, LIMITS.socket.value) : piece.subarray(0, LIMITS.socket.value);
      const rest = typeof piece === 'string' ? piece.slice(LIMITS.socket.value) : piece.subarray(LIMITS.socket.value);
      if (rest.length > 0) this.#output.unshift(rest);
      this.#outputBytes -= part.length;
      socket.write(part, 'latin1');
    }
    socket.uncork();
    this.#settings.output.written(socket, 'imap', this.#outputBytes);
    if (this.#isEnding && this.#output.length === 0) socket.end();
    this.#wake();
  }
}
