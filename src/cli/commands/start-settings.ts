import type { OptionProblem } from '../../basics/check-options.ts';
import { parseForeignJson } from '../../basics/foreign-json.ts';
import type { FaultName, InitialFault } from '../../mailbox/without-msw.ts';
import { DEFAULT_HOST, DEFAULT_PORT } from '../../server/loopback.ts';
import type { ServerOptions } from '../../server/start-server.ts';
import {
  type Flag,
  type GivenFlag,
  type GivenFlags,
  parseEach,
  parsePair,
  quote,
  readText,
  UsageError,
} from '../command.ts';
import { type OptionName, START_FLAGS } from '../flags.ts';

/** The settings of `agent-mailbox-mock start`. */
export type StartSettings = ReturnType<typeof readStartSettings>;

/**
 * Reads the flags of `start`. `defaultPort` is the HTTP port without a flag; 0 is any free port.
 *
 * @throws {UsageError} on a flag that the command itself reads. `startServer` checks the options that it gets.
 */
export function readStartSettings(flags: GivenFlags, defaultPort = DEFAULT_PORT) {
  const text = (name: FlagName) => readText(flags[name]);
  const isOn = (name: FlagName) => flags[name]?.value === true;
  return {
    /** The options that `startServer` gets as they are. */
    server: {
      port: defaultPort,
      host: DEFAULT_HOST,
      ...readOptions(flags),
      behaviours: Object.fromEntries(
        parseEach(flags.behaviour, (pair, source) => parsePair(pair, source, '<id>=<value>')),
      ),
      faults: flags.fault && parseEach(flags.fault, parseFaults).flat(),
    },
    /** The files that are read before the start. */
    fixtures: text('fixtures'),
    mail: parseEach(flags.mail, String),
    handlers: text('handlers'),
    profile: text('profile'),
    watch: isOn('watch'),
    envFile: text('env-file'),
    opensInspector: isOn('open'),
    json: isOn('json'),
    quiet: isOn('quiet'),
    /** The flags that were given, for messages about options. */
    flags,
  };
}

type FlagName = keyof typeof START_FLAGS;

/** Converts each flag that sets an option of `startServer`. A text that cannot be converted stays, and is refused. */
function readOptions(flags: GivenFlags): OptionsOfFlags {
  const options: Record<string, unknown> = {};
  for (const [name, definition] of Object.entries<Flag>(START_FLAGS)) {
    const given = flags[name];
    if (given && definition.option !== undefined) options[definition.option] = convert(definition, given);
  }
  // `startServer` checks each value.
  return options as OptionsOfFlags;
}

/** The options that a flag sets alone. */
type OptionsOfFlags = { readonly [Name in OptionName]?: NonNullable<ServerOptions[Name]> };

function convert({ value, multiple, fromText }: Flag, given: GivenFlag): unknown {
  if (value === undefined || multiple) return given.value;
  if (fromText) return fromText(String(given.value)) ?? given.value;
  return readText(given);
}

/** Parses the name of a fault, the JSON of one fault, or of a list of faults. */
function parseFaults(text: string, source: string): InitialFault | InitialFault[] {
  if (/^[a-z-]+$/i.test(text)) return text as FaultName;
  try {
    // The server checks it, as it checks faults in code.
    return parseForeignJson(text) as InitialFault | InitialFault[];
  } catch {
    throw new UsageError(
      `${source} must be the name of a fault, such as slow, or its JSON, such as {"on":"request","status":503}, not ${quote(text)}.`,
    );
  }
}

/** Says what is wrong with an option, by the names of the flags or variables that set options. */
export function explainOption({ option, value, describe }: OptionProblem, flags: GivenFlags): UsageError {
  const rows = Object.entries<Flag>({ ...START_FLAGS, fault: { ...START_FLAGS.fault, option: 'faults' } });
  const find = (wanted: string) => rows.find(([, row]) => row.option === wanted) ?? [wanted, undefined];
  const nameOf = (wanted: string) => flags[find(wanted)[0]]?.source ?? `--${find(wanted)[0]}`;
  if (describe) return new UsageError(describe(nameOf));
  const [, row] = find(option);
  return createValueError(row ?? { help: '' }, nameOf(option), String(value));
}

/** Parses the text of a flag whose value no option of `startServer` gets. @throws {UsageError} on an invalid value. */
export function parseOne<Value>(definition: ValueFlag<Value>, given: GivenFlag | undefined): Value | undefined {
  return given && parseValue(definition, String(given.value), given.source);
}

/** Parses each text of a repeatable flag. @throws {UsageError} on an invalid value. */
export function parseList<Value>(definition: ValueFlag<Value>, given: GivenFlag | undefined): Value[] {
  return parseEach(given, (text, source) => parseValue(definition, text, source));
}

/** A flag that checks its value. */
type ValueFlag<Value> = Flag<Value> & Required<Pick<Flag<Value>, 'parse'>>;

function parseValue<Value>(definition: ValueFlag<Value>, text: string, source: string): Value {
  const { fromText, parse } = definition;
  const value = parse(fromText ? fromText(text) : text);
  if (value !== undefined) return value;
  throw createValueError(definition, source, text);
}

function createValueError({ expected, isSecret }: Flag, source: string, text: string): UsageError {
  return new UsageError(`${source} must be ${expected}${isSecret ? '' : `, not ${quote(text)}`}.`);
}
