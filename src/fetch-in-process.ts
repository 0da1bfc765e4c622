/** Thrown instead of calling an address that the emulator may not call; the message says why. */
export class RefusedError extends Error {
  /** Always `RefusedError`. */
  override readonly name = 'RefusedError';
}

/** The refusal behind an error of `fetch`, which wraps what it fails with. */
export function findRefusal(error: unknown): RefusedError | undefined {
  if (!(error instanceof Error)) return undefined;
  return error instanceof RefusedError ? error : findRefusal(error.cause);
}

/**
 * Calls a loopback address, or what is intercepted in this process, such as an msw handler for a public URL.
 * `fetch` is looked up at each call, because interceptors replace it.
 *
 * @throws {RefusedError} possibly as a cause, when the request would leave this machine.
 */
export async function fetchInProcess(url: string, init: RequestInit): Promise<Response> {
  const { hostname } = new URL(url);
  if (LOOPBACK.test(hostname)) return globalThis.fetch(url, init);
  if (!takesDispatcher()) {
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

/** A URL has brought IPv4 addresses into their usual form already. */
const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/** Whether an interceptor has no handler for a request and is told to let none pass; msw names its option then. */
function isUnhandled(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.message.includes('onUnhandledRequest') || isUnhandled(error.cause);
}

/** Node's fetch opens connections by a dispatcher that a call can bring along; an intercepted call needs none. */
function refusingDispatcher(refusal: RefusedError) {
  return {
    dispatch() {
      throw refusal;
    },
  };
}

function takesDispatcher(): boolean {
  const { process } = globalThis as { process?: { versions?: { undici?: string } } };
  return process?.versions?.undici !== undefined;
}
