import type { BehaviourValues } from '../../contract/behaviours.ts';
import { type Environment, newWebhookSecret } from '../../world/environment.ts';
import type { Faults } from '../../world/faults.ts';
import { findRefusal, isError } from '../../world/fetch-in-process.ts';
import type { WebhookRow } from '../../world/store/rows.ts';
import type { World } from '../../world/store/world.ts';
import type { Journals } from '../journal/journals.ts';
import type { Attempt, Delivery } from './delivery.ts';
import type { Job } from './queue.ts';
import { createRequest, splitLogin, timeOfReceivers } from './request.ts';

/** The dependencies that the deliveries of all tenants share. */
export interface DeliveryContext {
  /** The network, and the real clock, because a call must time out even if the tenant's clock is frozen. */
  readonly realEnvironment: Environment;
  readonly behaviours: BehaviourValues;
  readonly journals: Journals;
  readonly faults: Faults;
}

/** The result of an attempt, before the time of the next attempt is decided. */
export interface AttemptResult extends Omit<Attempt, 'nextAttemptAt'> {
  /** True if the emulator refused to call the receiver, because its address is not allowed. */
  readonly isRefused: boolean;
  /** The stack of the error that a receiver in the same process threw; null if it threw none. */
  readonly thrown: string | null;
}

/** The result of a call to a receiver. */
type CallResult = Pick<AttemptResult, 'status' | 'responseHeaders' | 'responseBody' | 'error' | 'isRefused' | 'thrown'>;

/** The content that an attempt sends, and the fault that it applies. */
type AttemptInput = Pick<Job, 'content' | 'fault' | 'faultId'>;

/** The timeout of a receiver that did not answer in time before, while a test advanced the clock. */
const SHORT_TIMEOUT_MS = 1_000;

const TIMEOUTS_MS = { '15s': 15_000, '30s': 30_000, '5s': 5_000, '1s': 1_000, '100ms': 100 };

/** Sends the attempts of one tenant and tracks those in flight. */
export class AttemptSender {
  /** Each call in flight, with the id of its delivery. */
  readonly #calls = new Map<AbortableCall, string>();
  /** Calls for later attempts. Each reuses the signal of a call that has ended, because creating a signal is slow. */
  readonly #preparedCalls: AbortableCall[] = [];
  #isEnded = false;

  constructor(
    readonly world: World,
    readonly context: DeliveryContext,
  ) {}

  /** Returns the ids of the deliveries in flight. */
  inFlight(): ReadonlySet<string> {
    return new Set(this.#calls.values());
  }

  /** Sends a delivery once. Returns `undefined` if `end` is called before the attempt has ended. */
  async send(delivery: Delivery, webhook: WebhookRow, input: AttemptInput): Promise<AttemptResult | undefined> {
    const call = this.#preparedCalls.pop() ?? new AbortableCall();
    this.#calls.set(call, delivery.id);
    try {
      const result = await this.#call(call, delivery, webhook, input);
      return this.#isEnded ? undefined : result;
    } finally {
      this.#calls.delete(call);
      const nextCall = call.createNext();
      if (nextCall) this.#preparedCalls.push(nextCall);
    }
  }

  /** Aborts every call in flight. */
  end(): void {
    this.#isEnded = true;
    for (const call of this.#calls.keys()) call.abort(new Error('The deliveries were reset.'));
  }

  async #call(call: AbortableCall, { id, eventId }: Delivery, { url, secret }: WebhookRow, input: AttemptInput) {
    const { content, fault, faultId = '' } = input;
    const { realEnvironment, behaviours } = this.context;
    const { clock, environment } = this.world;
    const at = clock.now().toISOString();
    const realTime = new Date().toISOString();
    const now = timeOfReceivers(clock, behaviours);
    const { href, loginHeader } = splitLogin(url);
    const sentId = behaviours['deliveries.id'] === 'event' ? eventId : id;
    const newSecret = () => newWebhookSecret(environment);
    const { headers: signed, body } = createRequest({
      id: sentId,
      eventId,
      secret,
      content,
      now,
      fault,
      newSecret,
      behaviours,
    });
    const headers = { ...signed, ...loginHeader };
    const startedMs = realEnvironment.realNow().getTime();
    const fullTimeoutMs = TIMEOUTS_MS[behaviours['deliveries.timeout']];
    const isSlow =
      fullTimeoutMs > SHORT_TIMEOUT_MS && [...clock.advances].some(({ slowReceivers }) => slowReceivers.has(url));
    const timeoutMs = isSlow ? SHORT_TIMEOUT_MS : fullTimeoutMs;
    const onTimeout = () => {
      // Otherwise, a test that advances the clock by days would wait for each retry as long as for the first attempt.
      for (const advance of clock.advances) advance.slowReceivers.add(url);
      const problem = `The receiver did not respond within ${timeoutMs / 1000} s.`;
      const reason =
        `It got only this long, because it did not respond within ${fullTimeoutMs / 1000} s to an earlier attempt in ` +
        'the same advance of the clock.';
      call.abort(new Error(isSlow ? `${problem} ${reason}` : problem));
    };
    const init = { method: 'POST', headers, body, redirect: 'manual', signal: call.signal } as const;
    const result =
      fault === 'unreachable'
        ? failedResult(new Error('The receiver could not be reached, because of a fault.'))
        : await callReceiver(realEnvironment, [href, init], call, { timeoutMs, onTimeout });
    const durationMs = Math.max(realEnvironment.realNow().getTime() - startedMs, 0);
    const request = { url, requestHeaders: headers, requestBody: body };
    const appliedFault = { fault: fault ?? null, faultId: (fault && faultId) || null };
    return { at, realTime, ...request, ...appliedFault, ...result, durationMs };
  }
}

/** How many calls may use the same abort signal. The number is small, because each call leaves a listener on it. */
const CALLS_PER_SIGNAL = 5;

/** A call that can be aborted. */
class AbortableCall {
  #resolve = (_: Error) => {};
  /** Resolves with the reason when the call is aborted, even if `fetch` ignores the signal. */
  readonly aborted = new Promise<Error>((resolve) => {
    this.#resolve = resolve;
  });

  constructor(
    readonly controller = new AbortController(),
    /** How many calls may still use the signal, including this call. */
    readonly callsLeft = CALLS_PER_SIGNAL,
  ) {}

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  abort(reason: Error): void {
    this.#resolve(reason);
    this.controller.abort(reason);
  }

  /**
   * Creates another call with the same signal, or returns `undefined` if the signal cannot be reused. The new call may
   * start only after this call has ended.
   */
  createNext(): AbortableCall | undefined {
    if (this.callsLeft === 1 || this.signal.aborted) return undefined;
    return new AbortableCall(this.controller, this.callsLeft - 1);
  }
}

/** Calls a receiver once. Never rejects: if the call fails or is aborted, the result contains the error. */
async function callReceiver(
  environment: Environment,
  request: Parameters<Environment['fetch']>,
  call: AbortableCall,
  { timeoutMs, onTimeout }: { readonly timeoutMs: number; onTimeout(): void },
): Promise<CallResult> {
  const cancelTimer = environment.setTimer(timeoutMs, onTimeout);
  try {
    return await Promise.race([environment.fetch(...request).then(toResult), call.aborted.then(failedResult)]);
  } catch (error) {
    const result = failedResult(error);
    const isOfReceiver = isError(error) && !result.isRefused && !isOfNetwork(error);
    return { ...result, thrown: isOfReceiver ? stackOf(error) : null };
  } finally {
    cancelTimer();
  }
}

/** How much of a response body is read and logged. */
const MAX_BODY_BYTES = 16 * 1024;

/** Reads the response of a receiver; rejects if the body ends too early. */
async function toResult(response: Response): Promise<CallResult> {
  const { status, headers, body } = response;
  const responseBody = body === null || headers.get('content-length') === '0' ? '' : await readStart(body);
  return {
    // In browsers, the status of a redirect that is not followed is 0.
    status: status === 0 ? null : status,
    // jsdom and happy-dom do not write header names in lower case.
    responseHeaders: Object.fromEntries([...headers].map(([name, value]) => [name.toLowerCase(), value])),
    responseBody,
    error: response.ok ? null : failureOf(response),
    isRefused: false,
    thrown: status === 500 ? stackInReply(responseBody) : null,
  };
}

/** The messages of `fetch` in Node and in browsers if a call fails. */
const FAILED_FETCH = /^(?:fetch failed|Failed to fetch|NetworkError |Load failed)/;

/** Returns whether an error is one of a network: it has a code, as those of Node and Bun have, or `fetch` threw it. */
function isOfNetwork(error: Error): boolean {
  const { name, message } = error;
  const cause = innermostCause(error);
  const hasCode = 'code' in error || (cause !== undefined && 'code' in cause);
  return hasCode || name === 'AbortError' || name === 'TimeoutError' || FAILED_FETCH.test(message);
}

/** Returns the stack in the reply that msw sends for a handler that has thrown: JSON with `name`, `message` and `stack`. */
function stackInReply(body: string): string | null {
  if (!body.startsWith('{"name":')) return null;
  try {
    const { name, message, stack } = JSON.parse(body);
    return [name, message, stack].every((each) => typeof each === 'string') ? stackOf({ name, message, stack }) : null;
  } catch {
    // It is another JSON text, or its end was not read.
    return null;
  }
}

/** Returns the stack of an error with its name and its message, which the stacks of some engines do not have. */
function stackOf({ name, message, stack = '' }: Error): string {
  return stack.includes(message) ? stack : `${name}: ${message}\n${stack}`;
}

function failureOf({ status, type }: Response): string {
  if (type === 'opaqueredirect') return 'The receiver answered with a redirect, and redirects are not followed.';
  if (status >= 300 && status < 400) return `The receiver answered ${status}, and redirects are not followed.`;
  return `The receiver answered ${status}.`;
}

/** Reads the beginning of a body and cancels the rest. */
async function readStart(body: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let text = '';
  for (let bytes = 0; bytes < MAX_BODY_BYTES; ) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    text += decoder.decode(value.subarray(0, MAX_BODY_BYTES - bytes), { stream: true });
    bytes += value.length;
  }
  // `cancel` is not awaited. If an interceptor has a copy of the body, `cancel` waits until the copy has been read.
  // Cancelling a body that has already failed rejects, which is harmless.
  void reader.cancel().catch(() => undefined);
  return text;
}

/** Returns the result of a call that failed or was refused. */
export function failedResult(error: unknown): CallResult {
  const refusal = findRefusal(error);
  const message = refusal?.message ?? describeError(error);
  return {
    status: null,
    responseHeaders: {},
    responseBody: '',
    error: message,
    isRefused: refusal !== undefined,
    thrown: null,
  };
}

function describeError(error: unknown): string {
  const cause = innermostCause(error);
  // For some invalid responses, such as status 000, Node throws an assertion error without a useful message.
  if (cause && 'code' in cause && cause.code === 'ERR_ASSERTION') return "The receiver's response is not valid HTTP.";
  const detail = cause?.message ?? '';
  if (detail.endsWith('.')) return detail;
  return detail === '' ? 'The call failed.' : `The call failed: ${detail}.`;
}

/** Returns the innermost cause of an error, because the error of `fetch` itself has no details. */
function innermostCause(error: unknown): Error | undefined {
  if (!isError(error)) return undefined;
  if (isError(error.cause)) return innermostCause(error.cause);
  return error instanceof AggregateError ? innermostCause(error.errors[0]) : error;
}
