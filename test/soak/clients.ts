import { once } from 'node:events';
import { ImapFlow } from 'imapflow';
import { createTransport } from 'nodemailer';
import WebSocket from 'ws';
import { type ControlClient, createControlClient } from '../../src/control/table/client.ts';
import type { Emulator } from './emulator.ts';
import { KilledError } from './facts.ts';

/** The inboxes that get mail, by their handles. */
export const INBOXES = ['helpdesk', 'billing', 'outreach'] as const;
export type Handle = (typeof INBOXES)[number];

/** Thrown for a reply that the emulator should not give. */
export class UnexpectedError extends Error {}

/** An event that an observer has seen, of a mail with a subject. */
export type Seen = (subject: string) => void;

/** The clients of one process of the emulator. After it was killed, each call rejects with a `KilledError`. */
export class Clients {
  readonly #emulator: Emulator;
  readonly #life: number;
  readonly control: ControlClient;
  readonly imap = new Map<Handle, ImapFlow>();
  readonly #sockets: WebSocket[] = [];
  readonly #transports: { close(): void }[] = [];
  #logins: Readonly<Record<Handle, { user: string; pass: string }>> | undefined;
  #outside: ReturnType<typeof createTransport> | undefined;
  readonly #inside = new Map<Handle, ReturnType<typeof createTransport>>();

  constructor(emulator: Emulator) {
    this.#emulator = emulator;
    this.#life = emulator.life;
    const { control } = emulator.ready;
    this.control = createControlClient({
      control,
      send: (url, init) => this.guard(async () => refuseFailure(await fetch(url, init))),
    });
  }

  /** Opens the connections that last: SMTP, IMAP and WebSockets. */
  async open(onEvent: Seen, onFeed: () => void): Promise<void> {
    const { ids, keys, smtp, imap, url } = this.#emulator.ready;
    const logins = await Promise.all(
      INBOXES.map(async (handle) => {
        const { canonicalEmail, imapPassword } = await this.call('GET', `/v1/inboxes/${ids.acme?.inboxes[handle]}`);
        return [handle, { user: String(canonicalEmail), pass: String(imapPassword) }] as const;
      }),
    );
    this.#logins = Object.fromEntries(logins) as Record<Handle, { user: string; pass: string }>;
    const server = { host: '127.0.0.1', port: smtp.port, pool: true, maxConnections: 3, maxMessages: 50 } as const;
    this.#outside = createTransport(server);
    this.#transports.push(this.#outside);
    for (const handle of INBOXES) {
      const inside = createTransport({ ...server, auth: this.#logins[handle], ignoreTLS: true });
      this.#inside.set(handle, inside);
      this.#transports.push(inside);
      const client = new ImapFlow({
        host: '127.0.0.1',
        port: imap.port,
        secure: false,
        auth: this.#logins[handle],
        logger: false,
      });
      client.on('error', () => {});
      await this.guard(() => client.connect());
      this.imap.set(handle, client);
    }
    for (const key of [keys.tenant, keys.workspace]) {
      const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/ws`, { headers: { 'X-API-Key': key } });
      socket.on('error', () => {});
      socket.on('message', (data) => {
        const frame = JSON.parse(String(data));
        if (frame.type === 'event' && key === keys.tenant) onEvent(frame.thread.subject);
      });
      await this.guard(() => once(socket, 'open'));
      socket.send(JSON.stringify({ type: 'subscribe', event_types: ['message.received'] }));
      this.#sockets.push(socket);
    }
    void this.#readFeed(onFeed);
  }

  async #readFeed(onFeed: () => void): Promise<void> {
    try {
      for await (const _ of await this.control.readFeed()) onFeed();
    } catch (error) {
      // The stream ends when the emulator is killed.
      if (!this.isOver) throw error;
    }
  }

  /** Whether the process was killed. */
  get isOver(): boolean {
    return this.#emulator.life !== this.#life || this.#emulator.killedMs !== undefined;
  }

  /** Calls the emulator. An error after the process was killed is a `KilledError`. */
  async guard<Result>(call: () => Promise<Result>): Promise<Result> {
    try {
      const result = await call();
      return result;
    } catch (error) {
      if (this.isOver) throw new KilledError();
      throw error;
    }
  }

  /** Calls the API with the key of the tenant, or with another one. @throws {UnexpectedError} */
  // biome-ignore lint/suspicious/noExplicitAny: the replies of all operations.
  async call(method: string, path: string, json?: object, key = this.#emulator.ready.keys.tenant): Promise<any> {
    return this.guard(async () => {
      const headers = { 'X-API-Key': key, ...(json && { 'Content-Type': 'application/json' }) };
      const init: RequestInit = { method, headers };
      if (json) init.body = JSON.stringify(json);
      const response = await fetch(this.#emulator.ready.url + path, init);
      const text = await response.text();
      if (!response.ok) throw new UnexpectedError(`${method} ${path}: ${response.status} ${text.slice(0, 200)}`);
      return response.headers.get('content-type')?.startsWith('application/json') ? JSON.parse(text) : text;
    });
  }

  /** Returns the status for a key. */
  async statusFor(key: string): Promise<number> {
    return this.guard(async () => {
      const response = await fetch(`${this.#emulator.ready.url}/v1/me`, { headers: { 'X-API-Key': key } });
      await response.text();
      return response.status;
    });
  }

  addressOf(handle: Handle): string {
    return this.#logins?.[handle].user ?? '';
  }

  inboxPath(handle: Handle): string {
    return `/v1/inboxes/${this.#emulator.ready.ids.acme?.inboxes[handle]}`;
  }

  get supportPath(): string {
    return `/v1/workspaces/${this.#emulator.ready.ids.acme?.workspaces.support}`;
  }

  /** Sends a mail over SMTP from outside, or with the login of an inbox. */
  async submit(mail: object, from?: Handle): Promise<void> {
    const transport = from === undefined ? this.#outside : this.#inside.get(from);
    await this.guard(async () => transport?.sendMail(mail));
  }

  close(): void {
    for (const transport of this.#transports) transport.close();
    for (const socket of this.#sockets) socket.terminate();
    for (const client of this.imap.values()) client.close();
  }
}

/** Throws on a reply that says that the emulator has failed. */
async function refuseFailure(response: Response): Promise<Response> {
  if (response.status < 500) return response;
  throw new UnexpectedError(`${response.url}: ${response.status} ${await response.text()}`);
}
