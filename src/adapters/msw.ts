import { type HttpHandler, http, type WebSocketEventListener, type WebSocketHandler, ws } from 'msw';
import type { ApiError, ErrorCode } from '../contract/errors.ts';
import { CLOSE_CODES } from '../contract/stream-protocol.ts';
import type { Environment } from '../environment.ts';
import { toApiError } from '../pipeline/error-reply.ts';
import { isStreamPath } from '../stream/admit.ts';
import type { AcceptStream } from '../stream/streams.ts';
import type { Connect } from './connect-stream.ts';
import type { Fetch } from './fetch.ts';

/** The paths that are ours; anything else at the same origin, such as a page's own files, is left alone. */
const API_PATH = /^\/(?:v1|health)(?:[/?#]|$)/;

/** What answers requests and streams, and who is told of a bug. */
export interface HandlerParts {
  readonly fetch: Fetch;
  readonly connect: Connect;
  readonly report: Environment['report'];
}

/**
 * Makes the msw handlers of a mailbox: one for requests and one for event streams. One handler serves the whole
 * operation table, so the number of operations does not show in the time of a request, and it matches by a string
 * comparison before anything is parsed. It is made with `http.all` and a predicate: public exports that msw 2 and 3
 * share.
 */
export function createHandlers(
  baseUrl: string,
  { fetch, connect, report }: HandlerParts,
): (HttpHandler | WebSocketHandler)[] {
  const isOurs = ({ url }: Request) => url.startsWith(baseUrl) && API_PATH.test(url.slice(baseUrl.length));
  return [
    http.all(
      ({ request }) => isOurs(request),
      ({ request }) => fetch(request, baseUrl),
    ),
    createStreamHandler(baseUrl, connect, report),
  ];
}

/**
 * One link for every mailbox, because what each one adds to the process stays for good. Its URL is nobody's: which
 * connections are whose is for the handlers to say.
 */
const STREAMS = ws.link('wss://streams.invalid');

/** Serves clients that use the global `WebSocket`, which Node has from version 22 on. */
function createStreamHandler(baseUrl: string, connect: Connect, report: Environment['report']): WebSocketHandler {
  const handler = STREAMS.addEventListener('connection', ({ client }) => {
    const request = { url: client.url.href, headers: new Headers() };
    try {
      serve(client, connect(request, baseUrl));
    } catch (error) {
      refuse(client, toApiError(error, report));
    }
  });
  return confine(handler, baseUrl.replace(/^http/, 'ws'));
}

/** Makes a handler one of the streams of one mailbox, and of nothing else. */
function confine(handler: WebSocketHandler, prefix: string): WebSocketHandler {
  const run = handler.run.bind(handler);
  return Object.assign(handler, {
    predicate({ url }: { readonly url: string | URL }) {
      const { origin, pathname } = new URL(url);
      const target = origin.replace(/^http/, 'ws') + pathname;
      return target.startsWith(prefix) && isStreamPath(target.slice(prefix.length));
    },
    // Some functions of msw, such as `getResponse`, give requests to every handler.
    run: async (...[connection, context]: Parameters<typeof run>) =>
      'client' in connection ? run(connection, context) : null,
  });
}

type Client = Parameters<WebSocketEventListener<'connection'>>[0]['client'];

function serve(client: Client, accept: AcceptStream): void {
  const session = accept({
    send: (text) => client.send(text),
    close: (code, reason) => client.close(code, reason),
    bufferedBytes: 0,
  });
  client.addEventListener('message', ({ data }) => session.receive(data));
  client.addEventListener('close', () => session.end());
}

const REFUSAL_CODES: Partial<Record<ErrorCode, number>> = {
  UNAUTHORIZED: CLOSE_CODES.unauthorized,
  FORBIDDEN: CLOSE_CODES.forbidden,
  NOT_FOUND: CLOSE_CODES.notFound,
};

/** The most bytes that the reason of a close may have (RFC 6455, section 5.5). */
const MAX_REASON_BYTES = 123;

/** Where there is no upgrade to refuse, the connection is closed with the kind of error as its code. */
function refuse(client: Client, { code, message }: ApiError): void {
  client.close(REFUSAL_CODES[code] ?? CLOSE_CODES.failed, message.slice(0, MAX_REASON_BYTES));
}
