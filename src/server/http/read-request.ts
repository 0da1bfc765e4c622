import type { IncomingMessage } from 'node:http';
import type { ApiRequest } from '../../pipeline/http.ts';

/**
 * Reads a request of Node, whose target is a path. The path is normalised as fetch does it: `.` and `..` are gone, so
 * that a guard sees the path that is served. A GET or HEAD has no body for the service, as in fetch.
 */
export function readRequest(message: IncomingMessage): ApiRequest {
  const { method = '', headers } = message;
  // Behind a host of its own, `//host/path` stays a path.
  const { pathname, searchParams } = new URL(`http://localhost${message.url}`);
  return {
    method,
    path: pathname,
    query: searchParams,
    headers: { get: (name) => headers[name.toLowerCase()]?.toString() ?? null },
    // What is not read of a large body is left to be discarded; destroying it would end the connection.
    body: method === 'GET' || method === 'HEAD' ? null : message.iterator({ destroyOnReturn: false }),
  };
}
