import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';

/** Returns whether a connection to an IP address ends at this machine. */
export function isLocalAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const target = ipaddr.process(address);
  if (['loopback', 'unspecified'].includes(target.range())) return true;
  const ownAddresses = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return ownAddresses.some((each) => ipaddr.process(each.address).toNormalizedString() === target.toNormalizedString());
}
