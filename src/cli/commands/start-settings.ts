import type { FaultOptions } from '../../mailbox/without-msw.ts';
import { DEFAULT_HOST, DEFAULT_PORT } from '../../server/loopback.ts';
import { type Flag, type GivenFlag, type GivenFlags, parseEach, parsePair, quote, UsageError } from '../command.ts';
import { START_FLAGS } from '../flags.ts';

/** The settings of `agent-mailbox-mock start`. */
export type StartSettings = ReturnType<typeof parseStartSettings>;

/**
 * Parses the flags of `start`. `defaultPort` is the HTTP port without a flag; 0 is any free port.
 *
 * @throws {UsageError} on an invalid value.
 */
export function parseStartSettings(flags: GivenFlags, defaultPort = DEFAULT_PORT) {
  const one = <Name extends FlagName>(name: Name) => parseOne(START_FLAGS[name] as Flag<ValueOf<Name>>, flags[name]);
  const list = (name: FlagName) => parseList(START_FLAGS[name], flags[name]);
  const isOn = (name: FlagName) => flags[name]?.value === true;
  const behaviours = parseEach(flags.behaviour, (text, source) => parsePair(text, source, '<id>=<value>'));
  return {
    /** The options that `startServer` gets as they are. */
    server: {
      port: one('port') ?? defaultPort,
      host: one('host') ?? DEFAULT_HOST,
      publicUrl: one('public-url'),
      drain: one('drain'),
      state: one('state'),
      seed: one('seed'),
      smtpPort: one('smtp-port'),
      imapPort: one('imap-port'),
      tlsCert: one('tls-cert'),
      tlsKey: one('tls-key'),
      tlsRequired: isOn('tls-required'),
      maxMailBytes: one('max-mail'),
      loopLimit: one('loop-limit'),
      behaviours: Object.fromEntries(behaviours),
      // `startServer` checks the faults.
      faults: flags.fault && parseEach(flags.fault, parseFaults).flat(),
      allowHosts: list('allow-host'),
      corsOrigins: list('cors-origin'),
      deliverTo: list('deliver-to'),
      controlToken: one('token'),
      journalSize: one('journal-size'),
      verbose: isOn('verbose'),
    },
    /** The files that are read before the start. */
    fixtures: one('fixtures'),
    mail: list('mail'),
    handlers: one('handlers'),
    profile: one('profile'),
    watch: isOn('watch'),
    envFile: one('env-file'),
    opensInspector: isOn('open'),
    json: isOn('json'),
    quiet: isOn('quiet'),
  };
}

type FlagName = keyof typeof START_FLAGS;

/** The type of the value of a flag. */
type ValueOf<Name extends FlagName> = (typeof START_FLAGS)[Name] extends { parse(value: unknown): infer Value }
  ? NonNullable<Value>
  : string;

/** Parses the JSON of one fault, or of a list of faults. */
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
