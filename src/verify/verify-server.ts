import { toPrintableJson } from '../basics/printable.ts';
import { isUrlWithScheme } from '../basics/text.ts';
import type { BehaviourOptions } from '../contract/behaviours.ts';
import { isLoopbackHost } from '../server/loopback.ts';
import type { Verification } from './finding.ts';
import { createRunTimeout, createServerTarget, startReceiver } from './targets.ts';
import { Verifier } from './verifier.ts';
import { VerifyError } from './verify-session.ts';

/** The time in which a run must end, without and with the checks that wait, in milliseconds. */
export const RUN_TIMEOUTS_MS = { usual: 300_000, slow: 1_200_000 } as const;

/** The highest number of requests in a second to a server that is not on this machine. */
export const DEFAULT_RATE = 25;

/** The server that `verifyServer` compares with the emulator, and how. */
export interface VerifyOptions {
  /** The URL of the server, such as `https://api.example.com`. */
  readonly baseUrl: string;
  /**
   * The keys of the server: a key of a tenant in which things may be created, and, for more comparisons, a key of
   * another tenant and a key of the operator.
   */
  readonly keys: {
    /** A `tk_` key of a tenant in which things may be created and deleted. */
    readonly tenant: string;
    /** A `tk_` key of another tenant, to check that the tenants do not see each other. */
    readonly otherTenant?: string | undefined;
    /** An `sa_` key, to create and delete a tenant. */
    readonly operator?: string | undefined;
  };
  /** A public URL at which deliveries of webhooks reach `receiverPort`. A server on loopback needs none. */
  readonly receiverUrl?: string | undefined;
  /** The port on loopback at which deliveries arrive. Default: a free port. */
  readonly receiverPort?: number | undefined;
  /** Whether to run also the checks that must wait, such as for a retry. Default: false. */
  readonly slow?: boolean | undefined;
  /** Whether everything is read after each step, which takes four to five times as many requests. Default: false. */
  readonly thorough?: boolean | undefined;
  /** Whether to send no mail, because a mail calls the webhooks that the tenant already has. Default: false. */
  readonly noDeliveries?: boolean | undefined;
  /** The highest number of requests in a second. Default: 25; on loopback no limit. */
  readonly rate?: number | undefined;
  /** The time in which the run must end, in milliseconds. Default: 5 minutes; with `slow` 20 minutes. */
  readonly timeoutMs?: number | undefined;
  /** The time in which a reply, a mail, a delivery or a handshake must come, in milliseconds. Default: 10 s. */
  readonly requestTimeoutMs?: number | undefined;
  /** The behaviours of the server, if they are known. They are then not looked for. */
  readonly profile?: BehaviourOptions | undefined;
  /** Ends the run early. What was created is deleted nevertheless. */
  readonly signal?: AbortSignal | undefined;
  /** Called with the name of each step when the step begins. */
  readonly onProgress?: ((step: string) => void) | undefined;
  /** Called with a sentence if the server is so slow that the time of the run will not be enough. */
  readonly onSlow?: ((sentence: string) => void) | undefined;
}

/**
 * Compares a server with the emulator, as the command `verify` does, and returns what agrees, what differs, and what was
 * not compared. Creates things with the keys without asking for confirmation, and deletes what it created.
 *
 * @example
 * const { findings } = await verifyServer({ baseUrl: 'https://api.example.com', keys: { tenant: 'tk_…' } });
 * expect(findings.filter(({ verdict }) => verdict === 'differs')).toEqual([]);
 * @throws {VerifyError} if the run cannot begin, because the server cannot be reached or refuses to create anything.
 */
export async function verifyServer(options: VerifyOptions): Promise<Verification> {
  const { keys, receiverPort = 0, slow = false, profile, signal, onProgress, onSlow } = options;
  const { thorough: isThorough, noDeliveries } = options;
  const baseUrl = parseBaseUrl('baseUrl', options.baseUrl);
  const receiverUrl = options.receiverUrl === undefined ? undefined : parseBaseUrl('receiverUrl', options.receiverUrl);
  const isLocal = isLoopbackHost(new URL(baseUrl).hostname);
  const canReceive = isLocal || receiverUrl !== undefined;
  const receiver = await startReceiver(receiverPort, receiverUrl).catch((error: Error) => {
    throw new VerifyError(`The receiver cannot listen on port ${receiverPort}: ${error.message}.`);
  });
  const timeout = createRunTimeout(options.timeoutMs ?? (slow ? RUN_TIMEOUTS_MS.slow : RUN_TIMEOUTS_MS.usual));
  try {
    const server = await createServerTarget({
      baseUrl,
      key: keys.tenant,
      secondKey: keys.otherTenant,
      operatorKey: keys.operator,
      createReceiver: canReceive && !noDeliveries ? receiver.forServer : undefined,
      noDeliveries,
      mayWait: slow,
      requestTimeoutMs: options.requestTimeoutMs,
      time: timeout.time,
      rate: options.rate ?? (isLocal ? undefined : DEFAULT_RATE),
      signal: signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal,
    });
    return await new Verifier(server, receiver, { profile, isThorough, report: onProgress, onSlow }).run();
  } finally {
    timeout.clear();
    receiver.close();
  }
}

/**
 * Returns a URL without the slash at its end, because the paths of requests begin with one.
 *
 * @throws {VerifyError} if it is not a URL of HTTP. The message names the option.
 */
function parseBaseUrl(option: string, url: string): string {
  if (isUrlWithScheme(url, /^https?$/)) return url.replace(/\/$/, '');
  throw new VerifyError(
    `The option ${option} must be a URL that begins with http: or https:, not ${toPrintableJson(url)}.`,
  );
}
