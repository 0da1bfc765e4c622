import { type Listening, listen } from './listen.ts';
import { checkAnswers, giveAnswer, type ReceiverAnswer } from './scripted-answer.ts';
import { checkSecrets, findProblem } from './verify.ts';

/** What `createReceiver` takes. */
export interface ReceiverOptions {
  /** The secret of the webhook, or each of several; without one nothing is verified. */
  readonly secret?: string | readonly string[] | undefined;
  /** What it answers, one after the other; from then on 200. */
  readonly answers?: readonly ReceiverAnswer[] | undefined;
  /** The time that timestamps are compared with, such as `() => mailbox.clock.now()`; real time if left out. */
  readonly now?: (() => Date) | undefined;
}

/** A delivery as it came in. */
export interface ReceivedRequest {
  /** The HTTP method, in upper case: `POST` for a delivery. */
  readonly method: string;
  /** Its path and query. */
  readonly path: string;
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as it came, as text. */
  readonly body: string;
  /** The body parsed; `undefined` where it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into it as it likes.
  readonly json: any;
  /** Whether its signature is right; `undefined` where there was no secret to verify it with. */
  readonly verified: boolean | undefined;
  /** What is wrong with the signature; null if nothing is. */
  readonly problem: string | null;
  /** What it was answered. */
  readonly answer: ReceiverAnswer;
}

/** A receiver of webhook deliveries, for tests. */
export interface Receiver extends AsyncDisposable {
  /** What came in so far, oldest first. */
  readonly requests: readonly ReceivedRequest[];
  /** The secret, or each of several: set it once the webhook is created, since that takes the URL first. */
  secret: string | readonly string[] | undefined;
  /** Adds to what it answers: `receiver.answer(500, 'timeout', 200)`. @throws {TypeError} as `createReceiver` does. */
  answer(...answers: ReceiverAnswer[]): void;
  /** Answers a request: for an msw handler, or whatever serves requests of the platform. */
  fetch(request: Request): Promise<Response>;
  /** Starts a real HTTP server on 127.0.0.1 and answers its URL; port 0, or none, picks a free one. */
  listen(port?: number): Promise<string>;
  /**
   * Resolves with the requests once there are so many.
   *
   * @throws {Error} when there are fewer after `timeoutMs`, 4 seconds if left out.
   */
  received(count: number, timeoutMs?: number): Promise<readonly ReceivedRequest[]>;
  /** Ends the server, if there is one, whatever its connections do. */
  close(): Promise<void>;
}

/**
 * Creates a receiver that verifies each delivery with the Standard Webhooks library, records it, and answers by a
 * script. What does not verify is answered with 401 and takes nothing of the script.
 *
 * @throws {TypeError} on an answer that could not be given, or a secret that is none.
 * @example
 * await using receiver = createReceiver({ secret: webhook.secret, answers: [500, 'timeout', 200] });
 * const url = await receiver.listen();
 */
export function createReceiver(options: ReceiverOptions = {}): Receiver {
  return new ScriptedReceiver(options);
}

/** Its methods are properties, so that each can be handed over by itself, such as `receiver.fetch`. */
class ScriptedReceiver implements Receiver {
  readonly requests: ReceivedRequest[] = [];
  readonly #script: ReceiverAnswer[];
  readonly #now: ReceiverOptions['now'];
  readonly #watchers = new Set<() => void>();
  #secret: ReceiverOptions['secret'];
  #server: Promise<Listening> | undefined;

  constructor({ secret, answers = [], now }: ReceiverOptions) {
    this.#script = [...checkAnswers(answers)];
    this.#secret = checkSecrets(secret);
    this.#now = now;
  }

  get secret() {
    return this.#secret;
  }

  set secret(value) {
    this.#secret = checkSecrets(value);
  }

  readonly answer = (...answers: ReceiverAnswer[]) => void this.#script.push(...checkAnswers(answers));

  readonly fetch = async (request: Request) => {
    const { pathname, search } = new URL(request.url);
    const headers = Object.fromEntries(request.headers);
    const body = await request.text();
    const verification = this.#verify(headers, body);
    const answer = verification.problem === null ? (this.#script.shift() ?? 200) : 401;
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
    for (const notify of this.#watchers) notify();
    return giveAnswer(answer, request.signal);
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
        this.#watchers.delete(check);
        settle();
      };
      const check = () => {
        if (this.requests.length >= count) end(() => resolve(this.requests));
      };
      const timer = setTimeout(() => {
        const message = `${this.requests.length} of ${count} requests came within ${timeoutMs} ms.`;
        end(() => reject(new Error(message)));
      }, timeoutMs);
      this.#watchers.add(check);
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
