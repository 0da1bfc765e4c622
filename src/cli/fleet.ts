import { VERSION } from '../basics/version.ts';
import { DEFAULT_PORT } from '../server/loopback.ts';
import { type GivenFlag, quote, type RunCommand, UsageError } from './command.ts';
import { parseOne } from './commands/start-settings.ts';
import { FLEET_FLAGS } from './flags.ts';
import templates from './fleet-templates.json' with { type: 'json' };

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
  const publicUrl = parseOne(FLEET_FLAGS['public-url'], flags['public-url']);
  if (publicUrl === undefined) throw new UsageError('The command fleet needs --public-url <url>.');
  const addresses = parseServers(flags.servers);
  const { hostname: host, pathname, port } = new URL(publicUrl);
  const urlValues = { publicUrl, host, base: pathname.replace(/\/$/, ''), gone: GONE_REPLY, version: VERSION };
  const commonValues = { ...urlValues, count: addresses.length, listen: port || '80' };
  const podAddresses = addresses.map((_, index) => `mailbox-${index + 1}:${DEFAULT_PORT}`);
  const nginx = () => fill(templates.nginx, { ...commonValues, listen: '8080' }, podAddresses);
  const targetValues = target === 'kubernetes' ? { ...commonValues, nginx: nginx() } : commonValues;
  terminal.out(fill(templates[target as keyof typeof templates], targetValues, addresses));
};

/** Returns the host and port of each process. @throws {UsageError} */
function parseServers(flag: GivenFlag | undefined): string[] {
  const urls = String(flag?.value ?? '').split(',');
  const hosts = urls.map((url) => /^http:\/\/((?:[\w.-]+|\[[\da-f:]+\]):\d{1,5})\/?$/i.exec(url.trim())?.[1] ?? '');
  if (!hosts.includes('') && new Set(hosts).size === hosts.length) return hosts;
  const example = 'http://10.0.0.1:4025,http://10.0.0.2:4025';
  const rule = `must be a list of different http URLs, each with a port, such as ${example}`;
  throw new UsageError(`The flag --servers ${rule}, not ${quote(urls.join())}.`);
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
  const textOf = (name: string) => String(values[name]).replaceAll('\n', `\n${' '.repeat(indent)}`);
  return line.replace(/<<(\w+)>>/g, (_, name) => textOf(name));
}
