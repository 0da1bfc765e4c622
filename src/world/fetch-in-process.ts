import type { IncomingMessage } from 'node:http';
import { createNameCheck } from '../basics/named-error.ts';

/** Thrown when the URL of a webhook has an address that the emulator may not call. The message contains the reason. */
export class RefusedError extends Error {
  /** Recognises the error by its name, also if it comes from a second copy of this package. */
  static override readonly [Symbol.hasInstance] = createNameCheck('RefusedError');
  /** Always `RefusedError`. */
  override readonly name = 'RefusedError';
}

/** Finds a `RefusedError` among the causes of an error, because `fetch` wraps the error in errors of its own. */
export function findRefusal(error: unknown): RefusedError | undefined {
  if (!isError(error)) return undefined;
  return error instanceof RefusedError ? error : findRefusal(error.cause);
}

/** Returns whether a value is an error. Inside Jest, the errors of Node are not instances of the global `Error`. */
export function isError(value: unknown): value is Error {
  return typeof value === 'object' && value !== null && 'name' in value && 'message' in value;
}

/**
 * Calls a loopback address, or a URL that something in this process intercepts, such as an msw handler. The global
 * `fetch` is read at each call, because interceptors replace it.
 *
 * @throws {RefusedError} possibly as a cause, if the request would leave this machine.
 */
export async function fetchInProcess(url: string, init: RequestInit): Promise<Response> {
  const { hostname } = new URL(url);
  if (LOOPBACK.test(hostname)) return globalThis.fetch(url, init);
  // A web page has no sockets. Node, Bun and Deno have.
  if (globalThis.process?.getBuiltinModule === undefined) {
    throw new RefusedError(
      `${hostname} is not a loopback address, and a page cannot find out whether it is intercepted, so it was not ` +
        'called.',
    );
  }
  const refusal = new RefusedError(
    `${hostname} is neither a loopback address nor intercepted in this process, so it was not called.`,
  );
  // The flag is needed, because inside Jest msw 2 throws another error, which does not have the refusal as its cause.
  let isRefused = false;
  const refuse = () => {
    isRefused = true;
    return refusal;
  };
  try {
    return await fetchIfIntercepted(url, init, refuse);
  } catch (error) {
    throw isRefused || isUnhandled(error) ? refusal : error;
  }
}

/** Loopback hosts. `URL` has normalised IPv4 addresses already. */
const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/** IP addresses as `URL` normalises them. */
const IP_ADDRESS = /^(?:\[.*\]|[\d.]+)$/;

/**
 * Calls the URL if something in this process intercepts the request. msw 2 and most other interceptors replace `fetch`.
 * A request that they do not answer reaches the dispatcher, which refuses the request. msw 3 intercepts connections.
 * A dispatcher would refuse the request before there is a connection, so with msw 3 none is used. Only the `fetch` of
 * Node uses dispatchers.
 */
async function fetchIfIntercepted(url: string, init: RequestInit, refuse: () => RefusedError): Promise<Response> {
  const hasHostName = !IP_ADDRESS.test(new URL(url).hostname);
  const canDispatch = usesDispatcher();
  if (hasHostName && (!canDispatch || areSocketsIntercepted())) return fetchThroughSockets(url, init, refuse);
  if (!canDispatch) throw refuse();
  return globalThis.fetch(url, { ...init, dispatcher: createRefusingDispatcher(refuse) } as RequestInit);
}

/** Returns whether `fetch` uses the dispatcher in its options. The `fetch` of Bun, Deno and happy-dom does not. */
function usesDispatcher(): boolean {
  let isRead = false;
  const init = {
    get dispatcher() {
      isRead = true;
      return undefined;
    },
  };
  new Request('http://localhost/', init as RequestInit);
  return isRead;
}

/** Returns whether msw threw an error because it has no handler. The error names the option `onUnhandledRequest`. */
function isUnhandled(error: unknown): boolean {
  if (!isError(error)) return false;
  return error.message.includes('onUnhandledRequest') || isUnhandled(error.cause);
}

/** Creates a dispatcher for Node's `fetch` that opens no connection. An intercepted call does not use it. */
function createRefusingDispatcher(refuse: () => RefusedError) {
  return {
    dispatch() {
      throw refuse();
    },
  };
}

/** The statuses for which `Response` refuses a body. */
const STATUSES_WITHOUT_BODY = [204, 205, 304];

/**
 * Returns whether something in this process intercepts connections, as msw 3 does. Starts a connection and ends it at
 * once: if nothing intercepts the connection, Node calls `lookup` before `connect` returns.
 */
function areSocketsIntercepted(): boolean {
  let isIntercepted = true;
  const lookup = () => {
    isIntercepted = false;
  };
  process.getBuiltinModule('node:net').connect({ host: 'nobody.invalid', port: 1, lookup }).destroy();
  return isIntercepted;
}

/**
 * Calls the URL if the request or its connection is intercepted in this process. Never connects to another machine: for
 * a request that is not intercepted, Node must look up the address of the host, which fails with the error of `refuse`.
 * The host must not be an IP address, because Node does not look up an IP address. Redirects are not followed.
 */
async function fetchThroughSockets(url: string, init: RequestInit, refuse: () => Error): Promise<Response> {
  const { request } = process.getBuiltinModule(url.startsWith('https:') ? 'node:https' : 'node:http');
  const { method = 'GET', body, signal } = init;
  const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
    request(url, {
      method,
      headers: Object.fromEntries(new Headers(init.headers)),
      agent: false,
      lookup: (_host, _options, done) => done(refuse(), ''),
      ...(signal && { signal }),
    })
      .on('error', reject)
      .on('response', resolve)
      .end(body ?? undefined);
  });
  const { statusCode: status = 0, headers } = incoming;
  const fields = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
  const isEmpty = STATUSES_WITHOUT_BODY.includes(status);
  const stream = isEmpty ? null : process.getBuiltinModule('node:stream').Readable.toWeb(incoming);
  return new Response(stream as ReadableStream | null, { status, headers: fields });
}
