import { isIPv4 } from 'node:net';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';

/** Says whether a host name, as a URL spells it, means this machine whatever DNS says. */
export function isLoopbackHost(hostname: string): boolean {
  const name = hostname.toLowerCase().replace(/\.$/, '');
  if (name === 'localhost' || name.endsWith('.localhost')) return true;
  if (name === '[::1]' || name === '::1') return true;
  return isIPv4(name) && name.startsWith('127.');
}

/** The host name of a `Host` header or a URL authority, without port or final dot; `undefined` if it is not plain. */
export function hostnameOf(authority: string): string | undefined {
  if (!/^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d*)?$/i.test(authority)) return undefined;
  const url = URL.canParse(`http://${authority}`) ? new URL(`http://${authority}`) : undefined;
  return url?.hostname.replace(/\.$/, '');
}

/** Says whether this is an IP address at which a connection ends at this machine. */
export function isOfThisMachine(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const target = ipaddr.process(address);
  if (['loopback', 'unspecified'].includes(target.range())) return true;
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return own.some((each) => ipaddr.process(each.address).toNormalizedString() === target.toNormalizedString());
}
