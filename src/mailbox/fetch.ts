import { describeValue } from '../basics/check-options.ts';
import { type ApiRequest, type ApiResult, NO_QUERY } from '../service/pipeline/exchange.ts';
import { ConnectionCutError, isCut, toResponseBody } from '../service/pipeline/reply.ts';
import type { AcceptStream, Streams } from '../service/stream/streams.ts';

/** Handles a fetch `Request`. `prefix` is the part of the URL before the path. Default: the origin of the URL. */
export type Fetch = (request: Request, prefix?: string) => Promise<Response>;

/**
 * Creates the public functions `fetch` and `stream` of a mailbox. `fetch` has the arguments of the global `fetch`, and
 * passes requests to other URLs on to the `fetch` that is global now.
 */
export function createClientFunctions(baseUrl: string, fetch: Fetch, connect: Connect) {
  const { fetch: otherFetch } = globalThis;
  const prefixOf = ({ url }: { readonly url: string }) =>
    isUnderBaseUrl(baseUrl, url.replace(/^ws/, 'http')) ? baseUrl : undefined;

  /** A `Request` may name any host, unless this function is the global `fetch`, which also gets requests to others. */
  function isForMailbox(input: Request | URL | string): boolean {
    if (isRequest(input)) return globalThis.fetch !== ownFetch || isUnderBaseUrl(baseUrl, input.url);
    return isUnderBaseUrl(baseUrl, URL.canParse(String(input)) ? new URL(input).href : String(input));
  }

  async function ownFetch(input: Request | URL | string, init?: RequestInit) {
    if (!isRequest(input) && !URL.canParse(String(input), globalThis.location?.href)) {
      throw new TypeError(
        `A mailbox takes absolute URLs, as under its baseUrl ${baseUrl}, not ${describeValue(input)}.`,
      );
    }
    // Browsers call `fetch` only on the global object. The input is passed as it is, with what only Node knows of.
    if (!isForMailbox(input)) return otherFetch.call(globalThis, input, init);
    const request = isRequest(input) && !init ? input : new Request(input, init);
    const response = await fetch(request, prefixOf(request));
    if (response.type === 'error') throw new ConnectionCutError();
    return response;
  }

  return {
    fetch: ownFetch,
    stream(request: Pick<Request, 'url' | 'headers'>) {
      if (typeof request?.url === 'string' && typeof request.headers?.get === 'function') {
        return connect(request, prefixOf(request));
      }
      throw new TypeError(
        `The method stream takes a Request, or an object with url and headers, not ${describeValue(request)}.`,
      );
    },
  };
}

/** Returns whether a URL is the base URL or a path below it. */
export function isUnderBaseUrl(baseUrl: string, url: string): boolean {
  return url.startsWith(baseUrl) && /^(?:[/?#]|$)/.test(url.slice(baseUrl.length));
}

function isRequest(input: Request | URL | string): input is Request {
  return typeof input === 'object' && input !== null && 'method' in input;
}

/**
 * Creates a `Fetch` function from a function that handles an {@link ApiRequest}. A cut connection becomes
 * `Response.error()`.
 */
export function createFetch(handle: (request: ApiRequest) => Promise<ApiResult>): Fetch {
  return async (request, prefix = new URL(request.url).origin) => {
    const { reply } = await handle(toApiRequest(request, prefix));
    return isCut(reply) ? Response.error() : new Response(toResponseBody(reply.body), reply);
  };
}

function toApiRequest(request: Request, prefix: string): ApiRequest {
  const afterPrefix = request.url.slice(prefix.length);
  const target = afterPrefix.includes('#') ? afterPrefix.slice(0, afterPrefix.indexOf('#')) : afterPrefix;
  const queryStart = target.indexOf('?');
  return {
    method: request.method,
    path: queryStart < 0 ? target : target.slice(0, queryStart),
    query: queryStart < 0 ? NO_QUERY : new URLSearchParams(target.slice(queryStart)),
    headers: request.headers,
    body: request.body === null ? null : readChunks(request),
  };
}

/** Reads the body in chunks. In Firefox, which has no `Request.body`, reads the whole body at once. */
async function* readChunks(request: Request): AsyncGenerator<Uint8Array> {
  if (!request.body) {
    yield new Uint8Array(await request.arrayBuffer());
    return;
  }
  // A reader is used because not every browser can iterate over a stream.
  const reader = request.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

/**
 * Checks a request for an event stream, and returns the function that starts the stream. `prefix` is the part of the
 * URL before the path. Default: the origin of the URL.
 */
export type Connect = (request: Pick<Request, 'url' | 'headers'>, prefix?: string) => AcceptStream;

/** Creates a `Connect` function from `admit`, which takes the path, the query and the headers of a request. */
export function createConnect(admit: Streams['admit']): Connect {
  return ({ url, headers }, prefix) => {
    const { pathname, searchParams } = new URL(url);
    const basePath = prefix === undefined ? '' : new URL(prefix).pathname.replace(/\/$/, '');
    return admit({ path: pathname.slice(basePath.length), query: searchParams, headers });
  };
}
