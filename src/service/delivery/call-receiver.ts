import type { Environment } from '../../world/environment.ts';
import { findRefusal, isError } from '../../world/fetch-in-process.ts';
import { HandlerError } from './connected-handlers.ts';
import type { Attempt } from './delivery.ts';

/** The result of a call to a receiver. */
export interface CallResult extends Pick<Attempt, 'status' | 'responseHeaders' | 'responseBody' | 'error'> {
  /** Whether the emulator refused to call the receiver, because its address is not allowed. */
  readonly isRefused: boolean;
  /** The stack of the error that a receiver in the same process threw; null if it threw none. */
  readonly thrown: string | null;
}

/** The request of an attempt. */
interface ReceiverRequest {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/**
 * Calls a receiver once. Never rejects: if the call fails, or is aborted by the signal, the result contains the error or
 * the reason of the signal.
 */
export async function callReceiver(
  fetch: Environment['fetch'],
  { url, headers, body }: ReceiverRequest,
  signal: AbortSignal,
): Promise<CallResult> {
  // A `fetch` that a test gives may ignore the signal.
  const aborted = new Promise<CallResult>((resolve) => {
    signal.addEventListener('abort', () => resolve(failedResult(signal.reason)));
  });
  try {
    const response = fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
    return await Promise.race([response.then(toResult), aborted]);
  } catch (error) {
    const result = failedResult(error);
    if (error instanceof HandlerError) {
      return { ...result, error: error.message, thrown: isError(error.thrown) ? stackOf(error.thrown) : null };
    }
    const isOfReceiver = isError(error) && !result.isRefused && !isOfNetwork(error);
    return { ...result, thrown: isOfReceiver ? stackOf(error) : null };
  }
}

/** How much of a response body is read and kept. */
export const KEPT_RESPONSE_BYTES = 16 * 1024;

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
  for (let bytes = 0; bytes < KEPT_RESPONSE_BYTES; ) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    text += decoder.decode(value.subarray(0, KEPT_RESPONSE_BYTES - bytes), { stream: true });
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
