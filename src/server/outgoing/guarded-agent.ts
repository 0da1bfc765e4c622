import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, request } from 'undici';
import { RefusedError } from '../../fetch-in-process.ts';
import type { ReceiverRules } from './receiver-rules.ts';

export { request };

/** An undici agent that enforces rules. */
export interface GuardedAgent {
  readonly agent: Agent;
  /**
   * Refuses an IP address that is not allowed. Call it for each URL, because Node calls `lookup` only for host names.
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
      const reason = isIP(host) === 0 ? undefined : findReasonToRefuse(host);
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
  const addresses = await lookUpOrRefuse(host, findReasonToRefuse);
  const reasons = addresses.map(({ address }) => findReasonToRefuse(host, address));
  const [first, ...others] = addresses.filter((_, index) => reasons[index] === undefined);
  if (first) return [first, ...others];
  throw new RefusedError(reasons[0] ?? `${host} resolves to no address.`);
}

/** Looks up a name. If that fails, throws a `RefusedError` if the name is not allowed, otherwise the look-up error. */
async function lookUpOrRefuse(host: string, findReasonToRefuse: ReceiverRules): Promise<LookupAddress[]> {
  try {
    return await lookup(host, { all: true });
  } catch (error) {
    const reason = findReasonToRefuse(host);
    throw reason === undefined ? error : new RefusedError(reason);
  }
}
