import { DEFAULT_HOST, DEFAULT_PORT } from '../server/default-address.ts';
import { type Given, type GivenFlags, type ParsedFlag, quote, UsageError } from './command.ts';
import { START_FLAGS } from './flags.ts';
import { parseEach, parsePair } from './read-given.ts';

/** The settings of `agent-mailbox-mock start`. */
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
 * Parses the flags of `start`.
 *
 * @throws {UsageError} on an invalid value.
 */
export function parseStartSettings(given: GivenFlags): StartSettings {
  return {
    port: parseOne(START_FLAGS.port, given.port) ?? DEFAULT_PORT,
    host: parseOne(START_FLAGS.host, given.host) ?? DEFAULT_HOST,
    smtpPort: parseOne(START_FLAGS['smtp-port'], given['smtp-port']),
    fixtures: parseOne(START_FLAGS.fixtures, given.fixtures),
    behaviours: Object.fromEntries(
      parseEach(given.behaviour, (text, source) => parsePair(text, source, '<id>=<value>')),
    ),
    allowHosts: parseList(START_FLAGS['allow-host'], given['allow-host']),
    corsOrigins: parseList(START_FLAGS['cors-origin'], given['cors-origin']),
    deliverTo: parseList(START_FLAGS['deliver-to'], given['deliver-to']),
    maxMailBytes: parseOne(START_FLAGS['max-mail'], given['max-mail']),
    json: given.json?.value === true,
    quiet: given.quiet?.value === true,
  };
}

function parseOne<Value>(flag: ParsedFlag<Value>, given: Given | undefined): Value | undefined {
  return given && parseText(flag, String(given.value), given.source);
}

/** Checks each text of a list and returns the texts unchanged, because `startServer` parses them itself. */
function parseList(flag: ParsedFlag<string>, given: Given | undefined): string[] {
  return parseEach(given, (text, source) => {
    parseText(flag, text, source);
    return text;
  });
}

/** Parses and checks a value by the row of its flag. */
function parseText<Value>(flag: ParsedFlag<Value>, text: string, source: string): Value {
  const { multiple, expected, fromText, parse } = flag;
  if (text === '' && !fromText && !multiple) throw new UsageError(`${source} must not be empty.`);
  const value = parse(fromText ? fromText(text) : text);
  if (value !== undefined) return value;
  throw new UsageError(`${source} must be ${expected}, not ${quote(text)}.`);
}
