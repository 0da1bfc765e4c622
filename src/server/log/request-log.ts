import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ApiError } from '../../contract/errors.ts';
import type { Log } from './log-format.ts';

/**
 * Writes one line for a request when it is over: method, path, status, the code of a refusal, time taken, the masked
 * key, and the reason of the refusal that the reply does not tell.
 */
export function logRequest(
  log: Log,
  request: IncomingMessage,
  response: ServerResponse,
  readError: () => ApiError | undefined,
): void {
  const startedAt = performance.now();
  response.once('close', () => {
    const isWhole = response.writableFinished || response.statusCode === 101;
    const duration = `${(performance.now() - startedAt).toFixed(1)} ms`;
    const result = () => (isWhole ? resultOf(response, readError()) : 'aborted');
    const reason = () => (isWhole ? reasonOf(readError()) : '');
    const parts = () => [request.method, toPrintable(request.url ?? ''), result(), duration, sentKey(request)];
    log(() => parts().filter(Boolean).join(' ') + reason(), isWhole ? response.statusCode : 499);
  });
}

function resultOf({ statusCode }: ServerResponse, error: ApiError | undefined): string {
  return error ? `${statusCode} ${error.code}` : String(statusCode);
}

/** The reason that only the log tells, which can quote what a client sent. */
function reasonOf(error: ApiError | undefined): string {
  const reason = error?.explain?.();
  return reason === undefined ? '' : ` (${reason.slice(0, 300).replace(/[^\P{C}]/gu, '?')})`;
}

/** The key that a request was sent with; other secrets, such as a password, are not shown at all. */
function sentKey({ headers }: IncomingMessage): string {
  const credential = headers['x-api-key'] || headers.authorization?.replace(/^bearer\s+/i, '') || '';
  if (credential === '') return '';
  return KEY.test(String(credential)) ? toPrintable(String(credential)) : '(not a key)';
}

const KEY = /^(sa|tk|wk|ak)_[\w-]+$/;

/** Decodes what hides a key, and takes out what would break or fake a line. */
function toPrintable(text: string): string {
  return decode(text.slice(0, 600))
    .replace(/[^\x21-\x7e]/g, '?')
    .slice(0, 200);
}

/** Decodes percent-encoded ASCII, however often it was encoded. */
function decode(text: string): string {
  const decoded = text.replace(/%([2-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return decoded === text ? text : decode(decoded);
}
