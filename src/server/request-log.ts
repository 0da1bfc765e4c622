import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ApiError } from '../contract/errors.ts';
import { CONTROL_PATH } from '../control/table/control-path.ts';
import { type ApiResult, isCut } from '../service/pipeline/exchange.ts';
import { FAVICON_PATH } from './http/guards.ts';
import type { Log } from './log-format.ts';

/**
 * Returns whether a request only reads from the control plane or the inspector, which is not logged unless asked for.
 */
export function isControlRead({ method = '', url = '' }: IncomingMessage): boolean {
  return ['GET', 'HEAD', 'OPTIONS'].includes(method) && CONTROL_URL.test(url);
}

const CONTROL_URL = new RegExp(`^(?:${CONTROL_PATH}(?=[/?]|$)|${FAVICON_PATH}$)`);

/**
 * Writes one line when a request is finished: method, path, status, error code, duration, masked key, and the
 * reason of a refusal, with what the reply omits.
 */
export function logRequest(
  log: Log,
  request: IncomingMessage,
  response: ServerResponse,
  readResult: () => Pick<ApiResult, 'error' | 'ignored'>,
): void {
  const startedAt = performance.now();
  response.once('close', () => {
    const isComplete = response.writableFinished || response.statusCode === 101;
    const duration = `${(performance.now() - startedAt).toFixed(1)} ms`;
    const unanswered = isCut({ status: response.statusCode }) ? 'cut by a fault' : 'aborted';
    const result = () => (isComplete ? resultOf(response, readResult().error) : unanswered);
    const reason = () => (isComplete ? noteOn(readResult()) : '');
    const parts = () => [request.method, toPrintable(request.url ?? ''), result(), duration, sentKey(request)];
    log(() => parts().filter(Boolean).join(' ') + reason(), isComplete ? response.statusCode : 499);
  });
}

function resultOf({ statusCode }: ServerResponse, error: ApiError | undefined): string {
  return error ? `${statusCode} ${error.code}` : String(statusCode);
}

/** The statuses of refusals whose message is the reason: it says which key, origin or host is wrong. */
const REFUSED: readonly unknown[] = [401, 403];

/**
 * Formats the reason of a refusal, and what the request had and the operation did not read. Both may quote the client's
 * input, so control characters are replaced.
 */
function noteOn({ error, ignored = [] }: ReturnType<Parameters<typeof logRequest>[3]>): string {
  const reason = error?.internalReason?.() ?? (REFUSED.includes(error?.status) ? error?.message : undefined);
  const notes = [reason, ...ignored.map((each) => `ignored: ${each}`)];
  return notes
    .filter((note) => note !== undefined)
    .map((note) => ` (${note.slice(0, 300).replace(/[^\P{C}]/gu, '?')})`)
    .join('');
}

/** Returns the API key of a request. Other credentials, such as a password, are not shown at all. */
function sentKey({ headers }: IncomingMessage): string {
  const credential = headers['x-api-key'] || headers.authorization?.replace(/^bearer\s+/i, '') || '';
  if (credential === '') return '';
  return KEY.test(String(credential)) ? toPrintable(String(credential)) : '(not a key)';
}

const KEY = /^(sa|tk|wk|ak)_[\w-]+$/;

/** Decodes a text, so that an encoded key is masked too, and replaces characters that could imitate or break a line. */
function toPrintable(text: string): string {
  return decode(text.slice(0, 600))
    .replace(/[^\x21-\x7e]/g, '?')
    .slice(0, 200);
}

/** Decodes percent-encoded ASCII repeatedly, until nothing changes. */
function decode(text: string): string {
  const decoded = text.replace(/%([2-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return decoded === text ? text : decode(decoded);
}
