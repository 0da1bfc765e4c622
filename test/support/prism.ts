import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { createLogger } from '@stoplight/prism-core';
import { getHttpOperationsFromSpec } from '@stoplight/prism-http';
import { createServer as createPrism } from '@stoplight/prism-http-server';
import { createReply, type Reply } from './send.ts';

/** One request on its way through Prism: where it goes, and what came back from there. */
export interface Exchange {
  readonly upstream: string;
  reply?: Reply;
}

/** Prism as a validating proxy for one document. */
export interface CheckingProxy {
  readonly url: string;
  /** Announces a request, and returns the header by which the proxy recognises it. */
  announce(exchange: Exchange): Record<string, string>;
}

const EXCHANGE_HEADER = 'x-test-exchange';

/**
 * Starts what `prism proxy --errors` starts. Each request says which server it is for, so one proxy serves
 * every server of the same document. Both end with the worker that runs them.
 */
export async function startProxy(document: object): Promise<CheckingProxy> {
  const exchanges = new Map<string, Exchange>();
  const upstream = createServer((incoming, outgoing) => void forward(exchanges, incoming, outgoing));
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const { port } = upstream.unref().address() as AddressInfo;
  const prism = createPrism(await getHttpOperationsFromSpec(structuredClone(document)), {
    cors: false,
    config: {
      isProxy: true,
      upstream: new URL(`http://127.0.0.1:${port}`),
      upstreamProxy: undefined,
      checkSecurity: true,
      validateRequest: true,
      validateResponse: true,
      errors: true,
      mock: { dynamic: false },
    },
    components: { logger: createLogger('TEST', { level: 'silent' }) },
  });
  return {
    url: await prism.listen(0, '127.0.0.1'),
    announce(exchange) {
      const id = randomUUID();
      exchanges.set(id, exchange);
      // Prism ends a connection that was idle for five seconds, and a busy process would send on it before it knows.
      return { [EXCHANGE_HEADER]: id, connection: 'close' };
    },
  };
}

/** Passes a request on as Prism sent it, and keeps the reply as it was: Prism writes JSON anew and decodes bytes. */
async function forward(
  exchanges: Map<string, Exchange>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const { [EXCHANGE_HEADER]: id, host: _host, connection: _connection, ...headers } = incoming.headers;
  const exchange = exchanges.get(String(id));
  exchanges.delete(String(id));
  if (!exchange) return void outgoing.writeHead(500).end('A request came that nobody announced.');
  const body = await buffer(incoming);
  const { method } = incoming;
  const target = request(exchange.upstream + incoming.url, { method, headers, agent: false }, async (response) => {
    const bytes = await buffer(response);
    const { statusCode: status = 0, rawHeaders } = response;
    exchange.reply = createReply(status, new Headers(pairsOf(rawHeaders)), new Uint8Array(bytes));
    outgoing.writeHead(status, rawHeaders).end(bytes);
  });
  // A server that refuses a body may close before the whole body is sent. If there is no reply, Prism gets the error.
  target.on('error', () => outgoing.destroy());
  target.end(body);
}

function pairsOf(rawHeaders: readonly string[]): [string, string][] {
  return rawHeaders.flatMap((name, index): [string, string][] =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? '']] : [],
  );
}
