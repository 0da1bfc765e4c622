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
  const status = response.writableFinished ? response.statusCode : 'aborted';
  const key = request.headers['x-api-key'] ?? request.headers.authorization?.replace(/^\S+\s+/, '') ?? '';
  return `${request.method} ${printable(target)} ${status} ${durationMs.toFixed(1)} ms ${printable(String(key))}`.trimEnd();
}

/** Shortens every key in a text to what tells it from others: `tk_acme_…`. */
export function maskKeys(text: string): string {
  return text.replace(/\b(sa|tk|wk|ak)_[\w-]+/g, (key) =>
    key.length < 13 ? `${key.slice(0, 3)}…` : `${key.slice(0, 8)}…`,
  );
}

/** Decodes what hides a key, and takes out what would break or fake a line. */
function printable(text: string): string {
  const decoded = text.replace(/%([2-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return decoded.replace(/[^\x21-\x7e]/g, '?').slice(0, 200);
}
