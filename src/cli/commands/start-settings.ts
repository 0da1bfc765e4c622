import type { FaultOptions } from '../../mailbox/without-msw.ts';
import { DEFAULT_HOST, DEFAULT_PORT } from '../../server/loopback.ts';
import { type Flag, type GivenFlag, type GivenFlags, parseEach, parsePair, quote, UsageError } from '../command.ts';
import { START_FLAGS } from '../flags.ts';

/** The settings of `agent-mailbox-mock start`. */
export type StartSettings = ReturnType<typeof parseStartSettings>;

/**
 * Parses the flags of `start`.
 *
 * @throws {UsageError} on an invalid value.
 */
export function parseStartSettings(flags: GivenFlags) {
  return {
    port: parseOne(START_FLAGS.port, flags.port) ?? DEFAULT_PORT,
    host: parseOne(START_FLAGS.host, flags.host) ?? DEFAULT_HOST,
    smtpPort: parseOne(START_FLAGS['smtp-port'], flags['smtp-port']),
    imapPort: parseOne(START_FLAGS['imap-port'], flags['imap-port']),
    tlsCert: parseOne(START_FLAGS['tls-cert'], flags['tls-cert']),
    tlsKey: parseOne(START_FLAGS['tls-key'], flags['tls-key']),
    tlsRequired: flags['tls-required']?.value === true,
    fixtures: parseOne(START_FLAGS.fixtures, flags.fixtures),
    mail: parseList(START_FLAGS.mail, flags.mail),
    behaviours: Object.fromEntries(
      parseEach(flags.behaviour, (text, source) => parsePair(text, source, '<id>=<value>')),
    ),
    profile: parseOne(START_FLAGS.profile, flags.profile),
    // `startServer` checks them.
    faults: flags.fault && parseEach(flags.fault, parseFaults).flat(),
    publicUrl: parseOne(START_FLAGS['public-url'], flags['public-url']),
    drain: parseOne(START_FLAGS.drain, flags.drain),
    allowHosts: parseList(START_FLAGS['allow-host'], flags['allow-host']),
    corsOrigins: parseList(START_FLAGS['cors-origin'], flags['cors-origin']),
    deliverTo: parseList(START_FLAGS['deliver-to'], flags['deliver-to']),
    controlToken: parseOne(START_FLAGS.token, flags.token),
    envFile: parseOne(START_FLAGS['env-file'], flags['env-file']),
    state: parseOne(START_FLAGS.state, flags.state),
    watch: flags.watch?.value === true,
    handlers: parseOne(START_FLAGS.handlers, flags.handlers),
    maxMailBytes: parseOne(START_FLAGS['max-mail'], flags['max-mail']),
    journalSize: parseOne(START_FLAGS['journal-size'], flags['journal-size']),
    loopLimit: parseOne(START_FLAGS['loop-limit'], flags['loop-limit']),
    seed: parseOne(START_FLAGS.seed, flags.seed),
    verbose: flags.verbose?.value === true,
    opensInspector: flags.open?.value === true,
    json: flags.json?.value === true,
    quiet: flags.quiet?.value === true,
  };
}

/** Parses the JSON of a fault or of a list of faults. */
function parseFaults(text: string, source: string): FaultOptions | FaultOptions[] {
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(
      `${source} must be the JSON of a fault, such as {"on":"request","status":503}, not ${quote(text)}.`,
    );
  }
}

/** Parses the text of a flag that is set. @throws {UsageError} on an invalid value. */
export function parseOne<Value = string>(definition: Flag<Value>, flag: GivenFlag | undefined): Value | undefined {
  return flag && parseText(definition, String(flag.value), flag.source);
}

/** Checks each text of a list and returns the texts unchanged, because `startServer` parses them itself. */
export function parseList(definition: Flag, flag: GivenFlag | undefined): string[] {
  return parseEach(flag, (text, source) => {
    parseText(definition, text, source);
    return text;
  });
}

/** Parses and checks a value by the definition of its flag. */
function parseText<Value>(definition: Flag<Value>, text: string, source: string): Value {
  const { multiple, expected, isSecret, fromText, parse = (given: unknown) => given as Value } = definition;
  if (text === '' && !fromText && !multiple) throw new UsageError(`${source} must not be empty.`);
  const value = parse(fromText ? fromText(text) : text);
  if (value !== undefined) return value;
  throw new UsageError(`${source} must be ${expected}${isSecret ? '' : `, not ${quote(text)}`}.`);
}
