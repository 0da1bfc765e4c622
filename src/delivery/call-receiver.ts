import { toBase64 } from '../contract/base64.ts';
import type { Environment } from '../environment.ts';
import { findRefusal } from '../outgoing.ts';
import type { Breaker } from './breaker.ts';
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

/** Calls a receiver once; `breaker` breaks it off. It never rejects: whatever goes wrong is in the answer. */
export async function callReceiver(
  environment: Environment,
  url: string,
  { headers, body }: OutgoingRequest,
  { timeoutMs, breaker }: { readonly timeoutMs: number; readonly breaker: Breaker },
): Promise<Answer> {
  const late = () => breaker.breakOff(new Error(`The receiver did not answer within ${timeoutMs / 1000} s.`));
  const cancelTimer = environment.setTimer(timeoutMs, late);
  try {
    const { href, login } = splitLogin(url);
    const init: RequestInit = {
      method: 'POST',
      headers: login === undefined ? headers : { ...headers, authorization: login },
      body,
      redirect: 'manual',
      signal: breaker.signal,
    };
    return await Promise.race([environment.fetch(href, init).then(toAnswer), breaker.broken]);
  } catch (error) {
    return noAnswer(error);
  } finally {
    cancelTimer();
  }
}

/** A login in a URL goes out as a header: `fetch` takes none in a URL. */
function splitLogin(url: string): { readonly href: string; readonly login?: string } {
  if (!url.includes('@')) return { href: url };
  const { username, password } = new URL(url);
  if (username === '' && password === '') return { href: url };
  const login = new TextEncoder().encode(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  const { href } = Object.assign(new URL(url), { username: '', password: '' });
  return { href, login: `Basic ${toBase64(login)}` };
}

async function toAnswer(response: Response): Promise<Answer> {
  const { status, headers } = response;
  return {
    status,
    responseHeaders: Object.fromEntries(headers),
    responseBody: await readBody(response),
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

/** Reads the beginning of a body, if there is one. */
async function readBody({ headers, body }: Response): Promise<string> {
  const isEmpty = body === null || headers.get('content-length') === '0';
  return isEmpty ? '' : readStart(body);
}

/** Reads the beginning of a body, and lets the rest go. */
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
  // Not waited for: where an interceptor has a copy of the body, it would take until that copy is read.
  reader.cancel().catch(() => {});
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

function sentenceOf(error: unknown): string {
  const detail = innermost(error);
  if (detail.endsWith('.')) return detail;
  return detail === '' ? 'The receiver could not be reached.' : `The receiver could not be reached: ${detail}.`;
}

/** What the innermost cause of an error says, which is most: `fetch` itself only says that it failed. */
function innermost(error: unknown): string {
  if (!(error instanceof Error)) return '';
  if (error.cause instanceof Error) return innermost(error.cause);
  return error instanceof AggregateError ? innermost(error.errors[0]) : error.message;
}
