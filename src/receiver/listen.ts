import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** An HTTP server that is listening. */
export interface Listening {
  /** Its URL, such as `http://127.0.0.1:40231`. */
  readonly url: string;
  close(): Promise<void>;
}

/** Starts an HTTP server on 127.0.0.1 that passes each request to a fetch handler. */
export async function listen(handle: (request: Request) => Promise<Response>, port: number): Promise<Listening> {
  const server = createServer((incoming, outgoing) => {
    // If the client disconnects or the receiver closes, a response is not possible any more.
    if (isPreflight(incoming)) outgoing.writeHead(204, CORS).end();
    else serve(handle, incoming, outgoing).catch(() => outgoing.destroy());
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** CORS headers that allow deliveries from a mailbox in a web page. */
const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': '*',
  'access-control-allow-headers': '*',
  'access-control-expose-headers': '*',
  'access-control-allow-private-network': 'true',
};

function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}

async function serve(
  handle: (request: Request) => Promise<Response>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const { method = 'GET', url = '/', headers } = incoming;
  const disconnected = new AbortController();
  outgoing.once('close', () => disconnected.abort());
  const body = await buffer(incoming);
  const fields = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
  const init = {
    method,
    headers: fields,
    signal: disconnected.signal,
    ...(body.length > 0 && { body: new Uint8Array(body) }),
  };
  const response = await handle(new Request(`http://127.0.0.1${url}`, init));
  outgoing.writeHead(response.status, { ...CORS, ...Object.fromEntries(response.headers) });
  outgoing.end(new Uint8Array(await response.arrayBuffer()));
}
