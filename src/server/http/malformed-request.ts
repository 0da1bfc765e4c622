import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ApiError, type ErrorCode } from '../../contract/errors.ts';
import { wrongMethod } from './guards.ts';
import type { RequestQueue } from './request-queue.ts';

/** The error of Node's HTTP parser for bytes that it cannot parse. */
export interface MalformedRequest extends NodeJS.ErrnoException {
  readonly bytesParsed?: number;
  readonly rawPacket?: Buffer;
}

const ERRORS: Record<string, readonly [ErrorCode, string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['REQUEST_TIMEOUT', 'The request took too long to arrive.'],
  HPE_HEADER_OVERFLOW: ['HEADERS_TOO_LARGE', 'The request headers are too large.'],
};

/** Refuses bytes that Node cannot parse, such as invalid HTTP or too large headers, and closes the connection. */
export function refuseMalformedRequest(problem: MalformedRequest, socket: Duplex, queue: RequestQueue): void {
  if (problem.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  queue.refuse((method) => toHttpText(toError(problem), method === 'HEAD' || mayBeHeadRequest(problem, socket)));
}

function toError(problem: MalformedRequest): ApiError {
  const method = problem.code === 'HPE_INVALID_METHOD' ? readMethod(problem) : undefined;
  if (method) return wrongMethod(method);
  return new ApiError(
    ...(ERRORS[problem.code ?? ''] ?? (['VALIDATION_ERROR', 'The request is not valid HTTP.'] as const)),
  );
}

/** Returns the method of a request line whose only problem is a method that Node does not know. */
function readMethod({ rawPacket = Buffer.alloc(0), bytesParsed = 0 }: MalformedRequest): string | undefined {
  const lineStart = bytesParsed === 0 ? 0 : rawPacket.lastIndexOf('\n', bytesParsed - 1) + 1;
  return /^([A-Z]{1,20}) \//.exec(rawPacket.toString('latin1', lineStart, lineStart + 22))?.[1];
}

/**
 * Returns whether the malformed request may be a HEAD request, whose reply has no body. Its request line is in the last
 * packet, after the previous request; or it is in an earlier packet, which Node no longer has. Then the method is
 * unknown.
 */
function mayBeHeadRequest({ code, rawPacket, bytesParsed = 0 }: MalformedRequest, socket: Duplex): boolean {
  if (!rawPacket || code === 'HPE_INVALID_METHOD') return false;
  const parsed = rawPacket.subarray(0, bytesParsed).toString('latin1');
  const [line = ''] = parsed
    .slice(parsed.lastIndexOf('\r\n\r\n') + 1)
    .trimStart()
    .split('\r\n', 1);
  const isFirstPacket = (socket as Socket).bytesRead === rawPacket.length;
  return /(?:^|[^A-Za-z])HEAD \S/.test(line) || !(isFirstPacket || /(?:^|[^A-Za-z])[A-Z]+ \S/.test(line));
}

function toHttpText({ status, message, code, headers }: ApiError, isWithoutBody: boolean): string {
  const body = isWithoutBody ? '' : JSON.stringify({ error: message, code });
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    'Connection: close',
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}
