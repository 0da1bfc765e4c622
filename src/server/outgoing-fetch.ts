import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import http, { type Agent, type ClientRequest, type IncomingMessage } from 'node:http';
import type { LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import { Readable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import ipaddr from 'ipaddr.js';
import { showSize } from '../basics/size.ts';
import { RefusedError } from '../world/fetch-in-process.ts';
import { LIMITS } from './server-limits.ts';

/** Node's own function. It is read here at once, because msw replaces it later, and deliveries must not reach msw. */
const { request } = http;

/** How long an unused connection stays open: shorter than the five seconds after which a Node server closes it. */
const IDLE_MS = 1_000;

/**
 * Creates a `fetch` for deliveries. It looks up a host name, checks each address, and connects only to the checked
 * addresses, so that DNS rebinding cannot bypass the check. This `fetch` does not follow redirects, and it allows ports
 * that browsers block.
 */
export function createOutgoingFetch(receiverRules: ReceiverRules) {
  const agents = new Map<string, Agent>();
  let ownPort: number | undefined;
  let isClosed = false;

  return {
    /** From now on, refuses calls to this port of this machine, because the emulator itself listens on it. */
    refuseOwnPort(port: number): void {
      ownPort = port;
    },
    async fetch(url: string, init: RequestInit): Promise<Response> {
      const target = new URL(url);
      const { protocol } = target;
      const { Agent: AgentClass } = protocol === 'https:' ? await import('node:https') : http;
      if (isClosed) throw new RefusedError('The emulator is shutting down.');
      const port = Number(target.port) || (protocol === 'https:' ? 443 : 80);
      // Another machine may use the same port number, so only the addresses of this machine are refused.
      const rules = port === ownPort ? addOwnAddressRule(receiverRules) : receiverRules;
      const agent = agents.get(protocol) ?? new AgentClass({ keepAlive: true, timeout: IDLE_MS });
      agents.set(protocol, agent);
      return toResponse(await send(target, init, agent, rules));
    },
    /** Aborts all running calls and refuses all later calls. */
    async close(): Promise<void> {
      isClosed = true;
      for (const agent of agents.values()) agent.destroy();
    },
  };
}

/** Returns rules that also refuse every address of this machine. */
function addOwnAddressRule(rules: ReceiverRules): ReceiverRules {
  const reason = 'The URL leads to the emulator itself, which never delivers to itself.';
  return (host, address = host) => rules(host, address) ?? (isAddressOfThisMachine(address) ? reason : undefined);
}

/**
 * Sends a request if the rules allow its host. Resolves when the head of the response has arrived. The host is checked
 * before Node looks it up, because a look-up could send data out: a DNS server sees the name. An IP address is checked
 * only here, because Node calls `lookup` only for names.
 */
function send(url: URL, init: RequestInit, agent: Agent, rules: ReceiverRules): Promise<IncomingMessage> {
  const { protocol, port, pathname, search } = url;
  const host = hostOf(url);
  const { method = 'GET', headers, body, signal } = init;
  const reason = rules(host);
  if (reason !== undefined) throw new RefusedError(reason);
  return new Promise((resolve, reject) => {
    const outgoing = request({
      headers: headers as Record<string, string>,
      lookup: createLookup(rules),
      protocol,
      hostname: host,
      port,
      path: pathname + search,
      method,
      agent,
      // This also limits how long an open connection may be idle. The listener applies it to the time to connect only.
      timeout: LIMITS.receiverConnect.value,
      ...(signal && { signal }),
    });
    outgoing.on('timeout', () => {
      const { connecting, secureConnecting } = outgoing.socket as Partial<TLSSocket> & { secureConnecting?: boolean };
      if (!connecting && !secureConnecting) return;
      outgoing.destroy(
        new Error(`The receiver did not accept a connection within ${LIMITS.receiverConnect.value / 1000} s.`),
      );
    });
    limitResponse(outgoing);
    outgoing.on('error', reject).on('response', resolve);
    outgoing.end(body);
  });
}

/**
 * Fails a request whose receiver sends too much before its response has ended, or its body is no longer read. Node
 * limits each head and each chunk, but not how many interim responses come before the final head, nor how many chunks.
 */
function limitResponse(outgoing: ClientRequest): void {
  let incoming: IncomingMessage | undefined;
  outgoing.once('response', (response) => {
    incoming = response;
  });
  outgoing.once('socket', (socket) => {
    let receivedBytes = 0;
    const count = (chunk: Buffer) => {
      receivedBytes += chunk.length;
      if (receivedBytes <= LIMITS.receiverResponse.value) return;
      const error = new Error(
        `The receiver sent more than ${showSize(LIMITS.receiverResponse.value)} for one response.`,
      );
      (incoming ?? outgoing).destroy(error);
    };
    // The socket may carry further requests later.
    socket.on('data', count);
    outgoing.once('close', () => socket.off('data', count));
  });
}

/** Creates a look-up function for Node that returns only addresses that may be called. */
function createLookup(rules: ReceiverRules): LookupFunction {
  return (host, options, done) => {
    resolveAllowed(host, rules).then(
      ([first, ...others]) => {
        if (options.all) done(null, [first, ...others]);
        else done(null, first.address, first.family);
      },
      (error: Error) => done(error, ''),
    );
  };
}

/** Resolves a name to the addresses that may be called. @throws {RefusedError} when no address may be called. */
async function resolveAllowed(host: string, rules: ReceiverRules): Promise<[LookupAddress, ...LookupAddress[]]> {
  const addresses = await lookup(LOCAL_NAME.test(host) ? 'localhost' : host, { all: true });
  const reasons = addresses.map(({ address }) => rules(host, address));
  const [first, ...others] = addresses.filter((_, index) => reasons[index] === undefined);
  if (first) return [first, ...others];
  throw new RefusedError(reasons[0] ?? `${host} resolves to no address.`);
}

/** The lowest and the highest status that a `Response` can have. */
const [MIN_STATUS, MAX_STATUS] = [200, 599];

/** The statuses of a `Response` that must not have a body. */
const STATUSES_WITHOUT_BODY = [204, 205, 304];

/** Creates a `Response`, whose body is read from the connection. @throws {Error} if the status is none of a `Response`. */
function toResponse(incoming: IncomingMessage): Response {
  const { statusCode: status = 0, headersDistinct } = incoming;
  if (status < MIN_STATUS || status > MAX_STATUS) {
    incoming.destroy();
    if (status < MIN_STATUS) throw new Error("The receiver's response is not valid HTTP.");
    throw new Error(`The receiver answered ${status}, which is not an HTTP status.`);
  }
  const headers = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  const isEmpty = STATUSES_WITHOUT_BODY.includes(status) || incoming.headers['content-length'] === '0';
  // Node uses a connection again only after the body has been read, even if the body is empty.
  if (isEmpty) incoming.resume();
  return new Response(isEmpty ? null : (Readable.toWeb(incoming) as ReadableStream), { status, headers });
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/**
 * Returns the reason why a receiver may not be called, or `undefined` if it may be called. `host` is the host in the
 * URL; `address` is an address of this host, if it was looked up.
 */
type ReceiverRules = (host: string, address?: string) => string | undefined;

/** Addresses of cloud metadata services, which return credentials. Link-local addresses are checked separately. */
const METADATA_ADDRESSES = new Set(
  'fd00:ec2::254 fd20:ce::254 fd00:42::42 100.100.100.200 168.63.129.16 192.0.0.192'.split(' '),
);

/** The address ranges that are reserved for translation from IPv6 to IPv4. */
const TRANSLATION_RANGES: ReadonlySet<string> = new Set(['rfc6052', 'rfc6145']);

/**
 * The positions at which the four bytes of an IPv4 address can begin in an IPv6 address (RFC 6052, section 2.2). Byte 8
 * is not counted, because it never belongs to the IPv4 address.
 */
const IPV4_POSITIONS = [4, 5, 6, 7, 8, 11];

/** Names of this machine, which are not looked up in DNS (RFC 6761, section 6.3). */
const LOCAL_NAME = /(?:^|\.)localhost$/;

/**
 * Creates the rules: `localhost` and loopback addresses are always allowed, link-local and metadata addresses are never
 * allowed, and other receivers are allowed only if `deliverTo`, the parsed option of `startServer`, names them. Before
 * the address of a name is known, the rules say whether the name may be looked up.
 */
export function createReceiverRules(deliverTo: readonly string[]): ReceiverRules {
  const matchers = [isLoopbackReceiver, ...deliverTo.map(toMatcher)];

  return (host, addressText = host) => {
    const address = ipaddr.isValid(addressText) ? ipaddr.process(addressText) : undefined;
    const hostAndAddress = addressText === host ? host : `${host} (${addressText})`;
    if (isForbidden(address)) return `${hostAndAddress} is a link-local or metadata address, which is never called.`;
    if (matchers.some((matches) => matches(host, address))) return undefined;
    // Without the address if it is a loopback address, because the sentence would contradict it.
    const refused = isLoopback(address) ? host : hostAndAddress;
    return `${refused} is not a loopback address; start with --deliver-to ${host} to allow it.`;
  };
}

/** Returns the reason why a URL may not be called, if the reason is known without a look-up. */
export function findReasonToRefuse(rules: ReceiverRules, url: string): string | undefined {
  return rules(hostOf(new URL(url)));
}

/** Returns the host of a URL: an IPv6 address without its brackets, a name without the full stop at its end. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$|\.$/g, '');
}

/** Returns whether a host is `localhost` or a loopback address. */
function isLoopbackReceiver(host: string, address: Address | undefined): boolean {
  // A name below `localhost` may be looked up; an address that is then known must be a loopback address.
  if (LOCAL_NAME.test(host)) return address === undefined || isLoopback(address);
  // Other names are not local, even if they resolve to a loopback address.
  return ipaddr.isValid(host) && isLoopback(address);
}

const isLoopback = (address: Address | undefined) => address?.range() === 'loopback';

type Matcher = (host: string, address: Address | undefined) => boolean;

function toMatcher(entry: string): Matcher {
  if (entry === '*') return () => true;
  if (!entry.includes('/')) return (host) => host === entry;
  const [base, prefixLength] = ipaddr.parseCIDR(entry);
  // A host without a known address is allowed, because it may later resolve to an address in the range.
  return (_host, address) => !address || (address.kind() === base.kind() && address.match(base, prefixLength));
}

function isForbidden(address: Address | undefined): boolean {
  const addresses = address ? [address, ...embeddedAddresses(address)] : [];
  return addresses.some((each) => each.range() === 'linkLocal' || METADATA_ADDRESSES.has(each.toString()));
}

/** Returns the IPv4 addresses that an IPv6 address may reach through a tunnel or a translator. */
function embeddedAddresses(address: Address): Address[] {
  const bytes = address.toByteArray();
  if (bytes.length !== 16) return [];
  return [
    ...translatedAddresses(bytes, TRANSLATION_RANGES.has(address.range())),
    ...(TUNNEL_ADDRESSES[address.range()]?.(bytes) ?? []),
  ].map((ipv4Bytes) => new ipaddr.IPv4(ipv4Bytes));
}

/** Return the IPv4 addresses inside the IPv6 address of a tunnel. Teredo inverts the client's bits (RFC 4380). */
const TUNNEL_ADDRESSES: Readonly<Record<string, (bytes: number[]) => number[][]>> = {
  '6to4': (bytes) => [bytes.slice(2, 6)],
  teredo: (bytes) => [bytes.slice(4, 8), bytes.slice(12).map((byte) => 255 - byte)],
};

/**
 * Returns the IPv4 addresses that a translated IPv6 address may contain. Any network may have its own prefix for
 * translation. An address with an unknown prefix counts as translated only if it has zeroes where translators put them.
 */
function translatedAddresses(bytes: number[], isKnownPrefix: boolean): number[][] {
  const otherBytes = bytes.toSpliced(8, 1);
  const mayBeTranslated = (start: number) => bytes[8] === 0 && otherBytes.slice(start + 4).every((byte) => byte === 0);
  const starts = IPV4_POSITIONS.filter((start) => isKnownPrefix || mayBeTranslated(start));
  return starts.map((start) => otherBytes.slice(start, start + 4));
}

/** Returns whether a connection to an IP address ends at this machine. */
function isAddressOfThisMachine(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const target = ipaddr.process(address);
  if (['loopback', 'unspecified'].includes(target.range())) return true;
  const ownAddresses = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return ownAddresses.some((each) => ipaddr.process(each.address).toNormalizedString() === target.toNormalizedString());
}
