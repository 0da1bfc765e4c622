import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { ApiError, type ErrorCode } from '../../contract/errors.ts';
import { wrongMethod } from './guards.ts';
import type { RequestQueue } from './request-queue.ts';

/** What Node says about bytes that it cannot read. */
export interface MalformedRequest extends NodeJS.ErrnoException {
  readonly bytesParsed?: number;
  readonly rawPacket?: Buffer;
}

const BROKEN: Record<string, readonly [ErrorCode, string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['REQUEST_TIMEOUT', 'The request took too long to arrive.'],
  HPE_HEADER_OVERFLOW: ['HEADERS_TOO_LARGE', 'The request headers are too large.'],
};

/** Answers what never became a request, such as bytes that are not HTTP or headers that never end, and hangs up. */
export function refuseMalformedRequest(problem: MalformedRequest, socket: Duplex, turns: RequestQueue): void {
  if (problem.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  turns.refuse((method) => toHttpText(toError(problem), method === 'HEAD' || isToHead(problem)));
}

function toError(problem: MalformedRequest): ApiError {
  const method = problem.code === 'HPE_INVALID_METHOD' ? readMethod(problem) : undefined;
  if (method) return wrongMethod(method);
  return new ApiError(
    ...(BROKEN[problem.code ?? ''] ?? (['VALIDATION_ERROR', 'The request is not valid HTTP.'] as const)),
  );
}

/** The method of a request line that is sound but for a method that Node does not know. */
function readMethod({ rawPacket = Buffer.alloc(0), bytesParsed = 0 }: MalformedRequest): string | undefined {
  const lineStart = bytesParsed === 0 ? 0 : rawPacket.lastIndexOf('\n', bytesParsed - 1) + 1;
  return /^([A-Z]{1,20}) \//.exec(rawPacket.toString('latin1', lineStart, lineStart + 22))?.[1];
}

/**
 * Says whether what cannot be read is the head of a HEAD request, which is answered without a body. It begins behind
 * the head before it, and behind a body where that head has one.
 */
function isToHead({ rawPacket = Buffer.alloc(0), bytesParsed = 0 }: MalformedRequest): boolean {
  const parsed = rawPacket.subarray(0, bytesParsed).toString('latin1');
  const [line = ''] = parsed
    .slice(parsed.lastIndexOf('\r\n\r\n') + 1)
    .trimStart()
    .split('\r\n', 1);
  return /(?:^|[^A-Za-z])HEAD \S/.test(line);
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
