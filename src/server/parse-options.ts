import { isIPv6 } from 'node:net';
import { hostnameOf } from './loopback.ts';

/** @throws {RangeError} when it is not a whole number from 0 to 65535. */
export function parsePort(port: number, option = 'port'): number {
  if (Number.isInteger(port) && port >= 0 && port <= 65535) return port;
  throw new RangeError(`The option ${option} must be a whole number from 0 to 65535, not ${quote(port)}.`);
}

/** @throws {TypeError} when it is empty, by which Node would take every address of the machine, or no text. */
export function parseHost(host: string): string {
  if (typeof host === 'string' && host !== '') return host;
  throw new TypeError(`The option host must be an address or a host name, not ${quote(host)}.`);
}

/**
 * Host names as a `Host` header is compared with them.
 *
 * @throws {TypeError} on what is not just a host name, such as a URL, because it would not match as it seems to.
 */
export function parseAllowHosts(hosts: readonly string[]): ReadonlySet<string> {
  return new Set(parseEach('allowHosts', hosts, toHostname, 'host names such as "mailbox.example", without a port'));
}

/**
 * Origins as browsers send them, or `*`.
 *
 * @throws {TypeError} on what is not an origin, such as a bare host name, because it would never match.
 */
export function parseCorsOrigins(origins: readonly string[]): ReadonlySet<string> {
  return new Set(parseEach('corsOrigins', origins, toOrigin, 'origins such as "https://app.example", or "*"'));
}

/** @throws {TypeError} when it is not a function. */
export function parseLog<Log>(log: Log): Log {
  if (log === undefined || typeof log === 'function') return log;
  throw new TypeError(`The option log must be a function, not ${quote(log)}.`);
}

/** Parses each item of an option that is a list. @throws {TypeError} on one that `parse` does not know. */
export function parseEach<Item>(
  name: string,
  items: readonly string[],
  parse: (text: string) => Item | undefined,
  what: string,
): Item[] {
  if (!Array.isArray(items)) throw new TypeError(`The option ${name} must be a list, not ${quote(items)}.`);
  return items.map((item) => {
    const parsed = parse(String(item));
    if (parsed !== undefined && typeof item === 'string') return parsed;
    throw new TypeError(`The option ${name} takes ${what}, not ${quote(item)}.`);
  });
}

/** A host name as URLs write it; `undefined` for what is not just that, such as one with a port. */
export function toHostname(host: string): string | undefined {
  const authority = isIPv6(host) ? `[${host}]` : host;
  return /:\d*$/.test(authority) ? undefined : hostnameOf(authority);
}

function toOrigin(text: string): string | undefined {
  if (text === '*') return text;
  if (!/^[a-z][a-z\d+.-]*:\/\/[^/?#\s]+\/?$/i.test(text) || !URL.canParse(text)) return undefined;
  const { origin, protocol, host } = new URL(text);
  // A URL gives an origin only to the schemes of the web.
  return origin === 'null' ? `${protocol}//${host.toLowerCase()}` : origin;
}

/** Shows a value in a message, whatever it is. */
function quote(value: unknown): string {
  return typeof value === 'number' ? String(value) : JSON.stringify(value);
}
