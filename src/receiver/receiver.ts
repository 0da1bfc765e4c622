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
  const requests: ReceivedRequest[] = [];
  const script = [...checkAnswers(options.answers ?? [])];
  const watchers = new Set<() => void>();
  let secret = checkSecrets(options.secret);
  let server: Promise<Listening> | undefined;

  function verify(headers: ReceivedRequest['headers'], body: string): Pick<ReceivedRequest, 'verified' | 'problem'> {
    if (secret === undefined) return { verified: undefined, problem: null };
    const problem = findProblem([secret].flat(), { headers, body }, options.now);
    return { verified: problem === null, problem };
  }

  async function receive(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    const headers = Object.fromEntries(request.headers);
    const body = await request.text();
    const verification = verify(headers, body);
    const answer = verification.problem === null ? (script.shift() ?? 200) : 401;
    requests.push({
      method: request.method,
      path: pathname + search,
      headers,
      body,
      json: readJson(body),
      ...verification,
      answer,
    });
    for (const look of watchers) look();
    return giveAnswer(answer, request.signal);
  }

  const close = async () => {
    const closing = server;
    server = undefined;
    await (await closing)?.close();
  };

  return {
    requests,
    get secret() {
      return secret;
    },
    set secret(value) {
      secret = checkSecrets(value);
    },
    answer: (...answers) => void script.push(...checkAnswers(answers)),
    fetch: receive,
    async listen(port = 0) {
      server ??= listen(receive, port);
      try {
        return (await server).url;
      } catch (error) {
        server = undefined;
        throw error;
      }
    },
    received: (count, timeoutMs = 4_000) =>
      new Promise((resolve, reject) => {
        const end = (settle: () => void) => {
          clearTimeout(timer);
          watchers.delete(look);
          settle();
        };
        const look = () => {
          if (requests.length >= count) end(() => resolve(requests));
        };
        const timer = setTimeout(() => {
          const message = `${requests.length} of ${count} requests came within ${timeoutMs} ms.`;
          end(() => reject(new Error(message)));
        }, timeoutMs);
        watchers.add(look);
        look();
      }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** What a text says as JSON; `undefined` where it is none. */
function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
