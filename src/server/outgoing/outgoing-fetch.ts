import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, type Dispatcher, request } from 'undici';
import type { Environment } from '../../environment.ts';
import { RefusedError } from '../../outgoing.ts';
import type { ReceiverRules } from './address-rules.ts';
import { isLocalAddress } from './local-address.ts';

/** What calls receivers, behind the guard. */
export interface OutgoingFetch {
  readonly fetch: Environment['fetch'];
  /** From now on refuses to call this port of this machine, on which the emulator itself listens. */
  refuseOwnPort(port: number): void;
  /** Breaks off what is on its way; from then on every call is refused. */
  close(): Promise<void>;
}

/** How long a receiver may take to accept a connection. */
const CONNECT_MS = 10_000;

/**
 * Creates a `fetch` that looks at each address it is about to connect to. What is checked is what is connected to, so
 * a name that leads elsewhere the next time it is resolved gains nothing. It follows no redirect, and calls receivers
 * at ports too that browsers call bad.
 */
export function createOutgoingFetch(rules: ReceiverRules): OutgoingFetch {
  const elsewhere = createGuardedAgent(rules);
  const ownPort = createGuardedAgent((host, address = host) => rules(host, address) ?? findOwnAddress(address));
  let refusedPort: number | undefined;
  let isClosed = false;

  return {
    refuseOwnPort(port) {
      refusedPort = port;
    },
    async fetch(url, init) {
      if (isClosed) throw new RefusedError('The emulator is being closed.');
      const target = new URL(url);
      const { agent, check } = portOf(target) === refusedPort ? ownPort : elsewhere;
      check(target.hostname.replace(/^\[|\]$/g, ''));
      return toResponse(await request(url, { ...init, dispatcher: agent } as never));
    },
    async close() {
      isClosed = true;
      await Promise.all([elsewhere.agent.destroy(), ownPort.agent.destroy()]);
    },
  };
}

/** What calls addresses by these rules: `check` is for those in a URL, because Node looks up names only. */
function createGuardedAgent(rules: ReceiverRules) {
  return {
    agent: new Agent({ connect: { timeout: CONNECT_MS, lookup: createLookup(rules) } }),
    check(host: string): void {
      const reason = isIP(host) === 0 ? undefined : rules(host);
      if (reason !== undefined) throw new RefusedError(reason);
    },
  };
}

function portOf({ port, protocol }: URL): number {
  return Number(port) || (protocol === 'https:' ? 443 : 80);
}

/** Why an address is not called at the port on which the emulator listens; `undefined` for one of another machine. */
function findOwnAddress(address: string): string | undefined {
  return isLocalAddress(address) ? 'This is the emulator itself, to which it delivers nothing.' : undefined;
}

/** The highest that a response can have. */
const MAX_STATUS = 599;

/** Statuses that a response with a body must not have. */
const WITHOUT_BODY = [204, 205, 304];

function toResponse({ statusCode, headers, body }: Dispatcher.ResponseData): Response {
  const fields = Object.entries(headers).flatMap(([name, value = '']) =>
    [value].flat().map((each): [string, string] => [name, each]),
  );
  if (statusCode > MAX_STATUS) {
    body.on('error', () => {}).destroy();
    throw new Error(`The receiver answered ${statusCode}, which is no HTTP status.`);
  }
  const isEmpty = WITHOUT_BODY.includes(statusCode);
  if (isEmpty) body.resume();
  return new Response(isEmpty ? null : (body.body as unknown as ReadableStream), {
    status: statusCode,
    headers: fields,
  });
}

/** Looks up names for Node, and answers only the addresses that may be called. */
function createLookup(rules: ReceiverRules): LookupFunction {
  return (hostname, options, done) => {
    resolve(hostname.replace(/\.$/, ''), rules).then(
      ([first, ...others]) => {
        if (options.all) done(null, [first, ...others]);
        else done(null, first.address, first.family);
      },
      (error: Error) => done(error, ''),
    );
  };
}

/** The addresses of a name that may be called. @throws {RefusedError} when there is none. */
async function resolve(host: string, rules: ReceiverRules): Promise<[LookupAddress, ...LookupAddress[]]> {
  const addresses = await lookUp(host, rules);
  const reasons = addresses.map(({ address }) => rules(host, address));
  const [first, ...others] = addresses.filter((_, index) => reasons[index] === undefined);
  if (first) return [first, ...others];
  throw new RefusedError(reasons[0] ?? `${host} leads to no address.`);
}

/** A name that leads nowhere is refused if it could not be called anyway. */
async function lookUp(host: string, rules: ReceiverRules): Promise<LookupAddress[]> {
  try {
    return await lookup(host, { all: true });
  } catch (error) {
    const reason = rules(host);
    throw reason === undefined ? error : new RefusedError(reason);
  }
}
