import ipaddr from 'ipaddr.js';
import { parseListOption } from '../server-settings.ts';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/**
 * Says why a receiver may not be called, by the host in its URL and the address that it leads to, where one is known;
 * `undefined` if it may be.
 */
export type ReceiverRules = (host: string, address?: string) => string | undefined;

/** Where machines in clouds find their credentials, besides link-local addresses. */
const METADATA = new Set([
  'fd00:ec2::254',
  'fd20:ce::254',
  'fd00:42::42',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
]);

/** The ranges that are for translation and nothing else. */
const KNOWN_PREFIXES: ReadonlySet<string> = new Set(['rfc6052', 'rfc6145']);

/** Where translators find an IPv4 address in an IPv6 one, by the length of their prefix (RFC 6052, section 2.2). */
const TRANSLATED_AT = [
  [4, 5, 6, 7],
  [5, 6, 7, 9],
  [6, 7, 9, 10],
  [7, 9, 10, 11],
  [9, 10, 11, 12],
  [12, 13, 14, 15],
];

/**
 * Makes the rules: loopback always, link-local and metadata addresses never, anything else by `deliverTo`: hosts as
 * they stand in a URL, ranges such as `10.0.0.0/8`, or `*` for all.
 *
 * @throws {TypeError} on an entry that is none of these, because it would never match.
 */
export function createReceiverRules(deliverTo: readonly string[]): ReceiverRules {
  const permissions = parseListOption('deliverTo', deliverTo).map(toPermission);

  return (host, text = host) => {
    const address = ipaddr.isValid(text) ? ipaddr.process(text) : undefined;
    const shown = text === host ? host : `${host} (${text})`;
    if (isNeverCalled(address)) return `${shown} is a link-local or metadata address, which is never called.`;
    if (address?.range() === 'loopback' || permissions.some((permits) => permits(host, address))) return undefined;
    return `${shown} is not a loopback address; start with --deliver-to ${host} to allow it.`;
  };
}

type Permits = (host: string, address: Address | undefined) => boolean;

function toPermission(entry: string): Permits {
  if (entry === '*') return () => true;
  if (!entry.includes('/')) return (host) => host === entry;
  const [base, bits] = ipaddr.parseCIDR(entry);
  // A name that does not resolve at present may lead into the range.
  return (_host, address) => !address || (address.kind() === base.kind() && address.match(base, bits));
}

function isNeverCalled(address: Address | undefined): boolean {
  const addresses = address ? [address, ...embeddedIn(address)] : [];
  return addresses.some((each) => each.range() === 'linkLocal' || METADATA.has(each.toString()));
}

/** The IPv4 addresses to which an IPv6 one can lead, by a tunnel or a translator on the way. */
function embeddedIn(address: Address): Address[] {
  const bytes = address.toByteArray();
  if (bytes.length !== 16) return [];
  return [
    ...translatedIn(bytes, KNOWN_PREFIXES.has(address.range())),
    ...(TUNNELLED[address.range()]?.(bytes) ?? []),
  ].map((four) => new ipaddr.IPv4(four));
}

/** A tunnel has its ends in the address; Teredo hides that of the client by turning its bits over (RFC 4380). */
const TUNNELLED: Readonly<Record<string, (bytes: number[]) => number[][]>> = {
  '6to4': (bytes) => [bytes.slice(2, 6)],
  teredo: (bytes) => [bytes.slice(4, 8), bytes.slice(12).map((byte) => 255 - byte)],
};

/**
 * Any network may have a prefix for translation. Where it is not a known one, only an address counts that looks
 * translated: zeroes stand where translators put them.
 */
function translatedIn(bytes: number[], isKnownPrefix: boolean): number[][] {
  const looksTranslated = (places: readonly number[]) =>
    bytes.every((byte, index) => (index === 8 || index > (places.at(-1) ?? 0) ? byte === 0 : true));
  return TRANSLATED_AT.filter((places) => isKnownPrefix || looksTranslated(places)).map((places) =>
    places.map((place) => bytes[place] ?? 0),
  );
}
