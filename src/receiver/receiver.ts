import { type Listening, listen } from './listen.ts';
import { checkAnswers, type ReceiverAnswer, respond } from './scripted-answer.ts';
import { checkSecrets, findProblem } from './verify.ts';

/** The options of `createReceiver`. */
export interface ReceiverOptions {
  /** The secret of the webhook, or a list of secrets. Without it, signatures are not verified. */
  readonly secret?: string | readonly string[] | undefined;
  /** The responses to the first requests, in order; later requests get 200. */
  readonly answers?: readonly ReceiverAnswer[] | undefined;
  /** The time with which timestamps are compared, such as `() => mailbox.clock.now()`. Default: real time. */
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
   * @throws {TypeError} if one is invalid.
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
 * @throws {TypeError} on an invalid answer or an invalid secret.
 * @example
 * await using receiver = createReceiver({ answers: [500, 'timeout', 200] });
 * const url = await receiver.listen();
 * // Create a webhook with this URL; the reply has its secret.
 * receiver.secret = webhook.secret;
 */
export function createReceiver(options: ReceiverOptions = {}): Receiver {
  return new ScriptedReceiver(options);
}

/** Its methods are arrow functions, so that `receiver.fetch` can be passed as a function. */
class ScriptedReceiver implements Receiver {
  readonly requests: ReceivedRequest[] = [];
  readonly #nextAnswers: ReceiverAnswer[];
  readonly #now: ReceiverOptions['now'];
  readonly #listeners = new Set<() => void>();
  #secret: ReceiverOptions['secret'];
  #server: Promise<Listening> | undefined;

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
    const { pathname, search } = new URL(request.url);
    const headers = Object.fromEntries(request.headers);
    const body = await request.text();
    const verification = this.#verify(headers, body);
    const answer = verification.problem === null ? (this.#nextAnswers.shift() ?? 200) : 401;
    const { method } = request;
    this.requests.push({
      method,
      path: pathname + search,
      headers,
      body,
      json: readJson(body),
      ...verification,
      answer,
    });
    for (const notify of this.#listeners) notify();
    return respond(answer, request.signal);
  };

  readonly listen = async (port = 0) => {
    this.#server ??= listen(this.fetch, port);
    try {
      return (await this.#server).url;
    } catch (error) {
      this.#server = undefined;
      throw error;
    }
  };

  readonly received = (count: number, timeoutMs = 4_000) =>
    new Promise<readonly ReceivedRequest[]>((resolve, reject) => {
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
    const closing = this.#server;
    this.#server = undefined;
    await (await closing)?.close();
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
