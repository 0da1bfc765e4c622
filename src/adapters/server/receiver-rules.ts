import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { parseEach, toHostname } from './listen-options.ts';

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

/** Where an IPv4 address stands in an IPv6 one of these ranges: translators on the way lead there. */
const EMBEDDED_AT: Readonly<Record<string, number>> = { rfc6145: 12, rfc6052: 12, '6to4': 2 };

/**
 * Makes the rules: loopback always, link-local and metadata addresses never, anything else by `deliverTo`: hosts as
 * they stand in a URL, ranges such as `10.0.0.0/8`, or `*` for all.
 *
 * @throws {TypeError} on an entry that is none of these, because it would never match.
 */
export function createReceiverRules(deliverTo: readonly string[]): ReceiverRules {
  const permissions = parseEach('deliverTo', deliverTo, toPermission, 'hosts, ranges such as "10.0.0.0/8", or "*"');

  return (host, text = host) => {
    const address = ipaddr.isValid(text) ? ipaddr.process(text) : undefined;
    const shown = text === host ? host : `${host} (${text})`;
    if (isNeverCalled(address)) return `${shown} is a link-local or metadata address, which is never called.`;
    if (address?.range() === 'loopback' || permissions.some((permits) => permits(host, address))) return undefined;
    return `${shown} is no loopback address; to let it be called, start with --deliver-to ${host}.`;
  };
}

type Permits = (host: string, address: Address | undefined) => boolean;

function toPermission(entry: string): Permits | undefined {
  if (entry === '*') return () => true;
  if (entry.includes('/')) return toRange(entry);
  const name = toHostname(entry);
  return name === undefined ? undefined : (host) => host === name.replace(/^\[|\]$/g, '');
}

function toRange(entry: string): Permits | undefined {
  // What the parser takes besides, such as octal numbers, is not what it seems to be.
  if (isIP(entry.replace(/\/.*$/, '')) === 0 || !ipaddr.isValidCIDR(entry)) return undefined;
  const [base, bits] = ipaddr.parseCIDR(entry);
  if (base.range() === 'ipv4Mapped') return undefined;
  // A name that does not resolve at present may lead into the range.
  return (_host, address) => !address || (address.kind() === base.kind() && address.match(base, bits));
}

function isNeverCalled(address: Address | undefined): boolean {
  const addresses = address ? [address, ...embeddedIn(address)] : [];
  return addresses.some((each) => each.range() === 'linkLocal' || METADATA.has(each.toString()));
}

function embeddedIn(address: Address): Address[] {
  const bytes = address.toByteArray();
  const isCompatible = bytes.length === 16 && bytes.slice(0, 12).every((byte) => byte === 0);
  const start = isCompatible ? 12 : EMBEDDED_AT[address.range()];
  return start === undefined ? [] : [new ipaddr.IPv4(bytes.slice(start, start + 4))];
}
