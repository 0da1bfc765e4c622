import { type HttpHandler, http, type WebSocketEventListener, type WebSocketHandler, ws } from 'msw';
import { ApiError, type ErrorCode } from '../contract/errors.ts';
import { CLOSE_CODES, STREAM_PATH } from '../contract/stream.ts';
import type { Connect } from './connect.ts';
import type { Fetch } from './fetch.ts';

/** The paths that are ours; anything else at the same origin, such as a page's own files, is left alone. */
const API_PATH = /^\/(?:v1|health)(?:[/?#]|$)/;

/**
 * Makes the msw handlers of a mailbox: one for requests and one for event streams. One handler serves the whole
 * operation table, so the number of operations does not show in the time of a request, and it matches by a string
 * comparison before anything is parsed. It is made with `http.all` and a predicate: public exports that msw 2 and 3
 * share.
 */
export function createHandlers(baseUrl: string, fetch: Fetch, connect: Connect): (HttpHandler | WebSocketHandler)[] {
  const isOurs = ({ url }: Request) => url.startsWith(baseUrl) && API_PATH.test(url.slice(baseUrl.length));
  return [
    http.all(
      ({ request }) => isOurs(request),
      ({ request }) => fetch(request, baseUrl),
    ),
    createStreamHandler(baseUrl, connect),
  ];
}

/** Serves clients that use the global `WebSocket`, which Node has from version 22 on. */
function createStreamHandler(baseUrl: string, connect: Connect): WebSocketHandler {
  const prefix = baseUrl.replace(/^http/, 'ws').replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const link = ws.link(new RegExp(`^${prefix}${STREAM_PATH.source.slice(1)}`));
  const handler = link.addEventListener('connection', ({ client }) => {
    try {
      const session = connect(
        { url: client.url.href, headers: new Headers() },
        baseUrl,
      )({
        send: (text) => client.send(text),
        close: (code, reason) => client.close(code, reason),
        bufferedBytes: 0,
      });
      client.addEventListener('message', ({ data }) => session.receive(data));
      client.addEventListener('close', () => session.end());
    } catch (error) {
      refuse(client, error);
    }
  });
  return leaveRequestsAlone(handler);
}

/** Lets the handler stand among those of requests where msw does not tell them apart, as in its `getResponse`. */
function leaveRequestsAlone(handler: WebSocketHandler): WebSocketHandler {
  const run = handler.run.bind(handler);
  return Object.assign(handler, {
    run: async (...[connection, context]: Parameters<typeof run>) =>
      'client' in connection ? run(connection, context) : null,
  });
}

const REFUSAL_CODES: Partial<Record<ErrorCode, number>> = {
  UNAUTHORIZED: CLOSE_CODES.unauthorized,
  FORBIDDEN: CLOSE_CODES.forbidden,
  NOT_FOUND: CLOSE_CODES.notFound,
};

type Client = Parameters<WebSocketEventListener<'connection'>>[0]['client'];

/** The most bytes that the reason of a close may have (RFC 6455, section 5.5). */
const MAX_REASON_BYTES = 123;

/** Where there is no upgrade to refuse, the connection is closed with the kind of error as its code. */
function refuse(client: Client, error: unknown): void {
  const { code, message } = error instanceof ApiError ? error : new ApiError('INTERNAL_ERROR', 'The emulator failed.');
  client.close(REFUSAL_CODES[code] ?? CLOSE_CODES.failed, message.slice(0, MAX_REASON_BYTES));
}
