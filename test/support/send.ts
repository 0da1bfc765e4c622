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

/** The platform's own client, as it is before msw takes its place: a request to a socket needs no interception. */
const fetchFromSocket = globalThis.fetch;

/** Whether a URL leads to a server on this machine. Names below `.test` are answered in process. */
const SOCKET = /^http:\/\/(?:127\.|localhost[:/]|\[::1\])/;

/** Sends one request with the platform's own client. */
export async function send(url: string, method: string, options: SendOptions): Promise<Reply> {
  const { key, query, json, body, headers } = options;
  const fetch = SOCKET.test(url) ? fetchFromSocket : globalThis.fetch;
  const response = await fetch(query ? `${url}?${writeQuery(query)}` : url, {
    method,
    headers: {
      ...(key !== undefined && { 'X-API-Key': key }),
      ...(json !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(json !== undefined && { body: JSON.stringify(json) }),
    ...(body !== undefined && { body, duplex: 'half' }),
  } as RequestInit);
  return createReply(response.status, response.headers, new Uint8Array(await response.arrayBuffer()));
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
