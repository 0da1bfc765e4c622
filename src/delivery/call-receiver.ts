import type { Environment } from '../environment.ts';
import { findRefusal } from '../outgoing.ts';
import type { OutgoingRequest } from './request.ts';

/** What came of calling a receiver. */
export interface Answer {
  /** The status that it answered; null when it did not. */
  readonly status: number | null;
  readonly responseHeaders: Readonly<Record<string, string>>;
  readonly responseBody: string;
  /** Why it failed, in a sentence; null for a 2xx. */
  readonly error: string | null;
  /** Whether it was not called at all, because the emulator may not. */
  readonly isRefused: boolean;
}

/** How much of an answer's body is read. */
const MAX_BODY_BYTES = 16 * 1024;

/** Calls a receiver once; `controller` breaks it off. It never rejects: whatever goes wrong is in the answer. */
export async function callReceiver(
  environment: Environment,
  url: string,
  { headers, body }: OutgoingRequest,
  { timeoutMs, controller }: { readonly timeoutMs: number; readonly controller: AbortController },
): Promise<Answer> {
  const cancelTimer = environment.setTimer(timeoutMs, () =>
    controller.abort(new Error(`The receiver did not answer within ${timeoutMs / 1000} s.`)),
  );
  try {
    const init: RequestInit = { method: 'POST', headers, body, redirect: 'manual', signal: controller.signal };
    return await toAnswer(await environment.fetch(url, init));
  } catch (error) {
    return noAnswer(controller.signal.aborted ? controller.signal.reason : error);
  } finally {
    cancelTimer();
  }
}

async function toAnswer(response: Response): Promise<Answer> {
  const { status, headers } = response;
  return {
    status,
    responseHeaders: Object.fromEntries(headers),
    responseBody: await readStart(response.body),
    error: response.ok ? null : failureOf(response),
    isRefused: false,
  };
}

/** In browsers, a redirect that is not followed has no status. */
function failureOf({ status, type }: Response): string {
  const isRedirect = type === 'opaqueredirect' || (status >= 300 && status < 400);
  if (isRedirect) return `The receiver answered ${status}, and redirects are not followed.`;
  return `The receiver answered ${status}.`;
}

/** Reads the beginning of a body, and lets the rest go. */
async function readStart(body: ReadableStream<Uint8Array> | null): Promise<string> {
  if (!body) return '';
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let text = '';
  for (let bytes = 0; bytes < MAX_BODY_BYTES; ) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    text += decoder.decode(value.subarray(0, MAX_BODY_BYTES - bytes), { stream: true });
    bytes += value.length;
  }
  await reader.cancel();
  return text;
}

function noAnswer(error: unknown): Answer {
  const refusal = findRefusal(error);
  return {
    status: null,
    responseHeaders: {},
    responseBody: '',
    error: refusal?.message ?? sentenceOf(error),
    isRefused: refusal !== undefined,
  };
}

/** The innermost cause of an error, which says most: `fetch` itself only says that it failed. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return 'The receiver could not be reached.';
  if (error.cause instanceof Error) return sentenceOf(error.cause);
  if (error instanceof AggregateError) return sentenceOf(error.errors[0]);
  return error.message || 'The receiver could not be reached.';
}
