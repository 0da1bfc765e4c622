import { isIPv4 } from 'node:net';

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
