import type { IncomingMessage, ServerResponse } from 'node:http';
import { isStreamPath } from '../contract/stream-protocol.ts';
import { CONTROL_PATH } from '../control/table/control-path.ts';
import { type ApiResult, isCut } from '../service/pipeline/exchange.ts';
import { FAVICON_PATH } from './http/guards.ts';
import type { Line, Log } from './log-format.ts';

/** Returns whether a request only reads from the control plane or the inspector. `verbose` logs these requests too. */
export function isControlRead({ method = '', url = '' }: IncomingMessage): boolean {
  return ['GET', 'HEAD', 'OPTIONS'].includes(method) && CONTROL_URL.test(url);
}

const CONTROL_URL = new RegExp(`^(?:${CONTROL_PATH}(?=[/?]|$)|${FAVICON_PATH}$)`);

/**
 * Writes one line when a request is finished: operation, status, method, path, error code, duration, masked key, and
 * the reason of a refusal, with what the reply omits.
 */
export function logRequest(
  log: Log,
  request: IncomingMessage,
  response: ServerResponse,
  readResult: () => Partial<ApiResult>,
): void {
  const startedAt = performance.now();
  response.once('close', () => {
    const duration = `${(performance.now() - startedAt).toFixed(1)} ms`;
    log(() => describe(request, response, duration, readResult()));
  });
}

function describe(
  request: IncomingMessage,
  response: ServerResponse,
  duration: string,
  result: Partial<ApiResult>,
): Line {
  const { method, url = '' } = request;
  const { statusCode: status } = response;
  const isComplete = response.writableFinished || status === 101;
  const name = result.row?.id ?? nameWithoutOperation(url.replace(/\?.*/s, ''));
  const write = (outcome: string | undefined, note = '') =>
    [method, toAscii(url), outcome, duration, sentKey(request)].filter(Boolean).join(' ') + note;
  if (isComplete) return { name, sign: status, text: write(result.error?.code, formatNotes(result)), status };
  return { name, sign: '!', text: write(isCut({ status }) ? 'cut by a fault' : 'aborted'), status: 499 };
}

/** Returns the name of a request that is neither an operation nor a control call, by its path. */
export function nameWithoutOperation(path: string): string {
  return isStreamPath(path) ? 'stream' : '-';
}

/** The statuses of refusals whose message is the reason: it says which key, origin or host is wrong. */
const REFUSED: readonly unknown[] = [401, 403];

/** Formats the reason of a refusal, and the parts of the request that the operation did not read. */
function formatNotes({ error, ignored = [] }: Partial<ApiResult>): string {
  const reason = error?.internalReason?.() ?? (REFUSED.includes(error?.status) ? error?.message : undefined);
  const notes = [reason, ...ignored.map((part) => `ignored: ${part}`)];
  return notes
    .filter((note) => note !== undefined)
    .map((note) => ` (${note.slice(0, 300)})`)
    .join('');
}

/** Returns the API key of a request. Other credentials, such as a password, are not shown at all. */
function sentKey({ headers }: IncomingMessage): string {
  const credential = headers['x-api-key'] || headers.authorization?.replace(/^bearer\s+/i, '') || '';
  if (credential === '') return '';
  return KEY.test(String(credential)) ? toAscii(String(credential)) : '(not a key)';
}

const KEY = /^(sa|tk|wk|ak)_[\w-]+$/;

/** Decodes a text, so that an encoded key is masked too, and replaces characters that could imitate or break a line. */
function toAscii(text: string): string {
  return decode(text.slice(0, 600))
    .replace(/[^\x21-\x7e]/g, '?')
    .slice(0, 200);
}

/** Decodes percent-encoded ASCII repeatedly, until nothing changes. */
function decode(text: string): string {
  const decoded = text.replace(/%([2-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return decoded === text ? text : decode(decoded);
}
