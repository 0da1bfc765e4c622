import { parseSize } from '../contract/size.ts';
import { DEFAULT_HOST, DEFAULT_PORT } from '../server/default-address.ts';
import { createReceiverRules } from '../server/outgoing/address-rules.ts';
import { parseAllowHosts, parseCorsOrigins } from '../server/parse-options.ts';
import { type Given, type GivenFlags, quote, UsageError } from './command.ts';
import { parseEach, parsePair } from './read-given.ts';

/** What `agent-mailbox-mock start` was told. */
export interface StartSettings {
  readonly port: number;
  readonly host: string;
  readonly smtpPort: number | undefined;
  readonly fixtures: string | undefined;
  readonly behaviours: Readonly<Record<string, string>>;
  readonly allowHosts: readonly string[];
  readonly corsOrigins: readonly string[];
  readonly deliverTo: readonly string[];
  readonly maxMailBytes: number | undefined;
  readonly json: boolean;
  readonly quiet: boolean;
}

/**
 * Reads the flags of `start`.
 *
 * @throws {UsageError} on a value that a flag does not take.
 */
export function parseStartSettings(given: GivenFlags): StartSettings {
  return {
    port: given.port ? parsePort(given.port) : DEFAULT_PORT,
    host: given.host ? parseText(given.host) : DEFAULT_HOST,
    smtpPort: given['smtp-port'] && parsePort(given['smtp-port']),
    fixtures: given.fixtures && parseText(given.fixtures),
    behaviours: Object.fromEntries(
      parseEach(given.behaviour, (text, source) => parsePair(text, source, '<id>=<value>')),
    ),
    allowHosts: parseEach(given['allow-host'], checkedBy(parseAllowHosts, 'a host name without scheme and port')),
    corsOrigins: parseEach(
      given['cors-origin'],
      checkedBy(parseCorsOrigins, 'an origin such as https://app.example, or *'),
    ),
    deliverTo: parseEach(
      given['deliver-to'],
      checkedBy(createReceiverRules, 'a host name without scheme and port, a range such as 10.0.0.0/8, or *'),
    ),
    maxMailBytes: given['max-mail'] && parseMaxMail(given['max-mail']),
    json: given.json?.value === true,
    quiet: given.quiet?.value === true,
  };
}

function parsePort({ value, source }: Given): number {
  const port = Number(value);
  if (/^\d+$/.test(String(value)) && port <= 65535) return port;
  throw new UsageError(`${source} must be a whole number from 0 to 65535, not ${quote(value)}.`);
}

function parseMaxMail({ value, source }: Given): number {
  const bytes = parseSize(String(value));
  if (bytes !== undefined) return bytes;
  throw new UsageError(`${source} must be a size such as 512MiB or 1GiB, not ${quote(value)}.`);
}

function parseText({ value, source }: Given): string {
  if (value !== '') return String(value);
  throw new UsageError(`${source} must not be empty.`);
}

/** Makes the server's own check into one that names the flag: a value that can never match helps nobody. */
function checkedBy(check: (texts: readonly string[]) => unknown, what: string) {
  return (text: string, source: string): string => {
    try {
      check([text]);
      return text;
    } catch {
      throw new UsageError(`${source} must be ${what}, not ${quote(text)}.`);
    }
  };
}
