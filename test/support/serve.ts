import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Starts an HTTP server for what a scripted receiver cannot do. It closes all connections at the end of its block, and not
 * before: on a busy machine, it could close one just when the next request is written to it.
 */
export async function serve(listener: RequestListener, host = '127.0.0.1') {
  const server = createServer({ keepAliveTimeout: 0 }, listener).listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}/in`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
