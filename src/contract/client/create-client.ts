import { checkOptions, describeValue } from '../../basics/check-options.ts';
import { fillPath } from '../../basics/fill-path.ts';
import { trimEndSlashes } from '../../basics/text.ts';
import { ApiReplyError } from './api-reply-error.ts';
import type { CallOptions, ServiceClient } from './client-types.ts';
import { OPERATION_CALLS } from './operation-calls.ts';

/** Options of `createClient`. */
export interface ClientOptions {
  /** The URL of the service, such as `https://mailbox.test` or `http://127.0.0.1:4025`. */
  readonly baseUrl: string;
  /** The API key. Without it, only operations that need no key succeed. */
  readonly key?: string | undefined;
  /** Sends a request, as the global `fetch` does. Default: the global `fetch` at the time of each call. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
}

interface AnyCallOptions extends CallOptions {
  readonly query?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Creates a client of the service for tests: a method for each operation. The arguments of a method are the parameters
 * of its path in their order, then the fields of its body in one object, if it takes a body, then `query`, `headers`
 * and `signal` in one object. The client retries nothing: each call sends one request.
 *
 * @example
 * const helpdesk = createClient({ baseUrl: 'http://127.0.0.1:4025', key: 'ak_acme_helpdesk_key' });
 * const { messages } = await helpdesk.listMessages(inbox, { query: { direction: 'inbound' } });
 * await helpdesk.replyToMessage(inbox, messages[0].id, { plainBody: 'Thank you.' });
 *
 * @throws {TypeError} for an unknown option, or when `baseUrl` is not an absolute URL. A method rejects with
 *   {@link ApiReplyError} if the status of the reply is an error.
 */
export function createClient(options: ClientOptions): ServiceClient {
  checkOptions('createClient', options, ['baseUrl', 'key', 'fetch']);
  const { baseUrl, key, fetch = (...request) => globalThis.fetch(...request) } = options;
  if (!URL.canParse(baseUrl)) {
    throw new TypeError(`The option baseUrl of createClient must be an absolute URL, not ${describeValue(baseUrl)}.`);
  }
  const prefix = trimEndSlashes(baseUrl);

  async function call(id: string, row: string, input: readonly unknown[]): Promise<unknown> {
    const [method = '', path = '', mark] = row.split(' ');
    const takesBody = mark === 'body';
    const repliesWithBytes = mark === 'bytes';
    const rest = [...input];
    const target = fillPath(
      path,
      () => rest.shift(),
      (name, problem) => new TypeError(`The ${name} of the method ${id} ${problem}.`),
    );
    const body = takesBody ? (rest.shift() ?? {}) : undefined;
    const { query, headers, signal } = (rest.shift() ?? {}) as AnyCallOptions;
    const request = { method, url: prefix + target + writeQuery(query), body };
    const init: RequestInit = { method, headers: createHeaders({ key, hasBody: takesBody, headers }) };
    if (takesBody) init.body = JSON.stringify(body);
    if (signal) init.signal = signal;
    const response = await fetch(request.url, init);
    if (response.ok && repliesWithBytes) return new Uint8Array(await response.arrayBuffer());
    const received = parseReplyBody(await response.text());
    if (response.ok) return received === '' ? undefined : received;
    throw new ApiReplyError(request, { status: response.status, headers: response.headers, body: received });
  }

  const methods = Object.entries(OPERATION_CALLS).map(([id, row]) => [
    id,
    (...input: readonly unknown[]) => call(id, row, input),
  ]);
  return Object.fromEntries(methods);
}

/** Writes a query with its question mark. A field that is `undefined` is left out. */
function writeQuery(query: AnyCallOptions['query'] = {}): string {
  const fields = Object.entries(query).filter(([, value]) => value !== undefined);
  const texts = fields.map(([name, value]) => [name, value instanceof Date ? value.toISOString() : String(value)]);
  return texts.length === 0 ? '' : `?${new URLSearchParams(texts)}`;
}

interface HeaderSources {
  readonly key: string | undefined;
  readonly hasBody: boolean;
  readonly headers: HeadersInit | undefined;
}

function createHeaders({ key, hasBody, headers }: HeaderSources): Headers {
  const all = new Headers(key === undefined ? {} : { 'X-API-Key': key });
  if (hasBody) all.set('Content-Type', 'application/json');
  for (const [name, value] of new Headers(headers)) all.set(name, value);
  return all;
}

/** Returns the parsed JSON, or the text itself if it is not JSON. */
function parseReplyBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
