import ipaddr from 'ipaddr.js';
import { parseListOption } from '../server-settings.ts';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/**
 * Returns the reason why a receiver may not be called, or `undefined` if it may be called. `host` is the host in its URL;
 * `address` is the resolved address, if known.
 */
export type ReceiverRules = (host: string, address?: string) => string | undefined;

/** Addresses of cloud metadata services, which give out credentials. Link-local addresses are checked separately. */
const METADATA_ADDRESSES = new Set([
  'fd00:ec2::254',
  'fd20:ce::254',
  'fd00:42::42',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
]);

/** The address ranges that are reserved for translation from IPv6 to IPv4. */
const TRANSLATION_RANGES: ReadonlySet<string> = new Set(['rfc6052', 'rfc6145']);

/** The byte positions of an IPv4 address that is embedded in an IPv6 address (RFC 6052, section 2.2). */
const EMBEDDED_POSITIONS = [
  [4, 5, 6, 7],
  [5, 6, 7, 9],
  [6, 7, 9, 10],
  [7, 9, 10, 11],
  [9, 10, 11, 12],
  [12, 13, 14, 15],
];

/** Names of this machine, which are not asked of DNS (RFC 6761, section 6.3). */
export const LOCAL_NAME = /(?:^|\.)localhost$/;

/**
 * Creates the rules: `localhost` and loopback addresses are always allowed, link-local and metadata addresses never, all
 * others by `deliverTo`. Its entries are hosts as written in a URL, ranges such as `10.0.0.0/8`, or `*` for all. A name
 * without an address is allowed if it may be looked up.
 *
 * @throws {TypeError} on any other entry, because it would never match.
 */
export function createReceiverRules(deliverTo: readonly string[]): ReceiverRules {
  const matchers = [isLocal, ...parseListOption('deliverTo', deliverTo).map(toMatcher)];

  return (host, text = host) => {
    const address = ipaddr.isValid(text) ? ipaddr.process(text) : undefined;
    const shown = text === host ? host : `${host} (${text})`;
    if (isForbidden(address)) return `${shown} is a link-local or metadata address, which is never called.`;
    if (matchers.some((matches) => matches(host, address))) return undefined;
    return `${isLoopback(address) ? host : shown} is not a loopback address; start with --deliver-to ${host} to allow it.`;
  };
}

/** Returns the reason why a URL may not be called, as far as it is known without a look-up. */
export function findReasonFor(rules: ReceiverRules, url: string): string | undefined {
  return rules(new URL(url).hostname.replace(/^\[|\]$|\.$/g, ''));
}

/** Returns whether the host itself says that it is this machine, and not only the address that its name resolves to. */
function isLocal(host: string, address: Address | undefined): boolean {
  return LOCAL_NAME.test(host) ? !address || isLoopback(address) : ipaddr.isValid(host) && isLoopback(address);
}

function isLoopback(address: Address | undefined): boolean {
  return address?.range() === 'loopback';
}

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
    ...(TUNNEL_ENDS[address.range()]?.(bytes) ?? []),
  ].map((four) => new ipaddr.IPv4(four));
}

/** Functions that read the IPv4 ends of a tunnel from an address. Teredo inverts the client's bits (RFC 4380). */
const TUNNEL_ENDS: Readonly<Record<string, (bytes: number[]) => number[][]>> = {
  '6to4': (bytes) => [bytes.slice(2, 6)],
  teredo: (bytes) => [bytes.slice(4, 8), bytes.slice(12).map((byte) => 255 - byte)],
};

/**
 * Returns the possible IPv4 addresses of a translated address. Any network may have its own translation prefix. With an
 * unknown prefix, only an address with zeroes where translators put them is treated as translated.
 */
function translatedAddresses(bytes: number[], isKnownPrefix: boolean): number[][] {
  const mayBeTranslated = (positions: readonly number[]) =>
    bytes.every((byte, index) => (index === 8 || index > (positions.at(-1) ?? 0) ? byte === 0 : true));
  return EMBEDDED_POSITIONS.filter((positions) => isKnownPrefix || mayBeTranslated(positions)).map((positions) =>
    positions.map((position) => bytes[position] ?? 0),
  );
}
