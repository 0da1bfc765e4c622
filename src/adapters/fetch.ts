import type { ApiReply, ApiRequest, StreamReply } from '../pipeline/http.ts';

/** Answers a fetch `Request` whose URL starts with `prefix`; without one, its whole path counts. */
export type Fetch = (request: Request, prefix?: string) => Promise<Response>;

/** Says whether a URL is the base URL, or a path below it. */
export function isBelow(baseUrl: string, url: string): boolean {
  return url.startsWith(baseUrl) && /^(?:[/?#]|$)/.test(url.slice(baseUrl.length));
}

/** Turns what answers plain requests into what answers fetch requests. */
export function createFetch(answer: (request: ApiRequest) => Promise<ApiReply | StreamReply>): Fetch {
  return async (request, prefix = new URL(request.url).origin) =>
    toResponse(await answer(toApiRequest(request, prefix)));
}

function toApiRequest(request: Request, prefix: string): ApiRequest {
  const [target = ''] = request.url.slice(prefix.length).split('#', 1);
  const mark = target.indexOf('?');
  return {
    method: request.method,
    path: mark < 0 ? target : target.slice(0, mark),
    query: new URLSearchParams(mark < 0 ? '' : target.slice(mark)),
    headers: request.headers,
    body: bodyOf(request),
  };
}

/** The body as a stream. Firefox has no `Request.body`; there it is read whole, which in a page it already is. */
function bodyOf(request: Request): ReadableStream<Uint8Array> | null {
  if (request.body !== undefined) return request.body;
  return new ReadableStream({
    async start(controller) {
      controller.enqueue(new Uint8Array(await request.arrayBuffer()));
      controller.close();
    },
  });
}

function toResponse({ status, headers, body }: ApiReply | StreamReply): Response {
  return new Response(body, { status, headers });
}
