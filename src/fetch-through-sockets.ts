import type { IncomingMessage } from 'node:http';

/** Statuses whose response has no body: `Response` refuses one. */
const STATUSES_WITHOUT_BODY = [204, 205, 304];

/** Whether this platform has sockets, as Node, Bun and Deno do, and web pages do not. */
export function hasSockets(): boolean {
  return globalThis.process?.getBuiltinModule !== undefined;
}

/**
 * Whether something in this process intercepts connections, as msw 3 does. It starts a connection and ends it at once:
 * if nothing intercepts it, Node has asked for the address by then.
 */
export function areSocketsIntercepted(): boolean {
  let isIntercepted = true;
  const lookup = () => {
    isIntercepted = false;
  };
  process.getBuiltinModule('node:net').connect({ host: 'nobody.invalid', port: 1, lookup }).destroy();
  return isIntercepted;
}

/**
 * Calls the URL if the request or its connection is intercepted in this process. It never connects to another machine:
 * whatever is not intercepted has to look up the address of the host, which fails with the error of `refuse`. The host must therefore
 * be a name, because an IP address is not looked up. Redirects are not followed.
 */
export async function fetchThroughSockets(url: string, init: RequestInit, refuse: () => Error): Promise<Response> {
  const { request } = process.getBuiltinModule(url.startsWith('https:') ? 'node:https' : 'node:http');
  const { method = 'GET', body, signal } = init;
  const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
    request(url, {
      method,
      headers: Object.fromEntries(new Headers(init.headers)),
      agent: false,
      lookup: (_host, _options, done) => done(refuse(), ''),
      ...(signal && { signal }),
    })
      .on('error', reject)
      .on('response', resolve)
      .end(body ?? undefined);
  });
  const { statusCode: status = 0, headers } = incoming;
  const fields = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
  const isEmpty = STATUSES_WITHOUT_BODY.includes(status);
  const stream = isEmpty ? null : process.getBuiltinModule('node:stream').Readable.toWeb(incoming);
  return new Response(stream as ReadableStream | null, { status, headers: fields });
}
