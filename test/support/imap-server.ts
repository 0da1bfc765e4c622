import type { MailboxServer, ServerOptions } from 'agent-mailbox-mock/server';
import { startServer } from 'agent-mailbox-mock/server';
import { type ImapTalk, talkTo } from './imap-talk.ts';
import { send } from './send.ts';

/** The login of an inbox. */
export interface Login {
  readonly user: string;
  readonly password: string;
}

/** Returns the login of the inbox helpdesk of Acme, or of another one by its user name. */
export function loginOf({ mailbox }: Pick<MailboxServer, 'mailbox'>, username = 'helpdesk'): Login {
  const inboxes = mailbox.snapshot().tenants.flatMap((tenant) => tenant.inboxes);
  const inbox = inboxes.find((each) => each.username === username && each.deletedAt === null);
  if (!inbox) throw new Error(`There is no inbox ${username}.`);
  return { user: `${inbox.username}@${inbox.domain}`, password: inbox.imapPassword };
}

/** A server with IMAP and SMTP, and what tests do with it. */
export class ImapTestServer implements AsyncDisposable {
  readonly server: MailboxServer;
  readonly imapPort: number;
  readonly smtpPort: number;
  readonly #talks: ImapTalk[] = [];

  constructor(server: MailboxServer) {
    this.server = server;
    this.imapPort = server.imap?.port ?? 0;
    this.smtpPort = server.smtp?.port ?? 0;
  }

  get login(): Login {
    return loginOf(this.server);
  }

  /** Opens a connection. */
  async connect(): Promise<ImapTalk> {
    const talk = await talkTo(this.imapPort);
    this.#talks.push(talk);
    return talk;
  }

  /** Opens a session, in a folder if one is given. */
  async session(folder?: string, { user, password } = this.login): Promise<ImapTalk> {
    const talk = await this.connect();
    await talk.ok(`LOGIN ${user} "${password}"`);
    if (folder !== undefined) await talk.ok(`SELECT ${folder}`);
    return talk;
  }

  /** Calls the API with the key of the inbox helpdesk of Acme; the path follows that of the inbox. */
  async api(method: string, path: string, body?: unknown) {
    const { keys, ids } = this.server.mailbox;
    const key = keys.acme.inboxes.helpdesk;
    return send(`${this.server.url}/v1/inboxes/${ids.acme.inboxes.helpdesk}${path}`, method, {
      key,
      ...(body !== undefined && { json: body }),
    });
  }

  /** Lets a mail arrive from outside, and returns its id. */
  async receive(subject: string, text = 'Hello'): Promise<string> {
    const message = { to: this.login.user, from: 'Zoe <zoe@customer.test>', subject, plainBody: text };
    const [received] = await this.server.mailbox.receiveMessage(message);
    return received?.id ?? '';
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const talk of this.#talks) talk[Symbol.dispose]();
    await this.server.close();
  }
}

/** Starts a server with IMAP and SMTP. */
export async function startImap(options: Omit<ServerOptions, 'fixtures'> = {}): Promise<ImapTestServer> {
  return new ImapTestServer(await startServer({ port: 0, imapPort: 0, smtpPort: 0, ...options }));
}

/** Returns a mail with CRLF line ends. */
export function toMail(text: string): Uint8Array {
  return Buffer.from(text.replace(/\r?\n/g, '\r\n'), 'latin1');
}
