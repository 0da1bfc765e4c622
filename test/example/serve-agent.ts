import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** Serves an agent over HTTP on 127.0.0.1; port 0 picks a free one. */
export async function serveAgent(agent: (request: Request) => Promise<Response>, port = 0) {
  const server = createServer(async (incoming, outgoing) => {
    const headers = incoming.headers as Record<string, string>;
    const body = await text(incoming);
    const { status } = await agent(new Request('http://127.0.0.1/', { method: 'POST', headers, body }));
    outgoing.writeHead(status).end();
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close: () => server.close() };
}
