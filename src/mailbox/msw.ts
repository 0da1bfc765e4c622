import type { HttpHandler, WebSocketEventListener, WebSocketHandler } from 'msw';
import type { ApiError, ErrorCode } from '../contract/errors.ts';
import { isServicePath } from '../contract/service-path.ts';
import { CLOSE_CODES, isStreamPath } from '../contract/stream-protocol.ts';
import { toApiError } from '../service/pipeline/exchange.ts';
import type { AcceptStream } from '../service/stream/streams.ts';
import type { Environment } from '../world/environment.ts';
import { explainOldMsw, OLDEST_MSW } from './explain-msw-error.ts';
import type { Connect, Fetch } from './fetch.ts';

/**
 * What the handlers need of msw. It is an argument, because each entry of the package loads msw in its own way: with
 * `import` or `require`, and so late that it may be missing.
 */
export type Msw = Pick<typeof import('msw'), 'http' | 'ws'>;

/** The functions that the msw handlers call. */
export interface HandlerParts {
  readonly fetch: Fetch;
  readonly connect: Connect;
  readonly report: Environment['report'];
  /** Returns whether a delivery with this `webhook-id` is being sent. */
  isSending?(webhookId: string): boolean;
}

/**
 * Creates the msw handlers of a mailbox: for requests, for deliveries, and for event streams. One handler serves all
 * operations, and compares texts before it parses anything. So the number of operations does not slow down a request.
 * `http.all` with a predicate is public in both msw 2 and msw 3.
 *
 * @throws {Error} if msw is too old; the message names its version, if that is known, and the one that is needed.
 */
export function createHandlers(msw: Msw, baseUrl: string, parts: HandlerParts): (HttpHandler | WebSocketHandler)[] {
  try {
    return createHandlersWith(msw, baseUrl, parts);
  } catch (error) {
    const advice = `The handlers of a mailbox could not be created; they need msw ${OLDEST_MSW} or newer.`;
    throw explainOldMsw(error) ?? new Error(advice, { cause: error });
  }
}

function createHandlersWith(
  { http, ws }: Msw,
  baseUrl: string,
  { fetch, connect, report, isSending }: HandlerParts,
): (HttpHandler | WebSocketHandler)[] {
  // Other paths of the same origin, such as the files of a web page, are not handled.
  const isServiceRequest = ({ url }: Request) => url.startsWith(baseUrl) && isServicePath(url.slice(baseUrl.length));
  return [
    http.all(
      ({ request }) => isServiceRequest(request),
      ({ request }) => fetch(request, baseUrl),
    ),
    // This handler has no response, so msw tries the handlers after it. If none of them has one, msw sends the delivery
    // without a warning.
    http.post(
      ({ request }) => isSending?.(request.headers.get('webhook-id') ?? '') ?? false,
      () => undefined,
    ),
    createStreamHandler(ws, baseUrl, connect, report),
  ];
}

/** The WebSocket link of each copy of msw, which all mailboxes share, because msw never releases what a link holds. */
const STREAM_LINKS = new WeakMap<Msw['ws'], ReturnType<Msw['ws']['link']>>();

/** Returns the link. Its URL is not used: a predicate of each handler selects the connections. */
function getStreamLink(ws: Msw['ws']) {
  const link = STREAM_LINKS.get(ws) ?? ws.link('wss://streams.invalid');
  STREAM_LINKS.set(ws, link);
  return link;
}

/** Creates the handler for clients that use the global `WebSocket`, which Node has since version 22. */
function createStreamHandler(
  ws: Msw['ws'],
  baseUrl: string,
  connect: Connect,
  report: Environment['report'],
): WebSocketHandler {
  const handler = getStreamLink(ws).addEventListener('connection', ({ client }) => {
    const request = { url: client.url.href, headers: new Headers() };
    try {
      serve(client, connect(request, baseUrl));
    } catch (error) {
      refuse(client, toApiError(error, report));
    }
  });
  return limitToStreams(handler, baseUrl.replace(/^http/, 'ws'));
}

/** Limits a handler to the event streams of one mailbox. */
function limitToStreams(handler: WebSocketHandler, prefix: string): WebSocketHandler {
  const run = handler.run.bind(handler);
  return Object.assign(handler, {
    predicate({ url }: { readonly url: string | URL }) {
      const { origin, pathname } = new URL(url);
      const target = origin.replace(/^http/, 'ws') + pathname;
      return target.startsWith(prefix) && isStreamPath(target.slice(prefix.length));
    },
    // Some functions of msw, such as `getResponse`, pass HTTP requests to every handler.
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

/**
 * Refuses a connection. msw cannot refuse the upgrade to a WebSocket, so the client gets the events of a refused upgrade,
 * `error` and then `close`, with the sentence that an HTTP client gets: as the message of the first, and as the reason of
 * the second, with a code for the kind of error. `open` does not come.
 */
function refuse(client: Client, { code, message }: ApiError): void {
  // Closed first: if a listener of `error` closes the socket itself, the code and the reason of the refusal stay.
  client.close(REFUSAL_CODES[code] ?? CLOSE_CODES.failed, toCloseReason(message));
  // msw has no function for `error`. Under Playwright, `socket` is missing, and the page gets `close` alone.
  const { socket } = client as { readonly socket?: EventTarget };
  socket?.dispatchEvent(Object.assign(new Event('error'), { message }));
}

/** The maximum length of a close reason, in bytes (RFC 6455, section 5.5). */
const MAX_REASON_BYTES = 123;

/** Returns a sentence as a close reason. What does not fit is replaced by `…`, which has three bytes. */
function toCloseReason(sentence: string): string {
  const bytes = new TextEncoder().encode(sentence);
  if (bytes.length <= MAX_REASON_BYTES) return sentence;
  // With `stream`, a character that is cut in the middle is left out.
  return `${new TextDecoder().decode(bytes.subarray(0, MAX_REASON_BYTES - 3), { stream: true })}…`;
}
