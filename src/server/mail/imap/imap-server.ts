import type { Socket } from 'node:net';
import { MAX_MAIL_BYTES } from '../../../basics/size.ts';
import { NAME } from '../../../basics/version.ts';
import type { MailboxInternals } from '../../../mailbox/mailbox.ts';
import type { Output } from '../../../service/imap/fetch-items.ts';
import type { ByteCounter } from '../../intake.ts';
import { CLOSE_MS, type Listener } from '../../listener.ts';
import { createMailListener, encrypt, type MailServerSettings } from '../mail-listener.ts';
import { CommandReader, type ReadEvent } from './command-reader.ts';
import { FOLDER_COMMANDS } from './folder-commands.ts';
import { capabilitiesOf, LOGIN_COMMANDS } from './login-commands.ts';
import { MESSAGE_COMMANDS } from './message-commands.ts';
import { type Connection, createImapContext, type ImapContext, Session } from './session.ts';

/** How long a client may be silent before its login, and after its login (RFC 3501, section 5.4). */
const LOGIN_MS = 60_000;
const IDLE_MS = 30 * 60_000;

/** The time that a client has to receive the last output of a session. */
const GRACE_MS = 30_000;

/** When more output than this is collected, it is sent at once. */
const MAX_COLLECTED_BYTES = 64 * 1024;

const COMMANDS = [LOGIN_COMMANDS, FOLDER_COMMANDS, MESSAGE_COMMANDS];

/** How many clients can be connected at the same time. */
const MAX_CLIENTS = 1_000;

/** Creates a server over which IMAP clients read and change the mail of inboxes. */
export function createImapServer(internals: MailboxInternals, settings: MailServerSettings): Listener {
  const context = createImapContext(internals);
  const clients = new Set<ImapClient>();
  const listener = createMailListener(settings.tls, (socket, isSecure) => {
    const client = new ImapClient(context, settings, socket, isSecure);
    clients.add(client);
    socket.once('close', () => clients.delete(client));
    client.greet(clients.size > MAX_CLIENTS ? 'There are too many connections' : undefined);
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
  readonly #session: Session;
  /** Counts the bytes of the mail in the current command. */
  #counter: ByteCounter;
  #reader: CommandReader;
  #socket: Socket;
  /** The output that was not sent yet. A text that follows another text is appended to it. */
  #output: Output = [];
  #outputBytes = 0;
  #isEnding = false;
  isSecure: boolean;

  constructor(context: ImapContext, settings: MailServerSettings, socket: Socket, isSecure: boolean) {
    this.#settings = settings;
    this.#socket = socket;
    this.isSecure = isSecure;
    this.#counter = settings.intake.createCounter();
    this.#reader = this.#createReader();
    this.#session = new Session(context, this, COMMANDS);
    this.#listen();
  }

  get mayStartTls(): boolean {
    return this.#settings.tls !== undefined;
  }

  get refusesLogin(): boolean {
    return this.#settings.tlsRequired && !this.isSecure;
  }

  /** Sends the greeting or, if there is a reason to refuse the client, ends the connection. */
  greet(refusal: string | undefined): void {
    if (refusal === undefined) {
      this.send(`* OK [CAPABILITY ${capabilitiesOf(this.#session)}] ${NAME}\r\n`);
      this.#write();
    } else this.end(refusal);
  }

  send(...output: Output): void {
    for (const piece of output) {
      const last = this.#output.at(-1);
      if (typeof piece === 'string' && typeof last === 'string') this.#output.splice(-1, 1, last + piece);
      else this.#output.push(piece);
      this.#outputBytes += piece.length;
    }
    if (this.#outputBytes > MAX_COLLECTED_BYTES) this.#write();
  }

  flush(): Promise<void> {
    this.#write();
    return this.drain();
  }

  async drain(): Promise<void> {
    const socket = this.#socket;
    if (!socket.writableNeedDrain || socket.destroyed) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        socket.off('drain', done).off('close', done);
        resolve();
      };
      socket.on('drain', done).on('close', done);
    });
  }

  end(reason?: string, graceMs = GRACE_MS): void {
    if (this.#isEnding) return;
    if (reason !== undefined) this.send(`* BYE ${reason}.\r\n`);
    this.#write();
    this.#isEnding = true;
    const socket = this.#socket;
    socket.end();
    setTimeout(() => socket.destroy(), graceMs).unref();
  }

  cut(): void {
    this.#isEnding = true;
    this.#socket.destroy();
  }

  startTls(): void {
    const { tls } = this.#settings;
    if (!tls) return;
    this.#write();
    // The bytes that the client sent before the handshake are not encrypted, so they are ignored.
    this.#socket.removeAllListeners('data').removeAllListeners('timeout').setTimeout(0);
    this.#socket = encrypt(this.#socket, tls);
    this.isSecure = true;
    this.#reader = this.#createReader();
    this.#listen();
  }

  #createReader(): CommandReader {
    return new CommandReader((bytes) => {
      if (!this.#session.account) return 'NO Log in first.';
      if (bytes > MAX_MAIL_BYTES) return 'NO [TOOBIG] The message is larger than 10 MiB.';
      const refusal = this.#counter.add(bytes);
      return refusal && `NO [UNAVAILABLE] ${refusal.message}`;
    });
  }

  #listen(): void {
    const socket = this.#socket;
    socket.setNoDelay(true);
    socket.setTimeout(this.#session?.account ? IDLE_MS : LOGIN_MS);
    socket.on('timeout', () => this.end('You were silent for too long'));
    socket.once('close', () => {
      if (socket !== this.#socket) return;
      this.#counter.release();
      this.#session.leave();
    });
    socket.on('data', (chunk: Buffer) => {
      socket.pause();
      this.#read(chunk, this.#reader).then(() => socket.resume());
    });
  }

  /** Handles what a client has sent, one command after the other. */
  async #read(chunk: Buffer, reader: CommandReader): Promise<void> {
    const wasLoggedIn = this.#session.account;
    for (const event of reader.read(chunk)) {
      await this.#handle(event);
      // After STARTTLS, the rest of the chunk is ignored, because it was sent before TLS.
      if (this.#isEnding || this.#reader !== reader) return;
    }
    await this.flush();
    if (!wasLoggedIn && this.#session.account) this.#socket.setTimeout(IDLE_MS);
  }

  async #handle(event: ReadEvent): Promise<void> {
    if (event === 'continue') {
      this.send('+ Send the literal.\r\n');
      return;
    }
    if (event.refusal !== undefined) this.#session.refuse(event.line, event.refusal);
    else await this.#session.handle(event.line, event.literals);
    this.#counter.release();
    this.#counter = this.#settings.intake.createCounter();
  }

  /** Sends the output that was collected. */
  #write(): void {
    const output = this.#output;
    this.#output = [];
    this.#outputBytes = 0;
    if (this.#isEnding || this.#socket.destroyed) return;
    for (const piece of output) this.#socket.write(piece, 'latin1');
  }
}
