import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fillPath, findParameterProblem } from '../basics/fill-path.ts';
import { plural } from '../basics/text.ts';

/** What an experiment needs besides a tenant key. */
export type Need = 'two tenants' | 'operator' | 'receiver' | 'mail from outside' | 'time';

/** Why something was not compared, and the flag with which a run would compare it, if there is one. */
export interface Reason {
  readonly message: string;
  readonly flag?: string | undefined;
}

/** What a run with `--no-deliveries` does not do. */
const NO_MAIL: Reason = {
  message: 'the check sends a mail, which calls the webhooks of the tenant',
  flag: 'a run without --no-deliveries',
};

/** Why nothing was compared of what a run that ended early did not come to. */
export const NOT_REACHED: Reason = { message: 'the run did not come to it' };

/** A mail from outside: the fields of the control call `receiveMessage`. */
export type OutsideMail = Readonly<Record<string, unknown>>;

/** A call of a webhook that has arrived at the receiver. */
export interface ReceivedCall {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  /** When the call arrived, and when its connection ended, in milliseconds of `performance.now()`. */
  readonly startMs: number;
  endMs?: number;
  /** Answers a call that has no answer yet, because its answer is `hang`. */
  release(): void;
}

/** A receiver of webhooks for one experiment. */
export interface HookReceiver {
  readonly url: string;
  readonly calls: readonly ReceivedCall[];
  /** The answers to the next calls, in order. When they are used up, a call gets 200. `hang` never answers. */
  readonly answers: (number | 'hang' | { readonly status: number; readonly headers: Record<string, string> })[];
}

/** How long a run may take, and how long it has taken so far, in milliseconds. */
export interface RunTime {
  readonly limitMs: number;
  elapsedMs(): number;
}

/** Where a session sends its requests: the server, or an emulator with which the server is compared. */
export interface Target {
  readonly baseUrl: string;
  readonly key: string;
  readonly secondKey?: string | undefined;
  readonly operatorKey?: string | undefined;
  /**
   * Sends a request, and returns the complete reply. A request to delete what the run has created, or to see whether
   * that is deleted, is sent also after the end of the run. A request that creates something is not cut off by the end
   * of the run, so that the run knows what it has created.
   */
  send(url: string, init: RequestInit, purpose?: 'clean up' | 'create'): Promise<Reply>;
  /** Aborted when the run ends early. */
  readonly signal?: AbortSignal | undefined;
  /** The time of the run; missing if it is not limited. With less time, the run reads the whole less often. */
  readonly time?: RunTime | undefined;
  /** Whether nothing may be sent that calls the webhooks which the tenant already has. */
  readonly noDeliveries?: boolean | undefined;
  /** Creates a receiver with its own URL; missing if deliveries of this target cannot arrive. */
  readonly createReceiver?: ((name: string) => HookReceiver) | undefined;
  /** The longest wait for a reply, a mail, a delivery or a handshake, in milliseconds. Default: 10 s. */
  readonly requestTimeoutMs?: number | undefined;
  /** Whether an experiment may wait for half a minute of real time. */
  readonly mayWait?: boolean | undefined;
  /** Moves the clock by a number of milliseconds, or waits for this time; missing if neither is possible. */
  readonly advance?: ((ms: number) => Promise<void>) | undefined;
  /** Delivers a mail from outside; missing if `verify` cannot send such a mail. */
  readonly deliver?: ((mail: OutsideMail) => Promise<void>) | undefined;
}

/** A complete reply of the server or of an emulator. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Whether the request was sent a second time, after its connection was closed, and may have been done twice. */
  readonly wasSentTwice?: boolean;
  /** The parsed body; an empty object if the body is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: an experiment reads what another server sends.
  readonly body: any;
}

/** The options of a request besides its method, path and body. */
interface RequestOptions {
  /** The key to send. The default is the tenant key; with an empty text, no key is sent. */
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An inbox of this run. */
export type OwnInbox = { readonly id: string; readonly email: string; readonly key: string; readonly path: string };

/** Thrown when an experiment, or the whole run, cannot continue; the message says why. */
export class VerifyError extends Error {
  /** Always `VerifyError`. */
  override readonly name = 'VerifyError';
  /** Whether the whole run cannot continue. */
  readonly endsRun: boolean;
  /** The flag of the command with which a run would not end so, if there is one. */
  readonly flag: string | undefined;

  constructor(message: string, { endsRun = false, flag }: { endsRun?: boolean; flag?: string | undefined } = {}) {
    super(message);
    this.endsRun = endsRun;
    this.flag = flag;
  }
}

/** Thrown when a reply did not come in time. */
export class NoReplyError extends VerifyError {}

/** Thrown when a connection was closed, or could not be opened, before a reply had come. */
export class ConnectionError extends VerifyError {}

/** The result of an experiment that finds the value of the behaviour itself, without a comparison with emulators. */
export class MeasuredValue {
  constructor(readonly value: string | undefined) {}
}

/** Collections whose items a run must delete, if it has created them. The contents of an inbox are deleted with it. */
const COLLECTIONS = /^\/v1\/(?:webhooks|workspaces|inboxes|domains|tenants)$/;

/**
 * The longest wait for an effect of a request, and the first pause between two checks, in milliseconds. After one was
 * lost: how long the run waits at least for the next, and how many times as long as for the slowest.
 */
const WAITS = { longest: 10_000, firstPause: 10, afterLoss: 100, timesSlowest: 5 };

/**
 * After so many operations without a reply, or so many server errors in succession, the run ends. A request is sent once
 * more if its connection was closed, and several times if the server asks to wait.
 */
const LIMITS = { unanswered: 3, serverErrors: 20, waits: 5, longestWaitMs: 60_000, pauseMs: 250 };

/** A list, as it was read at the end of a run, and the key with which it was read. */
interface ReadList {
  readonly collection: string;
  readonly key: string;
  readonly body: Reply['body'];
}

/** The operations that send mail, which calls the webhooks of the tenant. */
const SENDS_MAIL = /^\/v1\/inboxes\/[^/]+\/(?:send|(?:reply|reply-all|forward)\/[^/]+|drafts\/[^/]+\/send)$/;

/** About how many requests a run sends, to say how far it has come. */
export const USUAL_REQUESTS = 5100;

/** What share of the time of a reply each further request takes, as measured at 60 ms: many are sent at the same time. */
const SHARE_OF_WAITS = 0.45;

const formatMinutes = (ms: number) => (ms < 60_000 ? `${ms / 1000} s` : plural(Math.round(ms / 60_000), 'minute'));

/** The methods that change nothing, so that a request may be sent twice. */
const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS'];

/** The fields of replies that are secrets. */
const SECRET_IN_REPLY = /"(?:apiKey|key|secret|imapPassword|password)" ?: ?"([^"\\]+)"/g;

/** What a run waits for. */
type AwaitedThing = 'mail' | 'delivery' | 'handshake' | 'event';

/** Sends the requests of a run to one target, and deletes everything that they created. */
export class VerifySession {
  /** The name of the current experiment. `newName()` derives the names of new resources from it. */
  experimentName = '';
  /** The workspace of this run, which contains its inboxes and webhooks, a key of it, and the key of its first inbox. */
  workspace = { id: '', key: '', inboxKey: '' };
  /** The domain of new inboxes. */
  domain = '';
  /** The begin of the URLs of receivers, which is another one on each target; undefined if there is no receiver yet. */
  receiverBase: string | undefined;
  /** The paths of created things, each with the key that may delete the thing and the name of the experiment. */
  readonly #created = new Map<string, { readonly key: string; readonly experimentName: string }>();
  /** The paths of what the server has deleted, by its replies. */
  readonly #deleted = new Set<string>();
  /** The requests of the current experiment, as `METHOD /path`. */
  readonly calls = new Set<string>();
  /** The latest request, as `METHOD /path`. */
  lastCall = 'no request';
  /** Whether a reply to the current experiment was HTML, which something else than the service must have sent. */
  hasForeignReply = false;
  #nameCount = 0;
  /** Why mails, deliveries or the like are hardly waited for any more: a wait for one of these has ended without it. */
  readonly #missing = new Map<AwaitedThing, Reason>();
  /** How long the slowest of each kind took that has come, in milliseconds. */
  readonly #slowestMs = new Map<AwaitedThing, number>();
  /** The requests that were not answered in time, without their ids. These are not sent again. */
  readonly #unanswered = new Map<string, string>();
  /** The number of replies in succession that are server errors. */
  #serverErrors = 0;
  /** How many requests were answered. */
  answered = 0;
  /** How many connections were closed before a reply, so that the request was sent again. */
  closedConnections = 0;
  /** The secrets that replies have shown, which nothing may print. */
  readonly secrets = new Set<string>();

  constructor(
    readonly target: Target,
    /** The id of this run. The server and the emulators get the same id, so that names are the same on all of them. */
    readonly runId = randomBytes(4).toString('hex'),
  ) {}

  /** Creates the workspace of this run. */
  async open(): Promise<void> {
    this.begin('setup');
    await this.#checkKeys();
    const workspace = await this.add('/v1/workspaces', { name: `verify ${this.runId}` });
    const key = await this.add(`/v1/workspaces/${workspace.id}/keys`, { name: 'verify' });
    this.workspace = { id: workspace.id, key: key.key, inboxKey: '' };
    const { email, key: inboxKey } = await this.createInbox();
    this.workspace.inboxKey = inboxKey;
    if (![workspace.id, key.key, email, inboxKey].every((text) => typeof text === 'string')) {
      throw new VerifyError('the replies to creating a workspace, a key and an inbox have no id, key and email');
    }
    this.domain = email.slice(email.lastIndexOf('@') + 1);
  }

  /** Checks the further keys before anything is created. With two keys of one tenant, everything would look like a leak. */
  async #checkKeys(): Promise<void> {
    const { key, secondKey, operatorKey } = this.target;
    for (const [name, given] of [
      ['second', secondKey],
      ['operator', operatorKey],
    ] as const) {
      if (given === undefined) continue;
      const { status } = await this.get('/v1/me', { key: given });
      if (status === 401)
        throw new VerifyError(`the server does not accept the ${name} key: GET /v1/me is 401 with it`);
    }
    if (secondKey === undefined) return;
    const { tenantId } = (await this.get('/v1/me')).body;
    const other = (await this.get('/v1/me', { key: secondKey })).body;
    const isSame = key === secondKey || (typeof tenantId === 'string' && tenantId === other.tenantId);
    if (isSame) throw new VerifyError('the second key must be a key of another tenant, and GET /v1/me names the same');
  }

  /** Begins an experiment. */
  begin(name: string): void {
    this.experimentName = name;
    this.#nameCount = 0;
    this.hasForeignReply = false;
    this.calls.clear();
  }

  /** Returns a new name, which is the same on the server and on the emulators. */
  newName(): string {
    this.#nameCount += 1;
    const hash = [...this.experimentName].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 2 ** 32, 7);
    return `verify-${this.runId}-${hash.toString(36)}-${this.#nameCount}`;
  }

  get = (path: string, options?: RequestOptions) => this.call('GET', path, undefined, options);
  post = (path: string, body: unknown = {}, options?: RequestOptions) => this.call('POST', path, body, options);
  patch = (path: string, body: unknown = {}, options?: RequestOptions) => this.call('PATCH', path, body, options);
  delete = (path: string, options?: RequestOptions) => this.call('DELETE', path, undefined, options);

  /** Read or add something, and return the body of the reply. @throws {VerifyError} if the reply is not a success. */
  read = (path: string, options?: RequestOptions) => this.mustSucceed(this.get(path, options), `GET ${path}`);
  add = (path: string, body?: unknown, options?: RequestOptions) =>
    this.mustSucceed(this.post(path, body, options), `POST ${path}`);

  /** Sends a request, and remembers what the request has created. A body that is not a text is sent as JSON. */
  async call(method: string, path: string, body?: unknown, { key = this.target.key, headers }: RequestOptions = {}) {
    this.calls.add(`${method} ${path.replace(/\?.*/, '')}`);
    this.lastCall = `${method} ${path.replace(/\?.*/, '')}`;
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const type = text === undefined ? {} : { 'Content-Type': 'application/json' };
    const withoutQuery = path.replace(/\?.*/, '');
    const kind = `${method} ${withoutQuery.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/gi, '{id}')}`;
    checkPath(method, path);
    const reason = this.#unanswered.get(kind);
    if (reason !== undefined) throw new VerifyError(reason);
    if (this.target.noDeliveries && method === 'POST' && SENDS_MAIL.test(withoutQuery)) {
      throw new VerifyError(NO_MAIL.message, NO_MAIL);
    }
    const init = {
      method,
      redirect: 'manual',
      headers: { ...(key !== '' && { 'X-API-Key': key }), ...type, ...headers },
      ...(text !== undefined && { body: text }),
    } as const;
    const isCreate = method === 'POST' && COLLECTIONS.test(withoutQuery);
    const reply = await this.#sendUntilAnswered(path, init, isCreate ? 'create' : undefined).catch((error: unknown) => {
      if (error instanceof NoReplyError || error instanceof ConnectionError) this.#addUnanswered(kind, error.message);
      throw error;
    });
    this.answered += 1;
    for (const [, secret = ''] of reply.text.matchAll(SECRET_IN_REPLY)) this.secrets.add(secret);
    if (reply.headers.get('content-type')?.startsWith('text/html')) this.hasForeignReply = true;
    this.#checkServerErrors(reply);
    this.#remember(method, path.replace(/\?.*/, ''), key, reply);
    return reply;
  }

  /** Sends a request once more if its connection was closed, and later again if the server asks to wait. */
  async #sendUntilAnswered(path: string, init: RequestInit, purpose: 'create' | undefined): Promise<Reply> {
    const url = this.target.baseUrl + path;
    let wasClosed = false;
    for (let waits = 0; ; waits += 1) {
      const reply = await this.target.send(url, init, purpose).catch(async (error: unknown) => {
        if (!(error instanceof ConnectionError) || wasClosed) throw error;
        wasClosed = true;
        this.closedConnections += 1;
        await this.pause(LIMITS.pauseMs);
        return await this.target.send(url, init, purpose);
      });
      const waitMs = reply.status === 429 ? readRetryAfter(reply.headers.get('retry-after')) : undefined;
      if (waitMs !== undefined && waits < LIMITS.waits) await this.pause(waitMs);
      // What was sent twice may have been done twice, so the reply may be another one.
      else return wasClosed && !SAFE_METHODS.includes(init.method ?? '') ? { ...reply, wasSentTwice: true } : reply;
    }
  }

  /** Whether the run may do more than it must: a larger share of its requests was answered than of its time has passed. */
  isAhead(): boolean {
    const { time } = this.target;
    return time === undefined || time.elapsedMs() / time.limitMs <= this.answered / USUAL_REQUESTS;
  }

  /** Says that the time of the run will not be enough, if it will not, and how much would be. */
  describeSlowness(): string | undefined {
    const { time } = this.target;
    if (time === undefined || this.answered === 0) return undefined;
    const replyMs = time.elapsedMs() / this.answered;
    const neededMs = time.elapsedMs() + Math.max(0, USUAL_REQUESTS - this.answered) * replyMs * SHARE_OF_WAITS;
    if (neededMs <= time.limitMs) return undefined;
    const minutes = Math.ceil(neededMs / 60_000);
    return (
      `each reply takes about ${Math.round(replyMs)} ms, so this run needs about ${plural(minutes, 'minute')}, and it ` +
      `ends after ${formatMinutes(time.limitMs)}; to compare everything, give it more time: --timeout ${minutes * 60}`
    );
  }

  /** Waits, but no longer than the run. */
  async pause(ms: number): Promise<void> {
    await pause(ms, this.target.signal);
  }

  #addUnanswered(kind: string, reason: string): void {
    this.#unanswered.set(kind, reason);
    if (this.#unanswered.size < LIMITS.unanswered) return;
    const count = `${this.answered} of about ${Math.max(USUAL_REQUESTS, this.answered)} requests`;
    const last = `${this.#unanswered.size} operations were not answered, the last one: ${reason}`;
    throw new VerifyError(`the server stopped answering after ${count}; ${last}`, { endsRun: true });
  }

  #checkServerErrors({ status }: Reply): void {
    this.#serverErrors = status >= 500 ? this.#serverErrors + 1 : 0;
    if (this.#serverErrors < LIMITS.serverErrors) return;
    throw new VerifyError(`${LIMITS.serverErrors} requests in succession were answered with ${status}`, {
      endsRun: true,
    });
  }

  /** Remembers what a request has created, also if its status is not the documented one, so that it is deleted. */
  #remember(method: string, path: string, key: string, { status, body }: Reply): void {
    if (method === 'DELETE' && status < 300 && this.#created.delete(path)) this.#deleted.add(path);
    const isCreated = method === 'POST' && status < 300 && COLLECTIONS.test(path) && body.existed !== true;
    const [created] = pathsOf(path, body);
    if (!isCreated || created === undefined) return;
    this.#created.set(created, { key, experimentName: this.experimentName });
  }

  /**
   * Returns the body of a reply. What later requests are made of, such as its id, must not be an object or a list.
   *
   * @throws {VerifyError} if the reply is not a success, or has such a field.
   */
  async mustSucceed(reply: Reply | Promise<Reply>, request = 'a request for this check') {
    const { status, body, text } = await reply;
    if (status < 200 || status >= 300) {
      throw new VerifyError(`a request for this check was answered with ${status}: ${text.slice(0, 100)}`);
    }
    const wrong = FIELDS_OF_REQUESTS.find((name) => typeof (body?.[name] ?? '') === 'object');
    if (wrong === undefined) return body;
    throw new VerifyError(`the reply to ${request} has a field ${wrong} that is not a text`);
  }

  /** Creates an inbox in the workspace of this run. */
  async createInbox(fields: Readonly<Record<string, unknown>> = {}, key = this.target.key): Promise<OwnInbox> {
    const defaults = key === this.target.key && this.workspace.id ? { workspaceId: this.workspace.id } : {};
    const body = await this.add('/v1/inboxes', { username: this.newName(), ...defaults, ...fields }, { key });
    return { id: body.id, email: body.email, key: body.apiKey, path: `/v1/inboxes/${body.id}` };
  }

  /** Sends the request that creates a webhook, and returns the reply, which may be a refusal. */
  postWebhook(fields: Readonly<Record<string, unknown>> = {}, key = this.target.key) {
    const webhook = {
      url: `https://verify.invalid/${this.runId}`,
      events: ['message.received'],
      workspaceId: this.workspace.id,
    };
    return this.post('/v1/webhooks', { ...webhook, ...fields }, { key });
  }

  /** Creates a webhook in the workspace of this run, and returns the body of the reply. */
  async createWebhook(fields: Readonly<Record<string, unknown>> = {}, key = this.target.key) {
    const body = await this.mustSucceed(this.postWebhook(fields, key), 'POST /v1/webhooks');
    return { ...body, path: `/v1/webhooks/${body.id}` };
  }

  /** Sends a mail from one inbox of this run to another. */
  async send(from: OwnInbox, to: OwnInbox, fields: Readonly<Record<string, unknown>> = {}) {
    const mail = { to: to.email, subject: this.newName(), plainBody: 'Hello', verified: true, ...fields };
    return await this.add(`${from.path}/send`, mail, { key: from.key });
  }

  /** Throws if an earlier wait for something of this kind has ended without it. */
  checkNotMissing(kind: AwaitedThing): void {
    const reason = this.#missing.get(kind);
    if (reason !== undefined) throw new VerifyError(reason.message, reason);
  }

  /**
   * Waits for a mail, a delivery or the like. If an earlier wait has ended without one, waits a few times as long as for
   * the slowest that has come, so that one that is lost neither delays the run each time nor hides the next.
   */
  async waitOnce<T>(
    kind: AwaitedThing,
    what: string,
    find: () => Promise<T | undefined> | T | undefined,
    hasFailed = () => false,
  ): Promise<T> {
    const reason = this.#missing.get(kind);
    const longestMs = this.target.requestTimeoutMs ?? WAITS.longest;
    const slowestMs = this.#slowestMs.get(kind);
    const likelyMs = slowestMs === undefined ? 0 : Math.max(WAITS.afterLoss, WAITS.timesSlowest * slowestMs);
    const ms = reason === undefined ? longestMs : Math.min(longestMs, likelyMs);
    const startMs = performance.now();
    const findUntilFailed = async () => {
      const found = await find();
      if (found === undefined && hasFailed()) throw new VerifyError(`${what} did not come`);
      return found;
    };
    try {
      const found = await this.waitFor(what, findUntilFailed, ms);
      this.#slowestMs.set(kind, Math.max(slowestMs ?? 0, performance.now() - startMs));
      return found;
    } catch (error) {
      if (!(error instanceof VerifyError) || error.endsRun) throw error;
      if (reason === undefined) this.#missing.set(kind, { message: error.message, flag: error.flag });
      throw reason === undefined ? error : new VerifyError(reason.message, reason);
    }
  }

  /** Waits until an inbox has `count` inbound messages, by default one, and returns them. */
  async waitForMessages(inbox: OwnInbox, count = 1) {
    return await this.waitOnce('mail', `${count} mails in an inbox`, async () => {
      const { messages = [] } = await this.read(`${inbox.path}/messages`, { key: inbox.key });
      // biome-ignore lint/suspicious/noExplicitAny: as above.
      const found = messages.filter((message: any) => message.direction === 'inbound');
      return found.length >= count ? found : undefined;
    });
  }

  /** Creates two inboxes, and sends a mail from the first to the second. `path` is the path of the received mail. */
  async createMail(fields: Readonly<Record<string, unknown>> = {}) {
    const [from, to] = [await this.createInbox(), await this.createInbox()];
    const sent = await this.send(from, to, fields);
    const [message] = await this.waitForMessages(to);
    return { from, to, sent, message, path: `${to.path}/messages/${message.id}` };
  }

  /** Calls `find` until it returns a value, and returns this value. The error message begins with `what`. */
  async waitFor<T>(what: string, find: () => Promise<T | undefined> | T | undefined, ms = WAITS.longest): Promise<T> {
    const deadline = performance.now() + ms;
    for (let pause = WAITS.firstPause; ; pause = Math.min(1000, pause * 1.5)) {
      const found = await find();
      if (found !== undefined) return found;
      const remainingMs = deadline - performance.now();
      if (remainingMs < 0) throw new VerifyError(`${what} did not come within ${ms / 1000} s`);
      const { signal } = this.target;
      if (signal?.aborted) throw stopErrorOf(signal);
      await this.pause(Math.min(pause, remainingMs + 1));
    }
  }

  /**
   * Creates a receiver, and a webhook that calls the receiver, in the workspace of this run. If a wait for calls has
   * ended without calls, the next wait throws at once. Otherwise, a server that cannot reach the receiver would delay
   * every experiment.
   */
  async createReceiver(
    events = ['message.received'],
    fields: Readonly<Record<string, unknown>> = {},
    key = this.target.key,
  ) {
    const name = this.newName();
    const receiver = this.target.createReceiver?.(name);
    if (!receiver) throw new VerifyError('there is no receiver');
    this.receiverBase = receiver.url.slice(0, -name.length);
    const webhook = await this.createWebhook({ url: receiver.url, events, ...fields }, key);
    if (!webhook.isActive) await this.mustSucceed(this.patch(webhook.path, { isActive: true }, { key }));
    const waitForCalls = async (count: number) => {
      await this.waitOnce('delivery', `${count} deliveries`, () => receiver.calls.length >= count || undefined);
      return receiver.calls;
    };
    return { ...receiver, webhook, waitForCalls };
  }

  /** Ends an experiment: deletes what it has created, so that no later mail is delivered to its webhooks. */
  async end(): Promise<void> {
    await this.#deleteCreated((experimentName) => experimentName === this.experimentName);
  }

  /** Deletes everything that is left, and returns the paths of what could not be deleted. */
  async close(): Promise<string[]> {
    await this.#deleteCreated(() => true);
    const lists = await this.#readLists();
    this.#adoptTagged(lists);
    await this.#deleteCreated(() => true);
    return [...this.#created.keys(), ...(await this.#findUndeleted(lists))];
  }

  /** Reads each list that can show what this run has created, with each key that can have created it. */
  async #readLists(): Promise<ReadList[]> {
    if (this.answered === 0) return [];
    const lists: ReadList[] = [];
    for (const collection of ['/v1/webhooks', '/v1/inboxes', '/v1/domains', '/v1/workspaces']) {
      for (const key of [this.target.key, this.target.secondKey]) {
        if (key === undefined) continue;
        const list = await this.#cleanUp('GET', collection, key);
        if (list === 'no reply') return lists;
        lists.push({ collection, key, body: list?.body });
      }
    }
    return lists;
  }

  /** Finds what has the id of this run in its name and is not known: a reply to its creation has not come. */
  #adoptTagged(lists: readonly ReadList[]): void {
    for (const { collection, key, body } of lists) {
      const items: unknown[] = Object.values(body ?? {}).find(Array.isArray) ?? [];
      for (const item of items.filter((each) => JSON.stringify(each).includes(this.runId))) {
        const [path] = pathsOf(collection, item as Reply['body']);
        if (path === undefined || this.#deleted.has(path) || this.#created.has(path)) continue;
        this.#created.set(path, { key, experimentName: '' });
      }
    }
  }

  /** Deletes what was created, the newest first. What cannot be deleted stays in the list. */
  async #deleteCreated(isSelected: (experimentName: string) => boolean): Promise<void> {
    for (const [path, { key, experimentName }] of [...this.#created].reverse()) {
      if (!isSelected(experimentName)) continue;
      const reply = await this.#cleanUp('DELETE', path, key);
      // A server that does not answer would delay the end for each thing.
      if (reply === 'no reply') return;
      if (reply?.status === 404 || isSuccess(reply)) {
        this.#created.delete(path);
        this.#deleted.add(path);
      }
    }
  }

  /** Returns the paths of what a list and its own path still show, although the server has answered that it is deleted. */
  async #findUndeleted(lists: readonly ReadList[]): Promise<string[]> {
    const undeleted: string[] = [];
    for (const { collection, key, body } of lists) {
      for (const path of pathsIn(collection, body)) {
        if (!this.#deleted.has(path) || undeleted.includes(path)) continue;
        const reply = await this.#cleanUp('GET', path, key);
        if (reply === 'no reply') return undeleted;
        if (isSuccess(reply)) undeleted.push(path);
      }
    }
    return undeleted;
  }

  /** Sends a request of the end of a run, in which one that fails does not matter to the others. */
  async #cleanUp(method: 'GET' | 'DELETE', path: string, key: string): Promise<Reply | 'no reply' | undefined> {
    const init = { method, redirect: 'manual', headers: { 'X-API-Key': key } } as const;
    try {
      return await this.target.send(this.target.baseUrl + path, init, 'clean up');
    } catch (error) {
      if (!(error instanceof VerifyError)) throw error;
      return error instanceof NoReplyError ? 'no reply' : undefined;
    }
  }
}

/** Returns the milliseconds after which a request may be sent again, from `Retry-After`: seconds, or a date. */
function readRetryAfter(value: string | null): number | undefined {
  if (value === null) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), LIMITS.longestWaitMs);
}

/** Why a run was stopped: by the user, or because its time has passed. */
export const stopErrorOf = ({ reason }: AbortSignal) =>
  reason instanceof VerifyError ? reason : new VerifyError('the run was stopped', { endsRun: true });

/** The fields of replies that become parts of later requests. */
const FIELDS_OF_REQUESTS = ['id', 'email', 'apiKey', 'key', 'secret', 'tenantId', 'threadId', 'messageId', 'name'];

const isSuccess = (reply: Reply | undefined) => reply !== undefined && reply.status >= 200 && reply.status < 300;

/** The paths of the items that a list shows. */
function pathsIn(collection: string, body: Reply['body']): string[] {
  const list: unknown[] = Object.values(body ?? {}).find(Array.isArray) ?? [];
  return list.flatMap((item) => pathsOf(collection, item));
}

/**
 * Returns the path of an object, in a list. The list is empty if the server has replied with an id that cannot be in a
 * path: at the end, the run would delete something that it has not created.
 */
function pathsOf(collection: string, object: Reply['body']): string[] {
  // An object has its id in its path, or the name of its domain.
  const name = collection.endsWith('domains') ? (object?.domain?.domain ?? object?.domain) : object?.id;
  return findParameterProblem(name) === undefined ? [fillPath(`${collection}/{name}`, () => name)] : [];
}

/**
 * Checks the path of a request, in which ids that the server has replied with can stand. @throws {VerifyError} if the
 * URL would lead to another path.
 */
function checkPath(method: string, path: string): void {
  const [given = ''] = path.split('?');
  // One experiment reads a path that ends with a slash. An empty id would look the same.
  const withoutQuery = method === 'GET' ? given.replace(/\/$/, '') : given;
  const isWhole = /^(?:\/(?!(?:\.|%2e){1,2}(?:\/|$))[^/\\#\s\p{C}]+)+$/iu.test(withoutQuery);
  if (isWhole) return;
  throw new VerifyError(`${method} ${JSON.stringify(path.slice(0, 200))} was not sent, because an id in it is no id`);
}

/** Waits, or until a signal is aborted. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await sleep(ms, undefined, signal ? { signal } : {}).catch(() => undefined);
}
