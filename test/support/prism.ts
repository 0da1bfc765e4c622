import { randomUUID } from 'node:crypto';
import { createLogger } from '@stoplight/prism-core';
import type { IHttpResponse, PrismHttpComponents } from '@stoplight/prism-http';
import { createServer } from '@stoplight/prism-http-server';
import { type CheckableDocument, readOperations } from './prism-operations.ts';
import type { Reply } from './send.ts';

/** One request on its way through Prism: how to send it to its server, and what came back from there. */
export interface Exchange {
  sendOn(): Promise<Reply>;
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
 * Starts what `prism proxy --errors` starts. Each request says how it is sent on, so one proxy serves every server of
 * the same document. It ends with the worker that runs it.
 */
export async function startProxy(document: CheckableDocument): Promise<CheckingProxy> {
  const exchanges = new Map<string, Exchange>();
  const prism = createServer(await readOperations(document), {
    cors: false,
    config: {
      isProxy: true,
      upstream: new URL('http://upstream.test'),
      upstreamProxy: undefined,
      checkSecurity: true,
      validateRequest: true,
      validateResponse: true,
      errors: true,
      mock: { dynamic: false },
    },
    components: { logger: createLogger('TEST', { level: 'silent' }), forward: forwardFrom(exchanges) },
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

/**
 * Passes on a request that Prism found valid, as its test wrote it, and keeps the reply as it was. The client of Prism
 * would write JSON anew and decode bytes.
 */
function forwardFrom(exchanges: Map<string, Exchange>): PrismHttpComponents['forward'] {
  return ({ data, validations }) =>
    () =>
    async () => {
      const id = data.headers?.[EXCHANGE_HEADER] ?? '';
      const exchange = exchanges.get(id);
      exchanges.delete(id);
      if (!exchange) return refuse('A request came that nobody announced.');
      if (validations.length > 0) return refuse(JSON.stringify(validations));
      try {
        exchange.reply = await exchange.sendOn();
        return { _tag: 'Right', right: responseOf(exchange.reply) };
      } catch (error) {
        return refuse(String(error));
      }
    };
}

function refuse(reason: string) {
  return { _tag: 'Left', left: new Error(reason) } as const;
}

/** What Prism checks: a reply without the headers that only concern its connection. */
function responseOf({ status, headers, json, text }: Reply): IHttpResponse {
  const { connection: _, 'keep-alive': __, 'transfer-encoding': ___, ...others } = Object.fromEntries(headers);
  return { statusCode: status, headers: others, body: json === undefined ? text : json };
}
