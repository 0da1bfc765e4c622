import { isIPv4, isIPv6 } from 'node:net';
import { VERSION } from '../../basics/version.ts';
import { DEFAULT_PORT } from '../../server/loopback.ts';
import { type GivenFlag, quote, type RunCommand, UsageError } from '../command.ts';
import { FLEET_FLAGS } from '../flags.ts';
import templates from './fleet-templates.json' with { type: 'json' };
import { parseOne } from './start-settings.ts';

/** The lines of a template. A list of lines is repeated for each process. */
type Lines = readonly (string | readonly string[])[];

/** The values that replace the names in a template, such as `<<port>>`. */
type Values = Readonly<Record<string, string | number>>;

/** The reply of the load balancer if a process cannot be reached. */
const GONE_REPLY = JSON.stringify({ error: 'The process at this address is gone.', code: 'SERVER_UNAVAILABLE' });

/** Prints the configuration of a load balancer, or of a cluster, that spreads sandboxes over several processes. */
export const fleet: RunCommand = async (terminal, flags, target = '') => {
  if (!Object.hasOwn(templates, target)) {
    const known = Object.keys(templates).join(', ');
    throw new UsageError(`There is no configuration for ${quote(target)}; there is one for ${known}.`);
  }
  const { publicUrl, host, base, port } = parsePublicUrl(flags['public-url'], target);
  const addresses = parseServers(flags.servers);
  const commonValues = {
    publicUrl,
    host,
    base,
    // In a regular expression, a full stop of the path would match every character.
    basePattern: base.replaceAll('.', '[.]'),
    gone: GONE_REPLY,
    version: VERSION,
    count: addresses.length,
    listen: port,
  };
  const podAddresses = addresses.map((_, index) => `mailbox-${index + 1}:${DEFAULT_PORT}`);
  const nginx = () => fill(templates.nginx, { ...commonValues, listen: '8080' }, podAddresses);
  const targetValues = target === 'kubernetes' ? { ...commonValues, nginx: nginx() } : commonValues;
  terminal.out(fill(templates[target as keyof typeof templates], targetValues, addresses));
};

/** What a host may be, for error messages. */
const A_HOST = 'a host name of letters, digits, - and _, or an IP address';

/** Returns whether a text is a host that a configuration can contain as it is. IPv6 addresses are in brackets. */
function isHost(text: string): boolean {
  if (text.startsWith('[')) return text.endsWith(']') && !text.includes('%') && isIPv6(text.slice(1, -1));
  if (isIPv4(text)) return true;
  const labels = text.split('.');
  const areValid = labels.every((label) => /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/i.test(label));
  // A name whose last label is a number would be read as an IPv4 address.
  return text.length <= 253 && areValid && !/^(?:\d+|0x[\da-f]*)$/i.test(labels.at(-1) ?? '');
}

/** Returns a port from 1 to 65535, or `undefined`. */
function parsePort(text: string): number | undefined {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65_535 ? port : undefined;
}

/** The longest path of a public URL. HAProxy limits the length of a line. */
const MAX_PATH_LENGTH = 200;

/** Parses the public URL. Its parts stand in the configurations without quotes. @throws {UsageError} */
function parsePublicUrl(flag: GivenFlag | undefined, target: string) {
  const publicUrl = parseOne(FLEET_FLAGS['public-url'], flag);
  if (flag === undefined || publicUrl === undefined)
    throw new UsageError('The command fleet needs --public-url <url>.');
  const { hostname: host, pathname, port } = new URL(publicUrl);
  const wrong = findWrongPart(new URL(publicUrl), target);
  if (wrong) {
    throw new UsageError(`The ${wrong.part} of ${flag.source} must be ${wrong.rule}, not ${quote(wrong.value)}.`);
  }
  // Without a port in the URL, the load balancer listens on 80. For an https URL, TLS must end before it.
  return { publicUrl, host, base: basePathOf(pathname), port: port || '80' };
}

function basePathOf(pathname: string): string {
  return pathname.replace(/\/$/, '');
}

/** A part of a public URL that a configuration cannot contain, with what it must be. */
interface WrongPart {
  readonly part: string;
  readonly rule: string;
  readonly value: string;
}

/** Finds the first part of a public URL that the configurations for a target cannot contain. */
function findWrongPart({ hostname, pathname, port }: URL, target: string): WrongPart | undefined {
  if (!isHost(hostname)) return { part: 'host', rule: A_HOST, value: hostname };
  if (target === 'kubernetes' && (isIPv4(hostname) || /[[_]/.test(hostname))) {
    return { part: 'host', rule: 'a host name of letters, digits and - for Kubernetes', value: hostname };
  }
  if (port === '0') return { part: 'port', rule: 'a number from 1 to 65535', value: port };
  const base = basePathOf(pathname);
  if (/^(?:\/[\w.~-]+)*$/.test(base) && base.length <= MAX_PATH_LENGTH) return undefined;
  const rule = `at most ${MAX_PATH_LENGTH} letters, digits and any of -._~ between single slashes`;
  return { part: 'path', rule, value: pathname };
}

/** Returns the host and port of each process. @throws {UsageError} */
function parseServers(flag: GivenFlag | undefined): string[] {
  const source = flag?.source ?? '--servers';
  const given = String(flag?.value ?? '');
  const addresses = given.split(',').map((url) => {
    const [, host, port] = /^http:\/\/(\[[^\]]*\]|[^/:@?#]*):([^/:@?#]*)\/?$/i.exec(url.trim()) ?? [];
    if (host === undefined || port === undefined) {
      const example = 'http://10.0.0.1:4025,http://10.0.0.2:4025';
      const rule = `must be a list of different http URLs, each with a port, such as ${example}`;
      throw new UsageError(`The flag ${source} ${rule}, not ${quote(given)}.`);
    }
    if (!isHost(host)) throw new UsageError(`Each host in ${source} must be ${A_HOST}, not ${quote(host)}.`);
    const number = parsePort(port);
    if (number === undefined) {
      throw new UsageError(`Each port in ${source} must be a number from 1 to 65535, not ${quote(port)}.`);
    }
    return `${host.toLowerCase()}:${number}`;
  });
  const duplicate = addresses.find((address, index) => addresses.indexOf(address) < index);
  if (duplicate === undefined) return addresses;
  throw new UsageError(`The URLs in ${source} must be different, but http://${duplicate} is there twice.`);
}

/** Fills in a template. The lines that belong to a process are repeated for each process. */
function fill(lines: Lines, values: Values, addresses: readonly string[]): string {
  const processes = addresses.map((address, index) => {
    const [number, port] = [index + 1, address.slice(address.lastIndexOf(':') + 1)];
    return { ...values, address, number, port, url: `${values.publicUrl}/s${number}` };
  });
  const filled = lines.flatMap((line) =>
    typeof line === 'string'
      ? fillLine(line, values)
      : processes.flatMap((process) => line.map((repeated) => fillLine(repeated, process))),
  );
  return filled.join('\n');
}

/**
 * Fills in the values of a line of a template. If a value has several lines, all of them are indented like the line of
 * the template.
 */
function fillLine(line: string, values: Values): string {
  const indent = line.search(/\S|$/);
  const indentedValue = (name: string) => String(values[name]).replaceAll('\n', `\n${' '.repeat(indent)}`);
  return line.replace(/<<(\w+)>>/g, (_, name) => indentedValue(name));
}
