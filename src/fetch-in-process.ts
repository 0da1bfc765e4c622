/** Thrown when a webhook leads to an address that the emulator may not call; the message has the reason. */
export class RefusedError extends Error {
  /** Always `RefusedError`. */
  override readonly name = 'RefusedError';
}

/** Finds the `RefusedError` among the causes of an error, because `fetch` wraps errors in its own. */
export function findRefusal(error: unknown): RefusedError | undefined {
  if (!(error instanceof Error)) return undefined;
  return error instanceof RefusedError ? error : findRefusal(error.cause);
}

/**
 * Calls a loopback address, or a URL that is intercepted in this process, such as by an msw handler. The global `fetch`
 * is read at each call, because interceptors replace it.
 *
 * @throws {RefusedError} possibly as a cause, if the request would leave this machine.
 */
export async function fetchInProcess(url: string, init: RequestInit): Promise<Response> {
  const { hostname } = new URL(url);
  if (LOOPBACK.test(hostname)) return globalThis.fetch(url, init);
  if (!acceptsDispatcher()) {
    throw new RefusedError(
      `${hostname} is not a loopback address, and a page cannot find out whether it is intercepted, so it was not called.`,
    );
  }
  const refusal = new RefusedError(
    `${hostname} is neither a loopback address nor intercepted in this process, so it was not called.`,
  );
  try {
    return await globalThis.fetch(url, { ...init, dispatcher: refusingDispatcher(refusal) } as RequestInit);
  } catch (error) {
    throw isUnhandled(error) ? refusal : error;
  }
}

/** Loopback hosts. `URL` has normalised IPv4 addresses already. */
const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/** Whether msw has no handler for a request and blocks it: its error then names the option `onUnhandledRequest`. */
function isUnhandled(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.message.includes('onUnhandledRequest') || isUnhandled(error.cause);
}

/** A dispatcher for Node's `fetch` that refuses to open a connection; an intercepted call does not use it. */
function refusingDispatcher(refusal: RefusedError) {
  return {
    dispatch() {
      throw refusal;
    },
  };
}

function acceptsDispatcher(): boolean {
  const { process } = globalThis as { process?: { versions?: { undici?: string } } };
  return process?.versions?.undici !== undefined;
}
