import { DEFAULT_HOST, DEFAULT_PORT } from '../server/default-address.ts';
import { type Flag, type Given, type GivenFlags, quote, UsageError } from './command.ts';
import { START_FLAGS } from './flags.ts';
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
  const one = <Value>(name: keyof typeof START_FLAGS) => given[name] && (parseOne(name, given[name]) as Value);
  const many = (name: keyof typeof START_FLAGS) =>
    parseEach(given[name], (value, source) => parseOne(name, { value, source }) as string);
  return {
    port: one<number>('port') ?? DEFAULT_PORT,
    host: one<string>('host') ?? DEFAULT_HOST,
    smtpPort: one<number>('smtp-port'),
    fixtures: one<string>('fixtures'),
    behaviours: Object.fromEntries(
      parseEach(given.behaviour, (text, source) => parsePair(text, source, '<id>=<value>')),
    ),
    allowHosts: many('allow-host'),
    corsOrigins: many('cors-origin'),
    deliverTo: many('deliver-to'),
    maxMailBytes: one<number>('max-mail'),
    json: given.json?.value === true,
    quiet: given.quiet?.value === true,
  };
}

/** Reads and checks a value as the row of its flag says; it is kept as the option that `startServer` takes. */
function parseOne(name: keyof typeof START_FLAGS, { value, source }: Given): unknown {
  const { multiple, expected, fromText, parse }: Flag = START_FLAGS[name];
  const text = String(value);
  if (text === '' && !fromText && !multiple) throw new UsageError(`${source} must not be empty.`);
  const option = fromText ? fromText(text) : text;
  if (option !== undefined && (!parse || parse(option) !== undefined)) return option;
  throw new UsageError(`${source} must be ${expected}, not ${quote(value)}.`);
}
