import { Agent, request } from 'node:http';
import { arrayBuffer } from 'node:stream/consumers';
import type { Mailbox } from 'agent-mailbox-mock';

/** What a request carries besides its method and path. */
export interface SendOptions {
  readonly key?: string;
  /** Written behind the path. */
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is. */
  readonly body?: BodyInit;
  readonly headers?: Record<string, string>;
}

/** A reply with its body read. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
  readonly text: string;
  /** The parsed body; `undefined` where it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into replies of every shape, and schemas check them.
  readonly json: any;
}

/** Whether a URL leads to a server on this machine. Names below `.test` are answered in process. */
const SOCKET = /^http:\/\/(?:127\.|localhost[:/]|\[::1\])/;

/** Sends one request: over a socket, or with the platform's own client, which msw intercepts. */
export async function send(url: string, method: string, options: SendOptions): Promise<Reply> {
  const { key, query, json, body = json === undefined ? undefined : JSON.stringify(json) } = options;
  const target = query ? `${url}?${writeQuery(query)}` : url;
  const headers = new Headers({
    ...(key !== undefined && { 'X-API-Key': key }),
    ...(json !== undefined && { 'Content-Type': 'application/json' }),
    ...options.headers,
  });
  if (SOCKET.test(url) && (body === undefined || typeof body === 'string' || body instanceof Uint8Array))
    return sendOverSocket(target, method, headers, body as string | Uint8Array | undefined);
  const fetch = SOCKET.test(url) ? fetchFromSocket : globalThis.fetch;
  const init = { method, headers, ...(body !== undefined && { body, duplex: 'half' }) };
  const response = await fetch(target, init as RequestInit);
  return createReply(response.status, response.headers, new Uint8Array(await response.arrayBuffer()));
}

/** The platform's own client, as it is before msw takes its place: a request to a socket needs no interception. */
const fetchFromSocket = globalThis.fetch;

const connections = new Agent({ keepAlive: true });

/** Sends what `fetch` would send, with half of its work. */
function sendOverSocket(url: string, method: string, headers: Headers, body?: string | Uint8Array): Promise<Reply> {
  if (typeof body === 'string' && !headers.has('content-type')) headers.set('content-type', 'text/plain;charset=UTF-8');
  if (body !== undefined) headers.set('content-length', String(Buffer.byteLength(body)));
  const all = { accept: '*/*', 'user-agent': 'node', ...Object.fromEntries(headers) };
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => reject(new TypeError('fetch failed', { cause: error }));
    const sent = request(url, { method, agent: connections, headers: all }, (response) => {
      const { statusCode = 0, headersDistinct } = response;
      const pairs = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
        values.map((value): [string, string] => [name, value]),
      );
      arrayBuffer(response).then(
        (bytes) => resolve(createReply(statusCode, new Headers(pairs), new Uint8Array(bytes))),
        fail,
      );
    });
    sent.on('error', fail).end(body);
  });
}

/** Returns a function that sends requests to a mailbox by its own `fetch`, without a network or an interceptor. */
export function senderTo(mailbox: Pick<Mailbox, 'baseUrl' | 'fetch'>) {
  return async (method: string, path: string, { key = '', json }: SendOptions = {}): Promise<Reply> => {
    const request = new Request(mailbox.baseUrl + path, {
      method,
      headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
      ...(json !== undefined && { body: JSON.stringify(json) }),
    });
    const reply = await mailbox.fetch(request);
    return createReply(reply.status, reply.headers, new Uint8Array(await reply.arrayBuffer()));
  };
}

/** Makes a reply of what came over the wire. */
export function createReply(status: number, headers: Headers, bytes: Uint8Array): Reply {
  const text = new TextDecoder().decode(bytes);
  const isJson = /^application\/([\w.]+\+)?json\b/.test(headers.get('content-type') ?? '') && text !== '';
  return { status, headers, bytes, text, json: isJson ? JSON.parse(text) : undefined };
}

function writeQuery(query: NonNullable<SendOptions['query']>): URLSearchParams {
  return new URLSearchParams(Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]));
}
