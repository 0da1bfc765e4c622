import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';

/** Writes one line for each request when it is over: method, path, status, time taken and the masked key. */
export function logRequests(log: (line: string) => void): RequestHandler {
  return (request, response, next) => {
    const startedAt = performance.now();
    const target = request.originalUrl;
    response.once('close', () => log(maskKeys(describe(request, response, target, performance.now() - startedAt))));
    next();
  };
}

function describe(request: IncomingMessage, response: ServerResponse, target: string, durationMs: number): string {
  const isWhole = response.writableFinished || response.statusCode === 101;
  const status = isWhole ? response.statusCode : 'aborted';
  return `${request.method} ${printable(target)} ${status} ${durationMs.toFixed(1)} ms ${sentKey(request)}`.trimEnd();
}

/** The key that a request was sent with; other secrets, such as a password, are not shown at all. */
function sentKey({ headers }: IncomingMessage): string {
  const credential = headers['x-api-key'] || headers.authorization?.replace(/^bearer\s+/i, '') || '';
  if (credential === '') return '';
  return KEY.test(String(credential)) ? printable(String(credential)) : '(not a key)';
}

const KEY = /^(sa|tk|wk|ak)_[\w-]+$/;

/** Shortens every key in a text to what tells it from others: `tk_acme_…`. */
export function maskKeys(text: string): string {
  return text.replace(/(sa|tk|wk|ak)_[\w-]+/g, (key) =>
    key.length < 13 ? `${key.slice(0, 3)}…` : `${key.slice(0, 8)}…`,
  );
}

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
