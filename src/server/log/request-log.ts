import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import type { Log } from './log-format.ts';

/**
 * Writes one line for each request when it is over: method, path, status, the code of a refusal, time taken and the
 * masked key.
 */
export function logRequests(log: Log): RequestHandler {
  return (request, response, next) => {
    const startedAt = performance.now();
    const target = request.originalUrl;
    const end = keepEnd(response);
    response.once('close', () => {
      const status = isWhole(response) ? response.statusCode : 499;
      log(
        describe(request, { target, result: resultOf(response, end()), durationMs: performance.now() - startedAt }),
        status,
      );
    });
    next();
  };
}

interface Answered {
  readonly target: string;
  readonly result: string;
  readonly durationMs: number;
}

function describe(request: IncomingMessage, { target, result, durationMs }: Answered): string {
  return `${request.method} ${printable(target)} ${result} ${durationMs.toFixed(1)} ms ${sentKey(request)}`.trimEnd();
}

function isWhole({ writableFinished, statusCode }: ServerResponse): boolean {
  return writableFinished || statusCode === 101;
}

/** The status, and the code of a refusal, which stands at the end of its body. */
function resultOf(response: ServerResponse, end: string): string {
  if (!isWhole(response)) return 'aborted';
  const code = response.statusCode < 400 ? undefined : /"code":"([A-Z_]+)"\}$/.exec(end)?.[1];
  return code === undefined ? String(response.statusCode) : `${response.statusCode} ${code}`;
}

/** How much of the end of a body is kept: more than the longest code has. */
const END_LENGTH = 100;

/** Keeps the end of what is written to a response. */
function keepEnd(response: ServerResponse): () => string {
  let kept = '';
  const keep = (chunk: unknown) => {
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) return;
    kept = (kept + Buffer.from(chunk.slice(-END_LENGTH) as string).toString('latin1')).slice(-END_LENGTH);
  };
  for (const method of ['write', 'end'] as const) {
    const original = response[method].bind(response) as (...args: unknown[]) => never;
    response[method] = (...args: unknown[]) => {
      keep(args[0]);
      return original(...args);
    };
  }
  return () => kept;
}

/** The key that a request was sent with; other secrets, such as a password, are not shown at all. */
function sentKey({ headers }: IncomingMessage): string {
  const credential = headers['x-api-key'] || headers.authorization?.replace(/^bearer\s+/i, '') || '';
  if (credential === '') return '';
  return KEY.test(String(credential)) ? printable(String(credential)) : '(not a key)';
}

const KEY = /^(sa|tk|wk|ak)_[\w-]+$/;

/** Decodes what hides a key, and takes out what would break or fake a line. */
function printable(text: string): string {
  return decode(text.slice(0, 600))
    .replace(/[^\x21-\x7e]/g, '?')
    .slice(0, 200);
}

/** Decodes percent-encoded ASCII, however often it was encoded. */
function decode(text: string): string {
  const decoded = text.replace(/%([2-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return decoded === text ? text : decode(decoded);
}
