import type { HandlerResult, AnyReply, ApiRequest } from '../pipeline/http.ts';

/** Answers a fetch `Request` whose URL starts with `prefix`; without one, its whole path counts. */
export type Fetch = (request: Request, prefix?: string) => Promise<Response>;

/** Says whether a URL is the base URL, or a path below it. */
export function isUnderBaseUrl(baseUrl: string, url: string): boolean {
  return url.startsWith(baseUrl) && /^(?:[/?#]|$)/.test(url.slice(baseUrl.length));
}

/** Turns what answers plain requests into what answers fetch requests. */
export function createFetch(answer: (request: ApiRequest) => Promise<HandlerResult>): Fetch {
  return async (request, prefix = new URL(request.url).origin) =>
    toResponse((await answer(toApiRequest(request, prefix))).reply);
}

function toApiRequest(request: Request, prefix: string): ApiRequest {
  const [target = ''] = request.url.slice(prefix.length).split('#', 1);
  const mark = target.indexOf('?');
  return {
    method: request.method,
    path: mark < 0 ? target : target.slice(0, mark),
    query: new URLSearchParams(mark < 0 ? '' : target.slice(mark)),
    headers: request.headers,
    body: request.body === null ? null : readChunks(request),
  };
}

/** The body in pieces. Firefox has no `Request.body`; there it is read whole, which in a page it already is. */
async function* readChunks(request: Request): AsyncGenerator<Uint8Array> {
  if (request.body === undefined) yield new Uint8Array(await request.arrayBuffer());
  // Not every browser can iterate over a stream.
  const reader = request.body?.getReader();
  for (;;) {
    const { done = true, value } = (await reader?.read()) ?? {};
    if (done || !value) return;
    yield value;
  }
}

function toResponse({ status, headers, body }: AnyReply): Response {
  return new Response(body, { status, headers });
}
