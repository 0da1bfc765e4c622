import { ApiError } from '../../contract/errors.ts';
import type { createStreams, Streams } from '../stream/streams.ts';
import { type ApiReply, createExchange, finishExchange, type Service, toErrorReply } from './exchange.ts';

const SWITCHING_PROTOCOLS: ApiReply = { status: 101, headers: {}, body: null };

/**
 * Returns a function that admits the clients of streams, and notifies the observers of each handshake, also if it
 * fails.
 */
export function observeHandshakes(
  admit: ReturnType<typeof createStreams>,
  { behaviours, observers }: Pick<Service, 'behaviours' | 'observers'>,
): Streams['admit'] {
  return (request) => {
    const exchange = createExchange({ ...request, method: 'GET', body: null }, behaviours);
    exchange.received = 'empty';
    try {
      const accept = admit(request, exchange);
      return (connection) => {
        finishExchange(exchange, SWITCHING_PROTOCOLS, observers);
        return accept(connection);
      };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      exchange.error = error;
      finishExchange(exchange, toErrorReply(error, exchange), observers);
      throw error;
    }
  };
}
