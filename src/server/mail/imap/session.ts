import { performance } from '../../../basics/real-timers.ts';
import type { Work } from '../../../basics/work.ts';
import { ApiError } from '../../../contract/errors.ts';
import type { MailboxInternals } from '../../../mailbox/mailbox.ts';
import type { InboxPrincipal } from '../../../service/access/principal.ts';
import { CommandError, RefusedCommand } from '../../../service/imap/argument.ts';
import type { Output } from '../../../service/imap/fetch-items.ts';
import { type ImapInbox, ImapInboxes } from '../../../service/imap/imap-inbox.ts';
import { MailReader, OpenMails } from '../../../service/imap/mail-reader.ts';
import { FolderView } from '../../../service/imap/view.ts';
import type { ShownMails } from '../../../service/journal/entry-data.ts';
import type { Entry } from '../../../service/journal/entry-kinds.ts';
import { type MailContext, mailContextOf } from '../../../service/mail/store-message.ts';
import { recordCommand } from '../../../service/pipeline/record-exchange.ts';
import type { ImapFault, ImapFaultKind } from '../../../world/fault.ts';
import type { Cause } from '../../../world/journal/entry.ts';
import { canonicalAddress, type World } from '../../../world/store/world.ts';
import { LIMITS } from '../../server-limits.ts';
import { WorkQueue } from '../../work-queue.ts';
import { badLine, type LastLine, refusalLine } from './last-line.ts';
import { type Command, parseCommand } from './parse-command.ts';

/** Creates the context that all sessions of a server share. `queue` runs the long work of all protocols. */
export function createImapContext({ service, environment, report }: MailboxInternals, queue = new WorkQueue()) {
  let lastValidity = 0;
  /** Returns a UIDVALIDITY that was not used before. */
  const nextUidValidity = () => {
    lastValidity = Math.max(lastValidity + 1, Math.floor(environment.now().getTime() / 1000));
    return lastValidity;
  };
  const inboxesOf = service.worlds.addPart('imap', (world: World) => new ImapInboxes(world, nextUidValidity()));
  return {
    service,
    environment,
    report,
    nextUidValidity,
    /** Runs the long commands of all sessions. */
    queue,
    /** The mails that the sessions have read last. */
    openMails: new OpenMails(),
    openInbox: ({ world, inboxId }: InboxPrincipal) => inboxesOf(world).open(inboxId),
    takeFault(kind: ImapFaultKind, { world, inboxId }: InboxPrincipal): ImapFault | undefined {
      const row = world.inboxes.get(inboxId);
      return service.faults.useFirst({ on: 'imap', world, inbox: row && canonicalAddress(row), kinds: [kind] });
    },
  };
}

/** The context that all sessions of a server share. */
export type ImapContext = ReturnType<typeof createImapContext>;

/** The error with which a command ends early, because its connection has ended. Nobody would see a reply. */
export class ConnectionEnded extends Error {
  override readonly name = 'ConnectionEnded';
}

/** The connection of a session. */
export interface Connection {
  /** Whether the connection is encrypted. */
  readonly isSecure: boolean;
  /** Whether the server has a certificate, so that the client may send STARTTLS. */
  readonly mayStartTls: boolean;
  /** Whether a login is refused, because the connection is not encrypted. */
  readonly refusesLogin: boolean;
  /** Whether the connection has ended or is about to end, so that no more commands run. */
  readonly hasEnded: boolean;
  /** Adds output. It is sent in pieces, as the client reads it. After `end`, it is ignored. */
  send(...output: Output): void;
  /** Sends the collected output, and waits like `drain`. */
  flush(): Promise<void>;
  /**
   * Waits until the client has read so much that more output may be added. A command with long output calls it after
   * each piece. @throws {ConnectionEnded}
   */
  drain(): Promise<void>;
  /** Ends the connection after everything was sent. */
  end(): void;
  /** Ends the connection at once. */
  cut(): void;
  /** Begins TLS after everything was sent. @throws {ConnectionEnded} */
  startTls(): Promise<void>;
}

/** The inbox that a session is logged in to, with what the commands need for it. */
export interface Account {
  readonly principal: InboxPrincipal;
  readonly inbox: ImapInbox;
  readonly context: MailContext;
  readonly reader: MailReader;
}

/** What the reply to a command says, and what the journal shows of it. */
export interface CommandResult {
  /** Whether there is nothing to reply now: the command has replied itself, or waits for another line of the client. */
  readonly needsNoReply?: true;
  /** The text after OK, with a response code if there is one: `[READ-WRITE] SELECT is done.` */
  readonly text?: string;
  /** The messages that the command read or changed. The journal shows the command only if this list is given. */
  readonly messageIds?: readonly string[];
  /** What the reply has shown of these messages. Default: nothing. */
  readonly shown?: readonly ShownMails[];
  /** Why the command is refused although it has done a part of its work, such as the FETCH of two messages of three. */
  readonly refusal?: RefusedCommand | undefined;
}

type Arguments<State> = [state: State, args: Command['args'], command: Command];

/**
 * The function of a command. It gets the state of the session, the arguments and the command itself. It returns nothing
 * if the reply says only that the command is done.
 */
export type RunCommand<State> =
  | ((...args: Arguments<State>) => CommandResult | Promise<CommandResult>)
  | ((...args: Arguments<State>) => void);

/** The result of a command that needs no reply now. */
export const NO_REPLY: CommandResult = { needsNoReply: true };

/** A session after its login. */
export interface LoggedIn extends Account {
  readonly session: Session;
}

/** A session with an open folder. */
export interface FolderOpen extends LoggedIn {
  readonly view: FolderView;
}

/** The commands that need a state, by their names. */
type Commands<State> = Readonly<Record<string, RunCommand<State>>>;

/**
 * Commands by the state that they need: `any` state, `before` the login, after the `login`, or with an open `folder`.
 * The commands for `messages` also need an open folder, and only these may have UID before their names.
 */
export interface CommandTable {
  readonly any?: Commands<Session>;
  readonly before?: Commands<Session>;
  readonly login?: Commands<LoggedIn>;
  readonly folder?: Commands<FolderOpen>;
  readonly messages?: Commands<FolderOpen>;
}

/** What a command does with the next line of the client. */
interface Continuation {
  readonly command: Command;
  /** Whether the command is IDLE. Its client gets each change at once. */
  readonly isIdle: boolean;
  continue(line: string): unknown;
}

/**
 * The commands whose reply must not report removed messages (RFC 3501, section 7.4.1), because that would change the
 * numbers by which the client names messages.
 */
const COMMANDS_BY_NUMBER = new Set(['FETCH', 'STORE', 'SEARCH']);

/** The session of an IMAP client. */
export class Session {
  readonly shared: ImapContext;
  readonly connection: Connection;
  /** The inbox of the login; `undefined` before the login. */
  account: Account | undefined;
  /** The open folder. */
  view: FolderView | undefined;
  /** Whether the client has sent ID. */
  hasSentId = false;
  /** The user that the present login names. */
  loginUser: string | undefined;
  /** How many logins were refused in this session. */
  wrongLogins = 0;
  /** The faults that apply to this whole session. */
  readonly faults = new Map<ImapFaultKind, ImapFault>();
  readonly #commands: readonly CommandTable[];
  /** The command that waits for the next line of the client; `undefined` if the next line is a new command. */
  #continuation: Continuation | undefined;
  #wrongCount = 0;
  #commandCount = 0;
  /** Resolves when the changes that are being sent to an idle client have been sent. */
  #idleUpdates: Promise<void> | undefined;
  #hasNewChanges = false;
  /** Whether `leave` was called. */
  #hasEnded = false;
  /** The functions to call when the connection has ended. */
  readonly #endCallbacks: (() => void)[] = [];
  /** What the journal needs of the present command: its name, and the entries that it has caused, with their cause. */
  #present = startOf('');

  constructor(shared: ImapContext, connection: Connection, commands: readonly CommandTable[]) {
    this.shared = shared;
    this.connection = connection;
    this.#commands = commands;
  }

  /** Sends an untagged reply of one line. What a client or a mail contributes to it cannot end the line. */
  sendUntagged(line: string): void {
    this.connection.send(`* ${toAscii(line)}\r\n`);
  }

  /** Handles a line of the client. The promise never rejects. */
  async handle(line: string, literals: readonly Uint8Array<ArrayBuffer>[]): Promise<void> {
    const { command, continuation, recordedLine } = this.#findCommand(line, literals);
    await this.#runAndReply(command, recordedLine, () => {
      if (continuation) return continuation.continue(line);
      if (command.problem) throw command.problem;
      return this.#run(command);
    });
    // If the connection has ended while the command ran, the command may have opened a folder, which must be closed.
    if (this.#hasEnded) this.leave();
  }

  /** Refuses a line that could not be read completely, such as one that is too long. The promise never rejects. */
  async refuse(line: string, refusal: LastLine): Promise<void> {
    const { command, recordedLine } = this.#findCommand(line, []);
    await this.#sendAfter(() => this.#reply(command, recordedLine, refusal));
  }

  /** Finds the command that a line continues or begins, and what the journal may show of the line. */
  #findCommand(line: string, literals: readonly Uint8Array<ArrayBuffer>[]) {
    const continuation = this.#continuation;
    this.#continuation = undefined;
    if (continuation) {
      const { command } = continuation;
      // The further lines of a login contain its password, so the journal does not get them.
      return { command, continuation, recordedLine: `${command.tag} ${command.name}` };
    }
    const command = parseCommand(line, literals);
    this.#present = startOf(fullName(command));
    return { command, continuation, recordedLine: line };
  }

  /** Lets a command wait for the next line of the client. */
  continueWith(continuation: Continuation): CommandResult {
    this.#continuation = continuation;
    return NO_REPLY;
  }

  /** Runs a command, or the rest of it, and replies to it. */
  async #runAndReply(command: Command, line: string, work: () => unknown): Promise<void> {
    await this.#sendAfter(async () => {
      try {
        const done = ((await work()) ?? {}) as CommandResult;
        if (done.needsNoReply) return;
        const lastLine: LastLine = done.refusal
          ? this.#describe(done.refusal)
          : { result: 'OK', text: done.text ?? `${command.name} is done.` };
        await this.#reply(command, line, lastLine, done);
      } catch (error) {
        if (error instanceof ConnectionEnded) throw error;
        await this.#reply(command, line, this.#describe(error));
      }
    });
  }

  /** Does some work, and then sends its output. If the connection ends, no more is done. */
  async #sendAfter(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      await this.connection.flush();
    } catch (error) {
      if (!(error instanceof ConnectionEnded)) this.shared.report(error);
    }
  }

  async #run(command: Command): Promise<unknown> {
    const run = this.#prepare(command);
    await this.#applyFaults();
    return run();
  }

  /**
   * Finds the function of a command, and returns a call of it with the state that it needs.
   *
   * @throws {CommandError} if there is no such command, or if the session is in another state.
   */
  #prepare(command: Command): () => unknown {
    const { name, args, isUid } = command;
    for (const { any, before, login, folder, messages } of this.#commands) {
      const runInFolder = messages?.[name] ?? (isUid ? undefined : folder?.[name]);
      if (runInFolder) {
        const state = this.#needFolder();
        return () => runInFolder(state, args, command);
      }
      if (isUid) continue;
      const runAfterLogin = login?.[name];
      if (runAfterLogin) {
        const state = this.#needLogin();
        return () => runAfterLogin(state, args, command);
      }
      if (before?.[name] && this.account) throw new CommandError('The session is logged in already.');
      const run = any?.[name] ?? before?.[name];
      if (run) return () => run(this, args, command);
    }
    throw new CommandError(`There is no command ${fullName(command).slice(0, 50)}.`);
  }

  /** Opens the inbox of a login, and takes the faults that apply to the whole session. */
  logIn(principal: InboxPrincipal): void {
    const { shared } = this;
    const inbox = shared.openInbox(principal);
    const context = mailContextOf(shared.service, 'imap', principal.world);
    this.account = {
      principal,
      inbox,
      context,
      reader: new MailReader(inbox, context.readBehaviour, shared.openMails),
    };
    inbox.endings.add(this.sendBye);
    this.#endCallbacks.push(() => inbox.endings.delete(this.sendBye), shared.service.worlds.keepOpen(principal.world));
    for (const kind of ['id-required', 'disconnect', 'slow'] as const) {
      const fault = this.takeFault(kind);
      if (fault) this.faults.set(kind, fault);
    }
    const { delayMs = 0, commands = null } = this.faults.get('disconnect') ?? {};
    const cutsAfterDelay = this.faults.has('disconnect') && commands === null;
    if (cutsAfterDelay) this.#endCallbacks.push(shared.environment.setTimer(delayMs, () => this.connection.cut()));
  }

  /** Opens a folder. From now on, the client gets the changes of this folder. */
  openFolder(inbox: ImapInbox, name: keyof ImapInbox['folders'], isReadOnly: boolean): FolderView {
    this.closeFolder();
    this.view = new FolderView(inbox, inbox.folders[name], isReadOnly, () => this.sendChangesWhileIdle());
    return this.view;
  }

  /** Closes the open folder. */
  closeFolder(): void {
    this.view?.close();
    this.view = undefined;
  }

  /** Sends a BYE with the reason, and ends the session. */
  readonly sendBye = (reason: string): void => {
    this.sendUntagged(`BYE ${reason}.`);
    this.connection.end();
    this.leave();
  };

  /** Releases everything that the session uses, after the connection has ended. */
  leave(): void {
    this.#hasEnded = true;
    this.closeFolder();
    for (const end of this.#endCallbacks.splice(0)) end();
  }

  /** Uses the fault of this kind that applies to the inbox, and returns it; `undefined` if there is none. */
  takeFault(kind: ImapFaultKind, principal = this.account?.principal): ImapFault | undefined {
    return principal && this.shared.takeFault(kind, principal);
  }

  /**
   * Sends the changes of the open folder, as the client reads them. Removed messages are reported only if `mayExpunge`
   * is true.
   */
  async #sendUpdates(mayExpunge: boolean): Promise<void> {
    const { view } = this;
    if (!view) return;
    const updates = view.takeUpdates(mayExpunge);
    for (;;) {
      const step = await this.shared.queue.next(updates, () => view.isClosed);
      if (!step || step.done) return;
      const line = step.value;
      this.sendUntagged(line);
      if (line.endsWith(' EXISTS') && this.takeFault('repeated-exists')) {
        this.sendUntagged(line);
        this.sendUntagged(line);
      }
      await this.connection.drain();
    }
  }

  #needLogin(): LoggedIn {
    if (this.account) return { ...this.account, session: this };
    throw new CommandError('Log in first.');
  }

  #needFolder(): FolderOpen {
    const state = this.#needLogin();
    if (this.view) return { ...state, view: this.view };
    throw new CommandError('Open a folder by SELECT or EXAMINE first.');
  }

  /**
   * Does long work in slices. It is completed also if the connection ends, but not after the end of the inbox, such as by
   * a reset: the result is then `undefined`.
   */
  complete<Result>(inbox: ImapInbox, work: Work<Result>): Promise<Result | undefined> {
    return this.shared.queue.run(this.#changeStepByStep(work), () => inbox.hasEnded);
  }

  /** Does the synchronous work of the present command that changes mail, so that the journal names the command. */
  change<Result>(work: () => Result): Result {
    const { name, cause, entries } = this.#present;
    return this.shared.service.journals.runFor(name, cause, entries, work);
  }

  *#changeStepByStep<Result>(work: Work<Result>): Work<Result> {
    for (;;) {
      const step = this.change(() => work.next());
      if (step.done) return step.value;
      yield;
    }
  }

  /** Applies the faults of the session before a command. */
  async #applyFaults(): Promise<void> {
    const slow = this.faults.get('slow');
    if (slow) await this.shared.service.faults.wait(slow.delayMs, this.account?.principal.world);
    if (this.account) this.#commandCount += 1;
    if (this.#commandCount > (this.faults.get('disconnect')?.commands ?? Number.POSITIVE_INFINITY))
      this.connection.cut();
    // The connection may also have ended while the session was slow.
    if (this.connection.hasEnded) throw new ConnectionEnded();
    const { folder } = this.view ?? {};
    if (folder && this.takeFault('new-uidvalidity')) {
      folder.uidValidity = this.shared.nextUidValidity();
      this.sendUntagged(`OK [UIDVALIDITY ${folder.uidValidity}] The UIDs are no longer valid.`);
    }
  }

  async #reply(command: Command, line: string, lastLine: LastLine, done: CommandResult = {}): Promise<void> {
    const { result, text } = lastLine;
    if (result === 'BAD' && !this.account) this.#wrongCount += 1;
    if (done.messageIds || result !== 'OK') this.#record(command, line, lastLine, done);
    await this.#idleUpdates;
    await this.#sendUpdates(command.isUid || !COMMANDS_BY_NUMBER.has(command.name));
    this.connection.send(`${command.tag} ${toAscii(`${result} ${text}`)}\r\n`);
    if (this.#wrongCount >= LIMITS.imapWrongCommands.value) this.sendBye('Too many wrong commands');
    if (this.wrongLogins >= LIMITS.wrongLogins.value) this.sendBye('Too many wrong logins');
  }

  /** Records a command in the journal, without the password of a login. */
  #record(command: Command, line: string, lastLine: LastLine, { messageIds = [], shown }: CommandResult): void {
    const isLogin = command.name === 'LOGIN' || command.name === 'AUTHENTICATE';
    const { result } = lastLine;
    // A wrong command before the login may be a login with a wrong name, and have a password.
    const mayHavePassword = isLogin || !this.account;
    const text = mayHavePassword ? line.replace(/^(\S+ \S+).*$/s, '$1') : line.replaceAll('\r\n', '');
    recordCommand(this.shared.service, {
      call: { protocol: 'imap', command: fullName(command).slice(0, MAX_SHOWN_NAME), result },
      principal: this.account?.principal,
      text,
      messageIds,
      shown,
      path: this.view?.folder.name ?? '',
      user: isLogin ? this.loginUser : undefined,
      reply: lastLine.text.replace(/^\[CAPABILITY [^\]]*\] /, ''),
      startedMs: this.#present.startedMs,
      caused: this.#present.entries,
      cause: this.#present.cause,
    });
    this.loginUser = undefined;
  }

  #describe(error: unknown): LastLine {
    if (error instanceof CommandError) return badLine(error.message);
    if (error instanceof RefusedCommand) return refusalLine(error.message, error.code);
    if (error instanceof ApiError) {
      return refusalLine(error.message, error.code === 'STORAGE_FULL' ? 'OVERQUOTA' : undefined);
    }
    this.shared.report(error);
    return refusalLine('The emulator failed because of a bug in it.', 'SERVERBUG');
  }

  /**
   * Sends changes to a client that waits for them. Changes that happen at the same moment are sent together. While the
   * client does not read, nothing is sent or computed; when it reads again, it gets what has changed since.
   */
  sendChangesWhileIdle(): void {
    if (!this.#continuation?.isIdle) return;
    this.#hasNewChanges = true;
    this.#idleUpdates ??= this.#sendIdleUpdates();
  }

  async #sendIdleUpdates(): Promise<void> {
    try {
      await this.connection.drain();
      while (this.#hasNewChanges && this.#continuation?.isIdle) {
        this.#hasNewChanges = false;
        await this.#sendUpdates(true);
        await this.connection.flush();
      }
    } catch (error) {
      if (!(error instanceof ConnectionEnded)) this.shared.report(error);
    }
    this.#idleUpdates = undefined;
  }
}

/** Returns what the journal needs of a command that has not caused anything yet. */
function startOf(name: string): Present {
  return { name, startedMs: performance.now(), entries: [], cause: {} };
}

interface Present {
  readonly name: string;
  readonly startedMs: number;
  readonly entries: Entry[];
  readonly cause: Cause;
}

/** How much of the name of a command the journal shows: a client may send any word. */
const MAX_SHOWN_NAME = 50;

/**
 * Returns a text as a reply may contain it (RFC 3501, section 9): printable ASCII in one line. A client chooses a part
 * of the text, such as the name of a folder.
 */
function toAscii(text: string): string {
  return text.replace(/[^ -~]/g, '?');
}

function fullName({ name, isUid }: Command): string {
  return isUid ? `UID ${name}` : name;
}
