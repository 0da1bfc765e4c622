import { parseArgs } from 'node:util';
import { parseAllowHosts, parseCorsOrigins } from '../adapters/server/listen-options.ts';
import { DEFAULT_HOST, DEFAULT_PORT } from '../adapters/server/start-server.ts';

/** One flag of the command. `--help`, the environment variables and the README are made from these rows. */
interface Flag {
  readonly type: 'boolean' | 'string';
  readonly short?: string;
  readonly multiple?: true;
  /** How help shows the value, such as `<file>`. */
  readonly value?: string;
  readonly help: string;
}

/** Every flag of `agent-mailbox-mock start`. */
export const FLAGS = {
  port: {
    type: 'string',
    short: 'p',
    value: '<port>',
    help: `Port to listen on; 0 picks a free one (default ${DEFAULT_PORT}; also PORT)`,
  },
  host: {
    type: 'string',
    value: '<address>',
    help: `Address to listen on (default ${DEFAULT_HOST})`,
  },
  fixtures: { type: 'string', short: 'f', value: '<file>', help: 'JSON file with what the mailbox starts with' },
  behaviour: {
    type: 'string',
    multiple: true,
    value: '<id>=<value>',
    help: 'Another reading of what the service document leaves open; repeatable',
  },
  'allow-host': {
    type: 'string',
    multiple: true,
    value: '<host>',
    help: 'Answer requests with this Host, besides loopback; repeatable',
  },
  'cors-origin': {
    type: 'string',
    multiple: true,
    value: '<origin>',
    help: 'Let pages of this origin call the API, or * for all; repeatable',
  },
  json: { type: 'boolean', help: 'Print one line of JSON when ready; the request log goes to stderr' },
  quiet: { type: 'boolean', short: 'q', help: 'Do not log requests' },
  help: { type: 'boolean', short: 'h', help: 'Show this help' },
  version: { type: 'boolean', short: 'v', help: 'Show the version' },
} as const satisfies Record<string, Flag>;

/** The flags as rows of a list. */
export const FLAG_ROWS: readonly (readonly [name: string, flag: Flag])[] = Object.entries(FLAGS);

/** What the command was told, by flags and by the environment. */
export interface Settings {
  readonly port: number;
  readonly host: string;
  readonly fixtures: string | undefined;
  readonly behaviours: Readonly<Record<string, string>>;
  readonly allowHosts: readonly string[];
  readonly corsOrigins: readonly string[];
  readonly json: boolean;
  readonly quiet: boolean;
  readonly help: boolean;
  readonly version: boolean;
}

/** Thrown for wrong usage; the message is one sentence for the person at the terminal. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** What a flag was given, and by what: messages name the flag or the variable that the person really set. */
interface Given {
  readonly value: string | boolean | readonly string[];
  readonly source: string;
}

type GivenFlags = { readonly [Name in keyof typeof FLAGS]?: Given };

/**
 * Reads the command line, and the environment where the command line is silent.
 *
 * @throws {UsageError} on an unknown command or flag, or a value that a flag does not take.
 */
export function parseSettings(args: readonly string[], env: NodeJS.ProcessEnv): Settings {
  const flags = fromArguments(args);
  // Who asks for help gets it, whatever else was said.
  const { help, version } = flags;
  const given: GivenFlags =
    help || version ? { ...(help && { help }), ...(version && { version }) } : { ...fromEnvironment(env), ...flags };
  return {
    port: given.port ? parsePort(given.port) : DEFAULT_PORT,
    host: given.host ? parseText(given.host) : DEFAULT_HOST,
    fixtures: given.fixtures && parseText(given.fixtures),
    behaviours: Object.fromEntries(parseEach(given.behaviour, parseBehaviourPair)),
    allowHosts: parseEach(given['allow-host'], checkedBy(parseAllowHosts, 'a host name without scheme and port')),
    corsOrigins: parseEach(
      given['cors-origin'],
      checkedBy(parseCorsOrigins, 'an origin such as https://app.example, or *'),
    ),
    json: given.json?.value === true,
    quiet: given.quiet?.value === true,
    help: given.help?.value === true,
    version: given.version?.value === true,
  };
}

/** The environment variable that stands for a flag, such as `AGENT_MAILBOX_ALLOW_HOST`. */
export function variableOf(flag: string): string {
  return `AGENT_MAILBOX_${flag.toUpperCase().replaceAll('-', '_')}`;
}

function fromArguments(args: readonly string[]): GivenFlags {
  const { values, positionals } = parseStrictly(args);
  const [command = 'start', ...rest] = positionals;
  if (command !== 'start') throw new UsageError(`There is no command ${quote(command)}; there is: start.`);
  if (rest.length > 0) throw new UsageError(`The command start takes no argument, but got ${quote(rest[0])}.`);
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value, source: `--${name}` }]));
}

function parseStrictly(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: FLAGS, allowPositionals: true });
  } catch (error) {
    const [sentence = ''] = (error as Error).message.split(/\.?\s*\n|\. /);
    throw new UsageError(`${sentence.replace(/\.$/, '')}; see --help.`);
  }
}

function fromEnvironment(env: NodeJS.ProcessEnv): GivenFlags {
  const plain: GivenFlags = env.PORT ? { port: { value: env.PORT, source: 'PORT' } } : {};
  const entries = FLAG_ROWS.flatMap(([name, flag]) => {
    const source = variableOf(name);
    const text = env[source];
    return text ? [[name, { value: parseVariable(source, flag, text), source }] as const] : [];
  });
  return { ...plain, ...Object.fromEntries(entries) };
}

function parseVariable(variable: string, flag: Flag, text: string): Given['value'] {
  if (flag.multiple) return text.split(',').flatMap((item) => item.trim() || []);
  return flag.type === 'string' ? text : parseSwitch(variable, text);
}

function parseSwitch(variable: string, text: string): boolean {
  if (/^(1|true|yes|on)$/i.test(text)) return true;
  if (/^(0|false|no|off)$/i.test(text)) return false;
  throw new UsageError(`${variable} must be 1 or 0, not ${quote(text)}.`);
}

function parsePort({ value, source }: Given): number {
  const port = Number(value);
  if (/^\d+$/.test(String(value)) && port <= 65535) return port;
  throw new UsageError(`${source} must be a whole number from 0 to 65535, not ${quote(value)}.`);
}

function parseText({ value, source }: Given): string {
  if (value !== '') return String(value);
  throw new UsageError(`${source} must not be empty.`);
}

function parseEach<Item>(given: Given | undefined, parse: (text: string, source: string) => Item): Item[] {
  const { value, source } = given ?? { value: [], source: '' };
  return Array.isArray(value) ? value.map((text: string) => parse(text, source)) : [];
}

function parseBehaviourPair(pair: string, source: string): [id: string, value: string] {
  const [id, value] = pair.split(/=(.*)/s);
  if (id && value) return [id, value];
  throw new UsageError(`${source} must be <id>=<value>, not ${quote(pair)}.`);
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

/** Shows what the person typed on one line, whatever is in it. */
function quote(value: unknown): string {
  return JSON.stringify(value);
}
