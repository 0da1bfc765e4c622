import { randomUUID } from 'node:crypto';
import type { ControllableMailbox } from 'agent-mailbox-mock';
import { createMailbox } from 'agent-mailbox-mock';
import type { EvaluatedTask } from 'agent-mailbox-mock/evaluate';
import { type MailboxServer, startServer } from 'agent-mailbox-mock/server';
import { createTransport } from 'nodemailer';
import type { ObservedMailbox } from '../../src/control/verdicts/candidates.ts';
import { type ImapTalk, talkTo } from '../support/imap-talk.ts';

/** What an agent gets as a reply of the service. */
export interface Reply {
  readonly status: number;
  readonly json: { readonly [field: string]: unknown; readonly id: string };
}

/** A mail that arrived, as the service shows it. */
export interface ShownMail {
  readonly id: string;
  readonly direction: string;
  readonly from: string;
  readonly subject: string;
  readonly plainBody: string;
  readonly htmlBody: string | null;
  readonly messageIdHeader: string;
  readonly threadId: string;
}

/** A mail for SMTP, as nodemailer takes it. */
export interface Submitted {
  readonly to?: readonly string[];
  readonly cc?: readonly string[];
  readonly bcc?: readonly string[];
  readonly subject?: string;
  readonly text?: string;
  readonly html?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly inReplyTo?: string;
  readonly references?: string;
  readonly attachments?: readonly {
    readonly filename: string;
    readonly content: string;
    readonly contentType?: string;
  }[];
  /** The recipients of the envelope. Default: those of the header. */
  readonly envelopeTo?: readonly string[];
}

/** Where an agent works: its inbox, by the API, MCP, SMTP and IMAP. */
export class Scene {
  readonly #place: Place;
  /** The mails that the agent looks after, oldest first. */
  mails: readonly ShownMail[] = [];
  /** Another mail of the one who wrote them; undefined if there is none. */
  other: ShownMail | undefined;
  /** The two parts of the code in the last of them. */
  code: readonly [one: string, other: string] = ['', ''];

  constructor(place: Place) {
    this.#place = place;
  }

  get inbox(): string {
    return `/v1/inboxes/${this.#place.inboxId}`;
  }

  get address(): string {
    return this.#place.address;
  }

  /** The last mail. */
  get mail(): ShownMail {
    const mail = this.mails.at(-1);
    if (!mail) throw new Error('No mail has arrived.');
    return mail;
  }

  /** The bare address of the one who wrote the last mail. */
  get writer(): string {
    return /<([^<>]+)>$/.exec(this.mail.from)?.[1] ?? this.mail.from;
  }

  /** A person of the same organisation. */
  get owner(): string {
    return `billing@${this.address.split('@')[1]}`;
  }

  /** Sends a request. A path without `/v1` follows that of the inbox. */
  async call(method: string, path: string, json?: object): Promise<Reply> {
    const { fetch: ask, baseUrl, key } = this.#place;
    const body = json === undefined ? {} : { body: JSON.stringify(json) };
    const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
    const url = baseUrl + (path.startsWith('/v1') ? path : this.inbox + path);
    const reply = await ask(url, { method, headers, ...body });
    const text = await reply.text();
    return { status: reply.status, json: text.startsWith('{') ? JSON.parse(text) : {} };
  }

  /** Sends a request that must succeed. */
  async ask(method: string, path: string, json?: object): Promise<Reply['json']> {
    const reply = await this.call(method, path, json);
    if (reply.status >= 300) throw new Error(`${method} ${path} → ${reply.status}: ${JSON.stringify(reply.json)}`);
    return reply.json;
  }

  /** Reads a mail with everything in it: its text, and its bytes, in which its files are. */
  async read({ id }: ShownMail): Promise<void> {
    await this.ask('GET', `/messages/${id}`);
    await this.call('GET', `/messages/${id}/raw`);
  }

  /** Calls a tool of MCP, with the key of the inbox. */
  async tool(name: string, args: object): Promise<void> {
    const { fetch: ask, baseUrl, inboxKey } = this.#place;
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } });
    const headers = { 'X-API-Key': inboxKey, 'Content-Type': 'application/json' };
    const reply = await ask(`${baseUrl}/mcp`, { method: 'POST', headers, body });
    const text = await reply.text();
    if (!reply.ok || text.includes('"isError":true') || text.includes('"error":')) throw new Error(`${name}: ${text}`);
  }

  /** Sends a mail over SMTP. */
  async submit({ envelopeTo, ...mail }: Submitted): Promise<void> {
    const { login, ports } = this.#place;
    if (!login || ports.smtp === undefined) throw new Error('There is no SMTP here.');
    const auth = { user: login.user, pass: login.password };
    const transport = createTransport({ host: '127.0.0.1', port: ports.smtp, ignoreTLS: true, auth });
    const envelope = envelopeTo && { envelope: { from: login.user, to: [...envelopeTo] } };
    await transport.sendMail({
      from: login.user,
      messageId: `<${randomUUID()}@agent.test>`,
      ...mail,
      ...envelope,
    } as object);
    transport.close();
  }

  /** Opens a folder over IMAP, and lets the agent work in it. */
  async inFolder(folder: string, work: (talk: ImapTalk) => Promise<unknown>): Promise<void> {
    const { login, ports } = this.#place;
    if (!login || ports.imap === undefined) throw new Error('There is no IMAP here.');
    using talk = await talkTo(ports.imap);
    await talk.ok(`LOGIN ${login.user} "${login.password}"`);
    await talk.ok(`SELECT ${folder}`);
    await work(talk);
    await talk.ok('LOGOUT').catch(() => undefined);
  }

  /** Lets time pass. */
  async later(): Promise<void> {
    await this.#place.later();
  }

  /** Returns every mail of the inbox, oldest first. */
  async list(): Promise<ShownMail[]> {
    const { messages } = (await this.ask('GET', '/messages?limit=200')) as never as { messages: { id: string }[] };
    const all: ShownMail[] = [];
    for (const { id } of messages) all.push((await this.ask('GET', `/messages/${id}`)) as never);
    return all.reverse();
  }
}

/** What a scene needs of the place where it is. */
export interface Place {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly baseUrl: string;
  readonly key: string;
  readonly inboxKey: string;
  readonly inboxId: string;
  readonly address: string;
  readonly login: { readonly user: string; readonly password: string } | undefined;
  readonly ports: { readonly smtp: number | undefined; readonly imap: number | undefined };
  later(): Promise<void>;
}

/** A mailbox or a sandbox in which a scene is, with what judges it. */
export interface JudgedPlace extends Disposable {
  readonly place: Place;
  readonly mailbox: ControllableMailbox & ObservedMailbox;
}

/** Creates a mailbox in this process. It has no SMTP, IMAP or MCP. */
export function createPlace(options: { readonly journalSize?: number } = {}): JudgedPlace {
  const mailbox = createMailbox(options);
  const { keys, ids, baseUrl } = mailbox;
  return {
    mailbox: mailbox as never,
    place: {
      fetch: (url, init) => mailbox.fetch(new Request(url, init)),
      baseUrl,
      key: keys.acme.tenant,
      inboxKey: keys.acme.inboxes.helpdesk,
      inboxId: ids.acme.inboxes.helpdesk,
      address: 'helpdesk@acme.test',
      login: undefined,
      ports: { smtp: undefined, imap: undefined },
      later: async () => void (await mailbox.clock.advance('2h')),
    },
    [Symbol.dispose]: () => undefined,
  };
}

/** Starts a server for places that need SMTP, IMAP or MCP. */
export function startForPlaces(): Promise<MailboxServer> {
  return startServer({ port: 0, imapPort: 0, smtpPort: 0 });
}

/** Creates a sandbox of a server. */
export function createServedPlace({ mailbox, url, smtp, imap }: MailboxServer): JudgedPlace {
  const sandbox = mailbox.createSandbox({ refusals: 'all' });
  const { keys, ids, logins } = sandbox;
  return {
    mailbox: sandbox as never,
    place: {
      fetch,
      baseUrl: url,
      key: keys.tenant,
      inboxKey: keys.inboxes.helpdesk,
      inboxId: ids.inboxes.helpdesk,
      address: logins.helpdesk.user,
      login: logins.helpdesk,
      ports: { smtp: smtp?.port, imap: imap?.port },
      later: async () => void (await sandbox.clock.advance('2h')),
    },
    [Symbol.dispose]: () => sandbox.close(),
  };
}

/** The place of a trial of `evaluate`. */
export function placeOfTask({ baseUrl, keys, inboxId, address, login, ports }: EvaluatedTask): Place {
  return {
    fetch,
    baseUrl,
    key: keys.tenant,
    inboxKey: keys.inbox,
    inboxId,
    address,
    login,
    ports,
    later: () => new Promise((resolve) => void setTimeout(resolve, 20)),
  };
}
