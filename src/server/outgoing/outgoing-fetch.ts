import type { Dispatcher } from 'undici';
import type { Environment } from '../../environment.ts';
import { RefusedError } from '../../fetch-in-process.ts';
import { isLocalAddress } from './local-address.ts';
import type { ReceiverRules } from './receiver-rules.ts';

/** A `fetch` for webhook deliveries, which refuses addresses that may not be called. */
interface OutgoingFetch {
  readonly fetch: Environment['fetch'];
  /** From now on, refuses calls to this port of this machine, because the emulator itself listens on it. */
  refuseOwnPort(port: number): void;
  /** Aborts all running calls and refuses all later ones. */
  close(): Promise<void>;
}

/**
 * Creates a `fetch` for deliveries. It looks up a host name, checks each address, and connects only to the checked
 * addresses, so that DNS rebinding cannot bypass the check. It follows no redirects and allows ports that browsers
 * block.
 */
export function createOutgoingFetch(findReasonToRefuse: ReceiverRules): OutgoingFetch {
  let client: Promise<Client> | undefined;
  let ownPort: number | undefined;
  let isClosed = false;

  return {
    refuseOwnPort(port) {
      ownPort = port;
    },
    async fetch(url, init) {
      client ??= createClient(findReasonToRefuse);
      const { request, defaultAgent, ownPortAgent } = await client;
      if (isClosed) throw new RefusedError('The emulator is shutting down.');
      const target = new URL(url);
      // Another machine may use the same port number, so `ownPortAgent` refuses only addresses of this machine.
      const { agent, check } = portOf(target) === ownPort ? ownPortAgent : defaultAgent;
      check(target.hostname.replace(/^\[|\]$/g, ''));
      return toResponse(await request(url, { ...init, dispatcher: agent } as never));
    },
    async close() {
      isClosed = true;
      const agents = await client;
      await Promise.all([agents?.defaultAgent.agent.destroy(), agents?.ownPortAgent.agent.destroy()]);
    },
  };
}

type Client = Awaited<ReturnType<typeof createClient>>;

/**
 * Loads undici and creates the agents. This happens at the first delivery and not at the start, because loading undici
 * takes longer than starting the rest of the emulator.
 */
async function createClient(findReasonToRefuse: ReceiverRules) {
  const { createGuardedAgent, request } = await import('./guarded-agent.ts');
  return {
    request,
    defaultAgent: createGuardedAgent(findReasonToRefuse),
    ownPortAgent: createGuardedAgent(
      (host, address = host) => findReasonToRefuse(host, address) ?? ownPortRefusal(address),
    ),
  };
}

function portOf({ port, protocol }: URL): number {
  return Number(port) || (protocol === 'https:' ? 443 : 80);
}

/** Returns the reason to refuse an address at the emulator's own port; `undefined` for another machine's address. */
function ownPortRefusal(address: string): string | undefined {
  return isLocalAddress(address) ? "This address is the emulator's own port; it never delivers to itself." : undefined;
}

/** The highest status that a `Response` can have. */
const MAX_STATUS = 599;

/** The statuses of a `Response` that must not have a body. */
const STATUSES_WITHOUT_BODY = [204, 205, 304];

function toResponse({ statusCode, headers, body }: Dispatcher.ResponseData): Response {
  const fields = Object.entries(headers).flatMap(([name, value = '']) =>
    [value].flat().map((each): [string, string] => [name, each]),
  );
  if (statusCode > MAX_STATUS) {
    body.on('error', () => {}).destroy();
    throw new Error(`The receiver answered ${statusCode}, which is not an HTTP status.`);
  }
  const isEmpty = STATUSES_WITHOUT_BODY.includes(statusCode);
  if (isEmpty) body.resume();
  return new Response(isEmpty ? null : (body.body as unknown as ReadableStream), {
    status: statusCode,
    headers: fields,
  });
}
