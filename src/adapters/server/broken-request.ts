import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { ApiError, type ErrorCode } from '../../contract/errors.ts';

const BROKEN: Record<string, readonly [ErrorCode, string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['REQUEST_TIMEOUT', 'The request took too long to arrive.'],
  HPE_HEADER_OVERFLOW: ['HEADERS_TOO_LARGE', 'The request headers are too large.'],
};

/** Answers what never became a request, such as bytes that are not HTTP or headers that never end, and hangs up. */
export function answerBrokenRequest(problem: NodeJS.ErrnoException, socket: Duplex): void {
  if (problem.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [code, message] = BROKEN[problem.code ?? ''] ?? ['VALIDATION_ERROR', 'The request is not valid HTTP.'];
  const { status } = new ApiError(code, message);
  const body = JSON.stringify({ error: message, code });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}
