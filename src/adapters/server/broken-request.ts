import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { ApiError, type ErrorCode } from '../../contract/errors.ts';
import { wrongMethod } from './guards.ts';
import { hangUp } from './hang-up.ts';

/** What Node says about bytes that it cannot read. */
export interface BrokenRequest extends NodeJS.ErrnoException {
  readonly bytesParsed?: number;
  readonly rawPacket?: Buffer;
}

const BROKEN: Record<string, readonly [ErrorCode, string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['REQUEST_TIMEOUT', 'The request took too long to arrive.'],
  HPE_HEADER_OVERFLOW: ['HEADERS_TOO_LARGE', 'The request headers are too large.'],
};

/**
 * Answers what never became a request, such as bytes that are not HTTP or headers that never end, and hangs up.
 * `latest` is the response to the last request of the connection, whose turn comes first.
 */
export function answerBrokenRequest(problem: BrokenRequest, socket: Duplex, latest: ServerResponse | undefined): void {
  if (problem.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const reply = toHttpText(toError(problem));
  if (!latest) hangUp(socket, reply);
  else if (!latest.req.complete) hangUp(socket, latest.headersSent ? undefined : reply);
  else if (latest.writableFinished) hangUp(socket, reply);
  else latest.once('finish', () => hangUp(socket, reply));
}

function toError(problem: BrokenRequest): ApiError {
  const method = problem.code === 'HPE_INVALID_METHOD' ? readMethod(problem) : undefined;
  if (method) return wrongMethod(method);
  return new ApiError(
    ...(BROKEN[problem.code ?? ''] ?? (['VALIDATION_ERROR', 'The request is not valid HTTP.'] as const)),
  );
}

/** The method of a request line that is sound but for a method that Node does not know. */
function readMethod({ rawPacket = Buffer.alloc(0), bytesParsed = 0 }: BrokenRequest): string | undefined {
  const lineStart = bytesParsed === 0 ? 0 : rawPacket.lastIndexOf('\n', bytesParsed - 1) + 1;
  return /^([A-Z]{1,20}) \//.exec(rawPacket.toString('latin1', lineStart, lineStart + 22))?.[1];
}

function toHttpText({ status, message, code, headers }: ApiError): string {
  const body = JSON.stringify({ error: message, code });
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    'Connection: close',
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}
