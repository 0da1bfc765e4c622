import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

/** The timers of the platform. They are kept here, because a test may replace the global ones by fake timers later. */
const { setTimeout, clearTimeout } = globalThis;

/** The options of `createReceiver`. */
export interface ReceiverOptions {
  /** The secret of the webhook, or a list of secrets. Without it, signatures are not verified. */
  readonly secret?: string | readonly string[] | undefined;
  /** The responses to the first requests, in order; later requests get 200. */
  readonly answers?: readonly ReceiverAnswer[] | undefined;
  /**
   * The time with which timestamps are compared. Default: real time, in which deliveries are signed. Under the behaviour
   * `deliveries.timestamp=clock` they are signed in the time of the mailbox: `() => mailbox.clock.now()`.
   */
  readonly now?: (() => Date) | undefined;
}

/** A request that the receiver got. */
export interface ReceivedRequest {
  /** The HTTP method, in upper case: `POST` for a delivery. */
  readonly method: string;
  /** The path and query of the URL. */
  readonly path: string;
  /** The headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as text, unchanged. */
  readonly body: string;
  /** The body parsed as JSON; `undefined` if it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads fields without a type check.
  readonly json: any;
  /** Whether the signature is valid; `undefined` if the receiver has no secret. */
  readonly verified: boolean | undefined;
  /** Why the signature is invalid; null if it is valid, or if the receiver has no secret. */
  readonly problem: string | null;
  /** The response that the receiver sent: 401 if the signature was invalid, otherwise the next given answer, or 200. */
  readonly answer: ReceiverAnswer;
}

type SignedRequest = Pick<ReceivedRequest, 'headers' | 'body'>;

/** A receiver of webhook deliveries for tests. */
export interface Receiver extends AsyncDisposable {
  /** The requests so far, oldest first. */
  readonly requests: readonly ReceivedRequest[];
  /**
   * The secret or secrets. Set it after you create the webhook: the service returns the secret only then, and creating
   * a webhook needs the URL of this receiver.
   */
  secret: string | readonly string[] | undefined;
  /**
   * Adds answers for the next requests: `receiver.answer(500, 'timeout', 200)`.
   *
   * @throws {TypeError} if an answer is invalid.
   */
  answer(...answers: ReceiverAnswer[]): void;
  /** Handles a request and returns the response, for use in an msw handler or in your own server. */
  fetch(request: Request): Promise<Response>;
  /** Starts an HTTP server on 127.0.0.1 and returns its URL. Port 0 (the default) picks a free port. */
  listen(port?: number): Promise<string>;
  /**
   * Waits for at least `count` requests and returns all requests so far.
   *
   * @throws {Error} if there are fewer after `timeoutMs` milliseconds. Default: 4000.
   */
  received(count: number, timeoutMs?: number): Promise<readonly ReceivedRequest[]>;
  /** Stops the server, if there is one, and closes all its connections. */
  close(): Promise<void>;
}

/**
 * Creates a receiver that verifies each delivery with the Standard Webhooks library, records it, and responds with the
 * next of the given answers. A delivery with an invalid signature gets 401, and the next answer is kept for later.
 *
 * @throws {TypeError} on an unknown or invalid option.
 * @example
 * await using receiver = createReceiver({ answers: [500, 'timeout', 200] });
 * const url = await receiver.listen();
 * // Create a webhook with this URL; the reply has its secret.
 * receiver.secret = webhook.secret;
 */
export function createReceiver(options: ReceiverOptions = {}): Receiver {
  checkOptions(options);
  return new ScriptedReceiver(options);
}

const OPTIONS: Readonly<Record<keyof ReceiverOptions, true>> = { secret: true, answers: true, now: true };

/** Checks the options, besides the secret. @throws {TypeError} */
function checkOptions(options: ReceiverOptions): void {
  const given: unknown = options;
  const names = Object.keys(OPTIONS).join(', ');
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new TypeError(`The function createReceiver takes an object with ${names}, not ${JSON.stringify(given)}.`);
  }
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(OPTIONS, name));
  if (unknown !== undefined) {
    throw new TypeError(`The function createReceiver has no option ${JSON.stringify(unknown)}; there are: ${names}.`);
  }
  const { answers = [], now } = options;
  if (!Array.isArray(answers)) {
    throw new TypeError(`The option answers must be a list, such as [500, 200], not ${JSON.stringify(answers)}.`);
  }
  if (now !== undefined && typeof now !== 'function') {
    throw new TypeError('The option now must be a function that returns a Date.');
  }
}

/** The methods are arrow functions, so that `receiver.fetch` can be passed as a function. */
class ScriptedReceiver implements Receiver {
  readonly requests: ReceivedRequest[] = [];
  readonly #nextAnswers: ReceiverAnswer[];
  readonly #now: ReceiverOptions['now'];
  readonly #listeners = new Set<() => void>();
  #secret: ReceiverOptions['secret'];
  #server: Promise<Server> | undefined;

  constructor({ secret, answers = [], now }: ReceiverOptions) {
    this.#nextAnswers = [...checkAnswers(answers)];
    this.#secret = checkSecrets(secret);
    this.#now = now;
  }

  get secret() {
    return this.#secret;
  }

  set secret(value) {
    this.#secret = checkSecrets(value);
  }

  readonly answer = (...answers: ReceiverAnswer[]) => void this.#nextAnswers.push(...checkAnswers(answers));

  readonly fetch = async (request: Request) => {
    if (typeof request?.text !== 'function') throw new TypeError('The method fetch of a receiver takes a Request.');
    const { pathname, search } = new URL(request.url);
    const headers = Object.fromEntries(request.headers);
    const body = await request.text();
    const verification = this.#verify(headers, body);
    const answer = verification.problem === null ? (this.#nextAnswers.shift() ?? 200) : 401;
    const received = { method: request.method, path: pathname + search, headers, body, json: readJson(body), answer };
    this.requests.push({ ...received, ...verification });
    for (const notify of this.#listeners) notify();
    return answer === 'timeout' ? waitForDisconnect(request.signal) : toResponse(answer);
  };

  readonly listen = async (port = 0) => {
    this.#server ??= listen(this.fetch, port);
    try {
      return `http://127.0.0.1:${((await this.#server).address() as AddressInfo).port}`;
    } catch (error) {
      this.#server = undefined;
      throw error;
    }
  };

  readonly received = (count: number, timeoutMs = 4_000) =>
    new Promise<readonly ReceivedRequest[]>((resolve, reject) => {
      if (!Number.isSafeInteger(count)) throw new TypeError('The method received takes a whole number of requests.');
      const end = (settle: () => void) => {
        clearTimeout(timer);
        this.#listeners.delete(check);
        settle();
      };
      const check = () => {
        if (this.requests.length >= count) end(() => resolve(this.requests));
      };
      const timer = setTimeout(() => {
        const message = `${this.requests.length} of ${count} requests came within ${timeoutMs} ms.`;
        end(() => reject(new Error(message)));
      }, timeoutMs);
      this.#listeners.add(check);
      check();
    });

  readonly close = async () => {
    const listening = this.#server;
    this.#server = undefined;
    const server = await listening;
    if (!server) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };

  readonly [Symbol.asyncDispose] = this.close;

  #verify(headers: ReceivedRequest['headers'], body: string): Pick<ReceivedRequest, 'verified' | 'problem'> {
    if (this.#secret === undefined) return { verified: undefined, problem: null };
    const problem = findProblem([this.#secret].flat(), { headers, body }, this.#now);
    return { verified: problem === null, problem };
  }
}

/** Parses a text as JSON; `undefined` if it is not JSON. */
function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A scripted answer: a status, a whole response, or `timeout` to send nothing until the sender disconnects. */
export type ReceiverAnswer =
  | number
  | 'timeout'
  | {
      /** The HTTP status, from 200 to 599. */
      readonly status: number;
      /** The response headers. Default: none. */
      readonly headers?: Readonly<Record<string, string>> | undefined;
      /** The response body. Default: empty. */
      readonly body?: string | undefined;
    };

/** @throws {TypeError} on an invalid answer: a test must not pass because of a mistake in its script. */
function checkAnswers(answers: readonly ReceiverAnswer[]): readonly ReceiverAnswer[] {
  const wrong = answers.findIndex((answer) => !isAnswer(answer));
  if (wrong < 0) return answers;
  throw new TypeError(
    "An answer must be a status from 200 to 599, 'timeout', or { status, headers, body } with a status that may " +
      `have a body, not ${JSON.stringify(answers[wrong])}.`,
  );
}

function isAnswer(answer: ReceiverAnswer): boolean {
  try {
    return answer === 'timeout' || toResponse(answer) instanceof Response;
  } catch {
    return false;
  }
}

/** Resolves with a response only after the sender has disconnected. */
function waitForDisconnect(signal: AbortSignal): Promise<Response> {
  return new Promise((resolve) => {
    const end = () => resolve(new Response(null, { status: 504 }));
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}

function toResponse(answer: Exclude<ReceiverAnswer, 'timeout'>): Response {
  const { status, headers = {}, body = '' } = typeof answer === 'number' ? { status: answer } : answer;
  if (!Number.isInteger(status)) throw new TypeError('The status is not a whole number.');
  return new Response(body === '' ? null : body, { status, headers });
}

/** Starts an HTTP server on 127.0.0.1 that passes each request to a fetch handler. */
async function listen(handle: Receiver['fetch'], port: number): Promise<Server> {
  // The client alone ends a connection that nobody uses. A receiver that ends it could do so just when the next delivery
  // is written to it, because a busy process comes to its timers late, and this delivery would fail.
  const server = createServer({ keepAliveTimeout: 0 }, (incoming, outgoing) => {
    if (isPreflight(incoming)) outgoing.writeHead(204, CORS).end();
    // `serve` fails if the client disconnects or the receiver closes. No response is possible then.
    else serve(handle, incoming, outgoing).catch(() => outgoing.destroy());
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** CORS headers that allow deliveries from a mailbox in a web page. */
const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': '*',
  'access-control-allow-headers': '*',
  'access-control-expose-headers': '*',
  'access-control-allow-private-network': 'true',
};

function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}

async function serve(handle: Receiver['fetch'], incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const { method = 'GET', url = '/', headers } = incoming;
  const disconnected = new AbortController();
  outgoing.once('close', () => disconnected.abort());
  const body = await buffer(incoming);
  const fields = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
  const sentBody = body.length > 0 ? new Uint8Array(body) : null;
  const init = { method, headers: fields, signal: disconnected.signal, body: sentBody };
  const response = await handle(new Request(`http://127.0.0.1${url}`, init));
  outgoing.writeHead(response.status, { ...CORS, ...Object.fromEntries(response.headers) });
  outgoing.end(new Uint8Array(await response.arrayBuffer()));
}

/** @throws {TypeError} on a text that cannot be the secret of a webhook. */
function checkSecrets<Secret extends string | readonly string[] | undefined>(secret: Secret): Secret {
  if (secret === undefined) return secret;
  const secrets: readonly unknown[] = [secret].flat();
  if (secrets.length > 0 && secrets.every((each) => typeof each === 'string' && SECRET.test(each))) return secret;
  throw new TypeError(
    'The secret must be that of a webhook, whsec_ followed by base64, or a list of such secrets, not ' +
      `${JSON.stringify(secret)}.`,
  );
}

const SECRET = /^whsec_[A-Za-z0-9+/]*={0,2}$/;

/** The largest difference between a timestamp and the current time (Standard Webhooks and its libraries). */
const TOLERANCE_MS = 5 * 60 * 1000;

/**
 * Verifies a request by Standard Webhooks with any of the secrets. Returns the problem, or null if there is none. The
 * library compares timestamps only with real time, so `verifyAt` compares them with the time of another clock. A wrong
 * time is most often the time of another clock, so the problem says which behaviour decides about it.
 */
function findProblem(secrets: readonly string[], request: SignedRequest, now: (() => Date) | undefined): string | null {
  const problems = secrets.map((secret) => {
    try {
      if (now) verifyAt(new Webhook(secret), request, now());
      else new Webhook(secret).verify(request.body, { ...request.headers }, { jsonParse: false });
      return null;
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      return /^Message timestamp too (?:new|old)$/.test(problem) ? `${problem}; ${NEEDS_NOW}` : problem;
    }
  });
  return problems.includes(null) ? null : (problems[0] ?? 'There is no secret to verify it with.');
}

const NEEDS_NOW =
  'if the behaviour deliveries.timestamp of the mailbox is clock, give the receiver the option now: ' +
  '() => mailbox.clock.now().';

const NEEDS_NO_NOW =
  'It is real time, as the behaviour deliveries.timestamp says by default: leave out the option now of the receiver, ' +
  'or set the behaviour to clock.';

function verifyAt(webhook: Webhook, { headers, body }: SignedRequest, now: Date): void {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
  if (!id || !timestamp || !signatures) throw new Error('Missing required headers');
  const at = new Date(Number(timestamp) * 1000);
  const isNear = (time: Date) => Math.abs(at.getTime() - time.getTime()) <= TOLERANCE_MS;
  if (!isNear(now)) {
    const problem = `The timestamp ${timestamp} is more than 5 minutes from ${now.toISOString()}.`;
    throw new Error(isNear(new Date()) ? `${problem} ${NEEDS_NO_NOW}` : problem);
  }
  if (!signatures.split(' ').includes(webhook.sign(id, at, body))) throw new Error('No matching signature found');
}
