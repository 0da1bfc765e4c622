import { findRefusal } from '../fetch-in-process.ts';

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

/** What a receiver answered; rejects where its body breaks off. */
export async function toAnswer(response: Response): Promise<Answer> {
  const { status, headers, body } = response;
  return {
    // In browsers, a redirect that is not followed has none.
    status: status === 0 ? null : status,
    // Pages that a test runner imitates leave names in the letter case in which they came.
    responseHeaders: Object.fromEntries([...headers].map(([name, value]) => [name.toLowerCase(), value])),
    responseBody: body === null || headers.get('content-length') === '0' ? '' : await readStart(body),
    error: response.ok ? null : failureOf(response),
    isRefused: false,
  };
}

function failureOf({ status, type }: Response): string {
  if (type === 'opaqueredirect') return 'The receiver answered with a redirect, and redirects are not followed.';
  if (status >= 300 && status < 400) return `The receiver answered ${status}, and redirects are not followed.`;
  return `The receiver answered ${status}.`;
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
  void isCancelled(reader);
  return text;
}

/** Lets the rest of a body go, and answers whether its sender went along; a body that has failed already cannot be. */
async function isCancelled(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<boolean> {
  try {
    await reader.cancel();
    return true;
  } catch {
    return false;
  }
}

/** What there is to say where no answer came, because of an error or a refusal. */
export function noAnswer(error: unknown): Answer {
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
  const cause = innermost(error);
  // What Node asserts of an answer that it cannot make sense of, such as one with the status 000, says nothing.
  if (cause && 'code' in cause && cause.code === 'ERR_ASSERTION')
    return 'What the receiver answered is not valid HTTP.';
  const detail = cause?.message ?? '';
  if (detail.endsWith('.')) return detail;
  return detail === '' ? 'The call failed.' : `The call failed: ${detail}.`;
}

/** The innermost cause of an error, which says most: `fetch` itself only says that it failed. */
function innermost(error: unknown): Error | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error.cause instanceof Error) return innermost(error.cause);
  return error instanceof AggregateError ? innermost(error.errors[0]) : error;
}
