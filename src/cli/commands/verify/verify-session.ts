import { randomBytes } from 'node:crypto';

/** What `verify` needs besides a tenant key to tell an entry of the ledger, or a statement of the document. */
export type Need = 'two tenants' | 'operator' | 'receiver' | 'mail from outside' | 'time';

/** A mail from outside: the fields of the control call `receiveMessage`. */
export type OutsideMail = Readonly<Record<string, unknown>>;

/** A call that the receiver of webhooks got. */
export interface ReceivedCall {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  /** When it arrived, and when its connection ended, in milliseconds. */
  readonly startMs: number;
  endMs?: number;
  /** Answers a call that hangs. */
  release(): void;
}

/** A receiver of webhooks for one experiment. */
export interface HookReceiver {
  readonly url: string;
  readonly calls: readonly ReceivedCall[];
  /** The answers to the next calls, in order; a later one is answered with 200. `hang` never answers. */
  readonly answers: (number | 'hang' | { readonly status: number; readonly headers: Record<string, string> })[];
}

/** A server that is held against the emulator, or the emulator itself. */
export interface Target {
  readonly baseUrl: string;
  readonly key: string;
  readonly secondKey?: string | undefined;
  readonly operatorKey?: string | undefined;
  /** Sends a request; the result is a complete reply. */
  send(url: string, init: RequestInit): Promise<Answer>;
  /** Makes an address at which deliveries arrive; missing if none can arrive. */
  readonly receive?: ((name: string) => HookReceiver) | undefined;
  /** Whether a run may wait for half a minute of real time. */
  readonly isSlow?: boolean | undefined;
  /** Lets time pass, in milliseconds; missing if `verify` may not wait. */
  readonly advance?: ((ms: number) => Promise<void>) | undefined;
  /** Delivers a mail from outside; missing if none can be sent. */
  readonly deliver?: ((mail: OutsideMail) => Promise<void>) | undefined;
}

/** A reply. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; an empty object if it is none. */
  // biome-ignore lint/suspicious/noExplicitAny: an experiment reads what another server sends.
  readonly body: any;
}

/** What a request has besides its method, path and body. */
interface Extra {
  /** The key; the tenant key if it is left out, none if it is empty. */
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An inbox of this run. */
export type OwnInbox = { readonly id: string; readonly email: string; readonly key: string; readonly path: string };

/** Thrown when an experiment cannot go on; the message says why. */
export class CannotTellError extends Error {
  override readonly name = 'CannotTellError';
}

/** The observation of an experiment that knows the value itself; the emulators need not run it. */
export class ToldValue {
  readonly value: string | undefined;
  constructor(value: string | undefined) {
    this.value = value;
  }
}

/** Collections whose items a run creates and must delete; what lies in an inbox goes with it. */
const COLLECTIONS = /^\/v1\/(?:webhooks|workspaces|inboxes|domains|tenants)$/;

/** The time to wait for something that happens on the other side, and between two looks, in milliseconds. */
const PATIENCE = { slow: 10_000, look: 10 };

/** The part of a run on one target: requests, and everything that they created, to be deleted at the end. */
export class Session {
  readonly target: Target;
  /** The name of the experiment that runs; what it creates has a name that begins with it. */
  name = '';
  /** The workspace of this run, in which every inbox and webhook lies, and its key. */
  workspace = { id: '', key: '' };
  /** The domain of new inboxes. */
  domain = '';
  /** The name of this run, which both sides have. */
  readonly run: string;
  /** The path of each thing that was created, with the key that may delete it. */
  readonly #created = new Map<string, string>();
  readonly #shared = new Map<unknown, unknown>();
  /** The operations that the experiment has called, as `METHOD /path`. */
  readonly calls = new Set<string>();
  #count = 0;
  /** Whether the last wait for a delivery was in vain. */
  #isUnreachable = false;

  constructor(target: Target, run = randomBytes(4).toString('hex')) {
    this.target = target;
    this.run = run;
  }

  /** Creates the workspace of this run. */
  async open(): Promise<void> {
    this.begin('setup');
    const workspace = await this.add('/v1/workspaces', { name: `verify ${this.run}` });
    const key = await this.add(`/v1/workspaces/${workspace.id}/keys`, { name: 'verify' });
    this.workspace = { id: workspace.id, key: key.key };
    const { email, key: inboxKey } = await this.inbox();
    if (![workspace.id, key.key, email, inboxKey].every((text) => typeof text === 'string')) {
      throw new CannotTellError('the replies to creating a workspace, a key and an inbox have no id, key and email');
    }
    this.domain = email.slice(email.lastIndexOf('@') + 1);
  }

  /** Begins an experiment. */
  begin(name: string): void {
    this.name = name;
    this.#count = 0;
    this.calls.clear();
  }

  /** Returns what a function makes at its first call. */
  async shared<T>(make: (s: Session) => Promise<T>): Promise<T> {
    if (!this.#shared.has(make)) {
      const { name } = this;
      this.begin(make.name);
      this.#shared.set(make, await make(this));
      this.name = name;
    }
    return this.#shared.get(make) as T;
  }

  /** Returns a name that nothing else has, and that is the same on both sides. */
  newName(): string {
    this.#count += 1;
    const experiment = [...this.name].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 2 ** 32, 7);
    return `verify-${this.run}-${experiment.toString(36)}-${this.#count}`;
  }

  get = (path: string, extra?: Extra) => this.call('GET', path, undefined, extra);
  post = (path: string, body: unknown = {}, extra?: Extra) => this.call('POST', path, body, extra);
  patch = (path: string, body: unknown = {}, extra?: Extra) => this.call('PATCH', path, body, extra);
  delete = (path: string, extra?: Extra) => this.call('DELETE', path, undefined, extra);

  /** Reads or adds something, which must be a success, and returns the body of the reply. */
  read = (path: string, extra?: Extra) => this.must(this.get(path, extra));
  add = (path: string, body?: unknown, extra?: Extra) => this.must(this.post(path, body, extra));

  /** Sends a request. A body that is no text is sent as JSON. What is created is remembered. */
  async call(method: string, path: string, body?: unknown, { key = this.target.key, headers }: Extra = {}) {
    this.calls.add(`${method} ${path.replace(/\?.*/, '')}`);
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const type = text === undefined ? {} : { 'Content-Type': 'application/json' };
    const answer = await this.target.send(this.target.baseUrl + path, {
      method,
      redirect: 'manual',
      headers: { ...(key !== '' && { 'X-API-Key': key }), ...type, ...headers },
      ...(text !== undefined && { body: text }),
    });
    this.#remember(method, path.replace(/\?.*/, ''), key, answer);
    return answer;
  }

  #remember(method: string, path: string, key: string, { status, body }: Answer): void {
    const id = body.id ?? body.domain?.id;
    if (method === 'DELETE' && status < 300) this.#created.delete(path);
    if (method !== 'POST' || status !== 201 || !COLLECTIONS.test(path) || typeof id !== 'string') return;
    this.#created.set(path.endsWith('domains') ? `${path}/${body.domain.domain ?? body.domain}` : `${path}/${id}`, key);
  }

  /** Returns the body of a reply that must be a success. */
  async must(reply: Promise<Answer>) {
    const { status, body, text } = await reply;
    if (status >= 200 && status < 300) return body;
    throw new CannotTellError(`a call that it needs was answered with ${status}: ${text.slice(0, 100)}`);
  }

  /** Creates an inbox in the workspace of this run. */
  async inbox(fields: Readonly<Record<string, unknown>> = {}, key = this.target.key): Promise<OwnInbox> {
    const place = key === this.target.key && this.workspace.id ? { workspaceId: this.workspace.id } : {};
    const body = await this.add('/v1/inboxes', { username: this.newName(), ...place, ...fields }, { key });
    return { id: body.id, email: body.email, key: body.apiKey, path: `/v1/inboxes/${body.id}` };
  }

  /** Asks for a webhook of the workspace of this run. */
  postWebhook(fields: Readonly<Record<string, unknown>> = {}) {
    const webhook = { url: 'https://verify.invalid/', events: ['message.received'], workspaceId: this.workspace.id };
    return this.post('/v1/webhooks', { ...webhook, ...fields });
  }

  /** Creates a webhook of the workspace of this run. */
  async webhook(fields: Readonly<Record<string, unknown>> = {}) {
    const body = await this.must(this.postWebhook(fields));
    return { ...body, path: `/v1/webhooks/${body.id}` };
  }

  /** Sends a mail from one inbox of this run to another. */
  async send(from: OwnInbox, to: OwnInbox, fields: Readonly<Record<string, unknown>> = {}) {
    const mail = { to: to.email, subject: this.newName(), plainBody: 'Hello', verified: true, ...fields };
    return await this.add(`${from.path}/send`, mail, { key: from.key });
  }

  /** Returns the messages of an inbox as soon as it has some number of them, by default one that came in. */
  async messages(inbox: OwnInbox, count = 1, direction = 'inbound') {
    return await this.until(`${count} mails in an inbox`, async () => {
      const { messages = [] } = await this.read(`${inbox.path}/messages`, { key: inbox.key });
      // biome-ignore lint/suspicious/noExplicitAny: as above.
      const found = messages.filter((message: any) => message.direction === direction);
      return found.length >= count ? found : undefined;
    });
  }

  /** Creates two inboxes, and a mail from the first to the second; returns its path in the second. */
  async mail(fields: Readonly<Record<string, unknown>> = {}) {
    const [from, to] = [await this.inbox(), await this.inbox()];
    const sent = await this.send(from, to, fields);
    const [message] = await this.messages(to);
    return { from, to, sent, message, path: `${to.path}/messages/${message.id}` };
  }

  /** Waits until a function returns something. */
  async until<T>(what: string, look: () => Promise<T | undefined> | T | undefined, ms = PATIENCE.slow): Promise<T> {
    const end = performance.now() + ms;
    for (let pause = PATIENCE.look; ; pause = Math.min(1000, pause * 1.5)) {
      const found = await look();
      if (found !== undefined) return found;
      const left = end - performance.now();
      if (left < 0) throw new CannotTellError(`it waited ${ms / 1000} s for ${what}`);
      await new Promise((resolve) => setTimeout(resolve, Math.min(pause, left + 1)));
    }
  }

  /** Makes a receiver, with a webhook of the workspace that calls it. */
  async receiver(events = ['message.received'], fields: Readonly<Record<string, unknown>> = {}) {
    const receiver = this.target.receive?.(this.newName());
    if (!receiver) throw new CannotTellError('there is no receiver');
    const webhook = await this.webhook({ url: receiver.url, events, ...fields });
    if (!webhook.isActive) await this.must(this.patch(webhook.path, { isActive: true }));
    const arrived = async (count: number) => {
      if (this.#isUnreachable) throw new CannotTellError('no delivery arrives at the receiver');
      this.#isUnreachable = true;
      await this.until(`${count} deliveries`, () => receiver.calls.length >= count || undefined);
      this.#isUnreachable = false;
      return receiver.calls;
    };
    return { ...receiver, webhook, arrived };
  }

  /** Deletes what was created, last first; returns what could not be deleted. */
  async close(): Promise<string[]> {
    const left: string[] = [];
    for (const [path, key] of [...this.#created].reverse()) {
      const init = { method: 'DELETE', headers: { 'X-API-Key': key } };
      const answer = await this.target.send(this.target.baseUrl + path, init).catch(() => undefined);
      if (answer?.status !== 404 && Math.floor((answer?.status ?? 0) / 100) !== 2) left.push(path);
    }
    this.#created.clear();
    return left;
  }
}
