import { failedResult } from '../delivery/attempt-sender.ts';
import type { Attempt } from '../delivery/delivery.ts';
import { splitLogin } from '../delivery/request.ts';
import { createOutgoingFetch } from '../server/outgoing/outgoing-fetch.ts';
import { createReceiverRules } from '../server/outgoing/receiver-rules.ts';

/** The result of sending a request on. */
export interface Forwarded {
  /** The HTTP status of the response; null if there was no response. */
  readonly status: number | null;
  /** Why there was no response, in a sentence; null if there was one. */
  readonly error: string | null;
  /** Whether the address may not be called. */
  readonly isRefused: boolean;
  readonly durationMs: number;
}

/** Sends the requests of deliveries on to another receiver. */
export interface Forwarder extends AsyncDisposable {
  /** The address of the receiver, without a login. */
  readonly target: string;
  /** Sends the request of an attempt on, with the same headers and body. It never rejects. */
  forward(attempt: Attempt, signal: AbortSignal): Promise<Forwarded>;
}

/** The time limit for a response. */
const TIMEOUT_MS = 30_000;

/** Creates a forwarder. Besides loopback addresses, only the hosts and ranges in `allowed` are called. */
export function createForwarder(url: string, allowed: readonly string[]): Forwarder {
  const outgoing = createOutgoingFetch(createReceiverRules(allowed));
  const { href, login } = splitLogin(url);

  return {
    target: href,
    async forward({ requestHeaders, requestBody: body }, signal) {
      // A login in the original request is for the original receiver only.
      const { authorization: _, ...headers } = requestHeaders;
      const limited = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
      const init: RequestInit = { method: 'POST', headers: { ...headers, ...login }, body, signal: limited };
      const startedMs = performance.now();
      const result = await outgoing.fetch(href, init).then(readStatus).catch(failedResult);
      const { status, error, isRefused } = result;
      return { status, error, isRefused, durationMs: Math.round(performance.now() - startedMs) };
    },
    [Symbol.asyncDispose]: () => outgoing.close(),
  };
}

/** Reads the status and discards the body. */
function readStatus({ status, body }: Response): Omit<Forwarded, 'durationMs'> {
  // Cancelling a body that has already failed rejects, which is harmless.
  void body?.cancel().catch(() => undefined);
  return { status, error: null, isRefused: false };
}
