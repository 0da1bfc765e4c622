import { isIPv4 } from 'node:net';

/** Returns whether a host name, as written in a URL, always means this machine, whatever DNS says. */
export function isLoopbackHost(hostname: string): boolean {
  const name = hostname.toLowerCase().replace(/\.$/, '');
  if (name === 'localhost' || name.endsWith('.localhost')) return true;
  if (name === '[::1]' || name === '::1') return true;
  return isIPv4(name) && name.startsWith('127.');
}

/** Returns the host name in a `Host` header, without the port and a final dot; `undefined` if it is invalid. */
export function hostnameOf(authority: string): string | undefined {
  if (!/^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d*)?$/i.test(authority)) return undefined;
  try {
    return new URL(`http://${authority}`).hostname.replace(/\.$/, '');
  } catch {
    // It only looks like a host, such as `1.2.3.4.5` or a port above 65535. `URL.canParse` would parse each host twice.
    return undefined;
  }
}

/** Returns the address by which this machine reaches a server that listens on `host`. */
export function reachableHost(host: string): string {
  return { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
}

/** The default port of the emulator. */
export const DEFAULT_PORT = 4025;

/** The default address on which the emulator listens: only this machine can connect to it. */
export const DEFAULT_HOST = '127.0.0.1';
