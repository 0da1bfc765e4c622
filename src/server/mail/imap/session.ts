import { ApiError } from '../../../contract/errors.ts';
import { CommandError, RefusedCommand } from '../../../service/imap/argument.ts';
import type { Output } from '../../../service/imap/fetch-items.ts';
import type { Item } from '../../../service/imap/folder.ts';
import type { ImapInbox } from '../../../service/imap/imap-inbox.ts';
import { MailReader } from '../../../service/imap/mail-reader.ts';
import { FolderView } from '../../../service/imap/view.ts';
import type { MailContext } from '../../../service/mail/store-message.ts';
import { type InboxPrincipal, isValidLogin } from '../../../service/pipeline/access/principal.ts';
import { recordCommand } from '../../../service/pipeline/exchange.ts';
import type { ImapFault, ImapFaultKind } from '../../../world/imap-fault.ts';
import type { ImapContext } from './imap-context.ts';
import { type Command, parseCommand, tagOf } from './parse-command.ts';

/** The connection of a session. */
export interface Connection {
  /** Whether it is encrypted, and whether it can be. */
  readonly isSecure: boolean;
  readonly mayStartTls: boolean;
  /** Whether a login is refused now, because it is not encrypted. */
  readonly refusesLogin: boolean;
  send(...output: Output): void;
  /** Sends what was collected, and waits like `drain`. */
  flush(): Promise<void>;
  /** Resolves when the client has received enough to be sent more. */
  drain(): Promise<void>;
  /** Ends the connection after what was sent. */
  end(): void;
  /** Ends the connection at once. */
  cut(): void;
  startTls(): void;
}

/** The inbox that a session is logged in to. */
export interface Account {
  readonly principal: InboxPrincipal;
  readonly inbox: ImapInbox;
  readonly context: MailContext;
  readonly reader: MailReader;
}

/** What a command returns: the text behind OK, and what the journal shows of it. */
export interface Done {
  /** The text, after a response code if there is one: `[READ-WRITE] SELECT is done.` */
  readonly text?: string;
  /** The messages that the command read or changed; the journal shows the command if they are given. */
  readonly messageIds?: readonly string[];
}

/** The code of a command. */
export type RunCommand = (session: Session, args: Command['args'], command: Command) => Done | Promise<Done>;

/** When a command can be used: at any time, before the login, after it, or with an open folder. */
export interface CommandRow {
  readonly when: 'any' | 'before' | 'login' | 'folder';
  readonly run: RunCommand;
}

/** How many wrong commands a client may send before its login. */
const MAX_WRONG = 20;

/** The commands that must not tell of removed messages, because they name messages by their numbers. */
const KEEPS_NUMBERS: ReadonlySet<string> = new Set(['FETCH', 'STORE', 'SEARCH']);

/** The session of an IMAP client. */
export class Session {
  readonly server: ImapContext;
  readonly connection: Connection;
  account: Account | undefined;
  view: FolderView | undefined;
  /** Takes the next line, which is no command, while a command waits for it. */
  continuation: ((line: string) => Promise<void>) | undefined;
  /** Whether the client waits for changes. */
  isIdle = false;
  hasSentId = false;
  /** The faults that happen to this session. */
  readonly faults = new Map<ImapFaultKind, ImapFault>();
  readonly #commands: Readonly<Record<string, CommandRow>>;
  #wrongCount = 0;
  #commandCount = 0;
  #isFlushPlanned = false;
  #cancelTimer = () => {};

  constructor(server: ImapContext, connection: Connection, commands: Readonly<Record<string, CommandRow>>) {
    this.server = server;
    this.connection = connection;
    this.#commands = commands;
  }

  untagged(line: string): void {
    this.connection.send(`* ${line}\r\n`);
  }

  /** Handles a line of the client. It never rejects. */
  async handle(line: string, literals: readonly Uint8Array<ArrayBuffer>[]): Promise<void> {
    const next = this.continuation;
    this.continuation = undefined;
    if (next) await next(line);
    else await this.#runLine(line, literals);
    await this.connection.flush();
  }

  refuse(line: string, reply: string): void {
    this.continuation = undefined;
    this.#reply({ tag: tagOf(line), name: '', args: [] }, line, reply);
  }

  async #runLine(line: string, literals: readonly Uint8Array<ArrayBuffer>[]): Promise<void> {
    let command: Command = { tag: tagOf(line), name: '', args: [] };
    try {
      command = parseCommand(line, literals);
      await this.runCommand(command, line);
    } catch (error) {
      this.#reply(command, line, this.#describe(error));
    }
  }

  /** Runs a command, or the rest of one. @throws what makes the reply NO or BAD. */
  async runCommand(command: Command, line: string): Promise<void> {
    const row = this.#commands[command.name];
    if (!row) throw new CommandError(`There is no command ${command.name.slice(0, 50)}.`);
    this.#check(row);
    await this.#applyFaults();
    if (!this.connection.isSecure && command.name === 'STARTTLS') return this.#startTls(command);
    this.finish(command, line, await row.run(this, command.args, command));
  }

  /** Sends the changes of the open folder and the reply of a command that is done. */
  finish(command: Command, line: string, done: Done): void {
    if (this.continuation) return;
    const { text = `${command.name} is done.` } = done;
    this.#reply(command, line, `OK ${text}`, done);
  }

  /** Refuses what a continued command threw. */
  fail(command: Command, line: string, error: unknown): void {
    this.#reply(command, line, this.#describe(error));
  }

  logIn(principal: InboxPrincipal): void {
    const { server } = this;
    const inbox = server.openInbox(principal);
    const context = server.mailContextOf(principal);
    this.account = { principal, inbox, context, reader: new MailReader(inbox, context.readBehaviour) };
    inbox.endings.add(this.bye);
    for (const kind of ['id-required', 'disconnect', 'slow'] as const) {
      const fault = this.takeFault(kind);
      if (fault) this.faults.set(kind, fault);
    }
    const { delayMs = 0, commands = null } = this.faults.get('disconnect') ?? {};
    const isTimed = this.faults.has('disconnect') && commands === null;
    if (isTimed) this.#cancelTimer = server.environment.setTimer(delayMs, () => this.connection.cut());
  }

  /** Opens a folder; changes of it reach the client from now on. */
  open(name: keyof ImapInbox['folders'], isReadOnly: boolean): FolderView {
    const { inbox } = this.#account;
    this.close();
    this.view = new FolderView(inbox, inbox.folders[name], isReadOnly, () => this.#planFlush());
    return this.view;
  }

  /** Closes the open folder. */
  close(): void {
    this.view?.close();
    this.view = undefined;
  }

  /** Ends the session with a reason. */
  readonly bye = (reason: string): void => {
    this.untagged(`BYE ${reason}.`);
    this.connection.end();
    this.leave();
  };

  /** Releases what the session has; the connection has ended. */
  leave(): void {
    this.close();
    this.#cancelTimer();
    this.account?.inbox.endings.delete(this.bye);
  }

  /** Takes a fault of this session, if there is one. */
  readonly takeFault = (kind: ImapFaultKind, principal = this.account?.principal): ImapFault | undefined =>
    principal && this.server.takeFault(kind, principal);

  /** Sends the changes of the open folder. */
  sendUpdates(mayExpunge: boolean): void {
    for (const line of this.view?.takeUpdates(mayExpunge) ?? []) {
      this.untagged(line);
      const isRepeated = / EXISTS$/.test(line) && this.takeFault('repeated-exists');
      if (isRepeated) for (let count = 0; count < 2; count += 1) this.untagged(line);
    }
  }

  /** Writes the ids of some items for the journal. */
  idsOf(items: readonly Item[]): string[] {
    return items.map(({ id }) => id);
  }

  get #account(): Account {
    if (this.account && isValidLogin(this.account.principal)) return this.account;
    throw new RefusedCommand('The inbox was deleted.');
  }

  #check({ when }: CommandRow): void {
    if (when === 'any') return;
    if (when === 'before' && this.account) throw new CommandError('The session is logged in already.');
    if (when !== 'before' && !this.account) throw new CommandError('Log in first.');
    if (when === 'folder' && !this.view) throw new CommandError('Open a folder by SELECT or EXAMINE first.');
  }

  #startTls(command: Command): void {
    if (!this.connection.mayStartTls) throw new CommandError('The server has no certificate for TLS.');
    this.#check({ when: 'before', run: () => ({}) });
    this.connection.send(`${command.tag} OK Begin TLS now.\r\n`);
    this.connection.startTls();
  }

  /** Lets the faults of the session happen before a command. */
  async #applyFaults(): Promise<void> {
    const slow = this.faults.get('slow');
    if (slow) await this.server.service.faults.wait(slow.delayMs, this.account?.principal.world);
    if (this.account) this.#commandCount += 1;
    if (this.#commandCount > (this.faults.get('disconnect')?.commands ?? Number.POSITIVE_INFINITY))
      this.connection.cut();
    const { folder } = this.view ?? {};
    if (folder && this.takeFault('new-uidvalidity')) {
      folder.uidValidity = this.server.nextUidValidity();
      this.untagged(`OK [UIDVALIDITY ${folder.uidValidity}] The UIDs are no longer valid.`);
    }
  }

  #reply(command: Command, line: string, reply: string, done: Done = {}): void {
    if (this.view) this.sendUpdates(!KEEPS_NUMBERS.has(command.name));
    if (reply.startsWith('BAD') && !this.account) this.#wrongCount += 1;
    if (done.messageIds || (!reply.startsWith('OK') && RECORDED.has(command.name))) {
      this.#record(command, line, reply, done.messageIds ?? []);
    }
    this.connection.send(`${command.tag} ${reply}\r\n`);
    if (this.#wrongCount >= MAX_WRONG) this.bye('Too many wrong commands');
  }

  /** Tells the journal of a command, without the password of a login. */
  #record(command: Command, line: string, reply: string, messageIds: readonly string[]): void {
    const isLogin = command.name === 'LOGIN' || command.name === 'AUTHENTICATE';
    const [kind = ''] = reply.split(' ');
    const status = { OK: 200, NO: isLogin ? 401 : 403 }[kind] ?? 400;
    const text = isLogin ? line.replace(/^(\S+ \S+).*$/s, '$1') : line.replaceAll('\r\n', '');
    recordCommand(this.server.service, {
      ...{ protocol: 'imap', principal: this.account?.principal, name: command.name, text, status, messageIds },
      ...{ path: this.view?.folder.name ?? '', reply: reply.replace(/^OK \[CAPABILITY [^\]]*\]/, 'OK') },
    });
  }

  #describe(error: unknown): string {
    if (error instanceof CommandError) return `BAD ${error.message}`;
    if (error instanceof RefusedCommand) return `NO ${error.code ? `[${error.code}] ` : ''}${error.message}`;
    if (error instanceof ApiError) return `NO ${error.code === 'STORAGE_FULL' ? '[OVERQUOTA] ' : ''}${error.message}`;
    this.server.report(error);
    return 'NO [SERVERBUG] The emulator failed because of a bug in it.';
  }

  /** Sends changes to a client that waits for them, those of one moment together. */
  #planFlush(): void {
    if (!this.isIdle || this.#isFlushPlanned) return;
    this.#isFlushPlanned = true;
    queueMicrotask(() => {
      this.#isFlushPlanned = false;
      if (this.isIdle) this.sendUpdates(true);
      this.connection.flush().catch(this.server.report);
    });
  }
}

/** The commands that the journal shows also if they are refused. */
const RECORDED: ReadonlySet<string> = new Set(
  ['LOGIN', 'AUTHENTICATE', 'APPEND', 'CLOSE', 'EXPUNGE'].concat(
    ['EXPUNGE', 'STORE', 'COPY', 'MOVE'].flatMap((name) => [name, `UID ${name}`]),
  ),
);
