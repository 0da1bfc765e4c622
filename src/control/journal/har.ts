import { z } from 'zod';
import { lazyList } from '../../basics/json-pieces.ts';
import { lazy, type ReadonlyDeep } from '../../basics/lazy-schema.ts';
import { NAME, VERSION } from '../../basics/version.ts';
import type { HttpEntry, RequestContent, RequestEntry } from './request-entry.ts';

/** The schema of a document in the HTTP Archive format 1.2. */
export const harReply = lazy(() =>
  z.strictObject({
    log: z.strictObject({
      version: z.literal('1.2'),
      creator: z.strictObject({ name: z.string(), version: z.string() }),
      entries: z.array(z.record(z.string(), z.unknown())),
      comment: z.string().exactOptional(),
    }),
  }),
);

/** A document in the HTTP Archive format 1.2. */
export type Har = ReadonlyDeep<z.output<ReturnType<typeof harReply>>>;

/**
 * Converts HTTP requests to HAR 1.2, which browsers and HTTP tools can open; SMTP and IMAP are left out. A request
 * without the header `Host` gets a URL under `baseUrl`. A comment says how many earlier requests were `dropped`.
 */
export function createHar(requests: Iterable<RequestEntry>, baseUrl: string, dropped = 0): Har {
  const entries = lazyList(function* () {
    for (const entry of requests) if (isOverHttp(entry)) yield toHarEntry(entry, baseUrl);
  });
  const comment = `${dropped} earlier ${dropped === 1 ? 'request is' : 'requests are'} no longer kept.`;
  return {
    log: { version: '1.2', creator: { name: NAME, version: VERSION }, entries, ...(dropped > 0 && { comment }) },
  };
}

/** In HAR, -1 stands for an unknown size. */
const UNKNOWN = -1;

function isOverHttp(entry: RequestEntry): entry is HttpEntry {
  return entry.protocol === 'http';
}

function toHarEntry(entry: HttpEntry, baseUrl: string) {
  const { id, realTime, durationMs, reason } = entry;
  return {
    startedDateTime: new Date(Date.parse(realTime) - durationMs).toISOString(),
    time: durationMs,
    request: toHarRequest(entry, baseUrl),
    response: toHarResponse(entry),
    cache: {},
    timings: { send: 0, wait: durationMs, receive: 0 },
    comment: reason === null ? id : `${id}: ${reason}`,
  };
}

function toHarRequest({ method, path, request }: HttpEntry, baseUrl: string) {
  const { query, body, headers } = request;
  const search = query.length === 0 ? '' : `?${new URLSearchParams(query.map((pair) => [...pair]))}`;
  return {
    method,
    url: (headers.host ? `http://${headers.host}` : baseUrl) + path + search,
    queryString: query.map(([name, value]) => ({ name, value })),
    ...toHarMessage(request),
    ...(body !== null && { postData: { mimeType: headers['content-type'] ?? '', text: body } }),
  };
}

function toHarResponse({ status, reply }: HttpEntry) {
  const { body, bodyBytes, headers } = reply;
  const mimeType = headers['content-type'] ?? '';
  const content = { size: bodyBytes ?? UNKNOWN, mimeType, ...(body !== null && { text: body }) };
  return { status, statusText: '', ...toHarMessage(reply), content, redirectURL: '' };
}

/** The parts that a request and a response of a HAR document have in common. */
function toHarMessage({ headers, bodyBytes }: RequestContent) {
  return {
    httpVersion: 'HTTP/1.1',
    cookies: [],
    headers: Object.entries(headers).map(([name, value]) => ({ name, value })),
    headersSize: UNKNOWN,
    bodySize: bodyBytes ?? UNKNOWN,
  };
}
