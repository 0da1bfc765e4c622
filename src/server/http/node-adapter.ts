import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type AnyReply, type ApiRequest, isCut } from '../../pipeline/http.ts';

/**
 * Converts a request of Node whose target is a path. As in fetch, `.` and `..` segments are resolved, so that a guard
 * checks the same path that is served, and a GET or HEAD has no body.
 */
export function readRequest(message: IncomingMessage): ApiRequest {
  const { method = '', headers } = message;
  return {
    method,
    ...parseTarget(message.url ?? ''),
    headers: { get: (name) => headers[name.toLowerCase()]?.toString() ?? null },
    // The unread rest of a large body is discarded later. Destroying the request would close the connection.
    body: method === 'GET' || method === 'HEAD' ? null : message.iterator({ destroyOnReturn: false }),
  };
}

/** A target that stands for itself: without a query, and without anything that a URL parser would change. */
const PLAIN_TARGET = /^[\w/-]+$/;

function parseTarget(target: string): Pick<ApiRequest, 'path' | 'query'> {
  if (PLAIN_TARGET.test(target)) return { path: target, query: new URLSearchParams() };
  // With an origin in front, `//host/path` is parsed as a path, not as another host.
  const { pathname, searchParams } = new URL(`http://localhost${target}`);
  return { path: pathname, query: searchParams };
}

/** Sends a reply, or cuts the connection. A streamed reply is sent until it ends or the client disconnects. */
export async function sendReply(response: ServerResponse, { status, headers, body }: AnyReply): Promise<void> {
  if (isCut({ status })) {
    // The log reads the status.
    Object.assign(response, { statusCode: status }).destroy();
    return;
  }
  response.writeHead(status, headers);
  if (!(body instanceof ReadableStream)) {
    response.end(body);
    return;
  }
  try {
    await pipeline(Readable.fromWeb(body as never), response);
  } catch (error) {
    const isClientGone = (error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE';
    if (!isClientGone) throw error;
  }
}

/** Discards the unread rest of a body, so that the client can finish sending and then read its reply. */
export function releaseRequest(request: IncomingMessage): void {
  if (request.readableEnded) return;
  request.removeAllListeners('data');
  request.resume();
}
