import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { Agent, request } from 'undici';
import { RefusedError } from '../../fetch-in-process.ts';
import { LOCAL_NAME, type ReceiverRules } from './receiver-rules.ts';

export { request };

/** An undici agent that enforces rules. */
export interface GuardedAgent {
  readonly agent: Agent;
  /**
   * Refuses a host that is not allowed. Call it for each URL: Node calls `lookup` only for host names, and a name that is
   * not allowed must not be looked up, because the look-up itself could send data out.
   *
   * @throws {RefusedError}
   */
  check(host: string): void;
}

/** The time limit for a connection to a receiver. */
const CONNECT_MS = 10_000;

/** Creates an undici agent that connects only to addresses that the rules allow. */
export function createGuardedAgent(findReasonToRefuse: ReceiverRules): GuardedAgent {
  return {
    agent: new Agent({ connect: { timeout: CONNECT_MS, lookup: createLookup(findReasonToRefuse) } }),
    check(host) {
      const reason = findReasonToRefuse(host.replace(/\.$/, ''));
      if (reason !== undefined) throw new RefusedError(reason);
    },
  };
}

/** Creates a look-up function for Node that returns only addresses that may be called. */
function createLookup(findReasonToRefuse: ReceiverRules): LookupFunction {
  return (hostname, options, done) => {
    resolveAllowed(hostname.replace(/\.$/, ''), findReasonToRefuse).then(
      ([first, ...others]) => {
        if (options.all) done(null, [first, ...others]);
        else done(null, first.address, first.family);
      },
      (error: Error) => done(error, ''),
    );
  };
}

/** Resolves a name to the addresses that may be called. @throws {RefusedError} when there is none. */
async function resolveAllowed(
  host: string,
  findReasonToRefuse: ReceiverRules,
): Promise<[LookupAddress, ...LookupAddress[]]> {
  const addresses = await lookup(LOCAL_NAME.test(host) ? 'localhost' : host, { all: true });
  const reasons = addresses.map(({ address }) => findReasonToRefuse(host, address));
  const [first, ...others] = addresses.filter((_, index) => reasons[index] === undefined);
  if (first) return [first, ...others];
  throw new RefusedError(reasons[0] ?? `${host} resolves to no address.`);
}
