import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A server that is listening. */
export interface Listening {
  /** Such as `http://127.0.0.1:40231`. */
  readonly url: string;
  close(): Promise<void>;
}

/** Starts an HTTP server on this machine that answers each request by a fetch handler. */
export async function listen(answer: (request: Request) => Promise<Response>, port: number): Promise<Listening> {
  const server = createServer((incoming, outgoing) => {
    // If the client hangs up or the receiver is closed, there is nobody to answer.
    if (isPreflight(incoming)) outgoing.writeHead(204, CORS).end();
    else serve(answer, incoming, outgoing).catch(() => outgoing.destroy());
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

/** Lets a mailbox in a web page deliver to it too. */
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
  answer: (request: Request) => Promise<Response>,
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
  const response = await answer(new Request(`http://127.0.0.1${url}`, init));
  outgoing.writeHead(response.status, { ...CORS, ...Object.fromEntries(response.headers) });
  outgoing.end(new Uint8Array(await response.arrayBuffer()));
}
