import { parseArgs } from 'node:util';
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
    help: `Address to listen on (default ${DEFAULT_HOST}); beyond loopback the control plane needs a token`,
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
    help: 'Answer requests whose Host is this, besides loopback; repeatable',
  },
  'cors-origin': {
    type: 'string',
    multiple: true,
    value: '<origin>',
    help: 'Let pages of this origin call the API, besides loopback; * for all; repeatable',
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

type Values = Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;

/**
 * Reads the command line, and the environment where the command line is silent.
 *
 * @throws {UsageError} on an unknown command or flag, or a value that a flag does not take.
 */
export function parseSettings(args: readonly string[], env: NodeJS.ProcessEnv): Settings {
  const values = { ...fromEnvironment(env), ...fromArguments(args) };
  return {
    port: parsePort(values.port ?? env.PORT ?? String(DEFAULT_PORT)),
    host: String(values.host ?? DEFAULT_HOST),
    fixtures: values.fixtures === undefined ? undefined : String(values.fixtures),
    behaviours: parseBehaviourPairs(toList(values.behaviour)),
    allowHosts: toList(values['allow-host']),
    corsOrigins: toList(values['cors-origin']),
    json: values.json === true,
    quiet: values.quiet === true,
    help: values.help === true,
    version: values.version === true,
  };
}

/** The environment variable that stands for a flag, such as `AGENT_MAILBOX_ALLOW_HOST`. */
export function variableOf(flag: string): string {
  return `AGENT_MAILBOX_${flag.toUpperCase().replaceAll('-', '_')}`;
}

function fromArguments(args: readonly string[]): Values {
  const { values, positionals } = parseStrictly(args);
  const [command = 'start', ...rest] = positionals;
  if (command !== 'start') throw new UsageError(`There is no command "${command}"; there is: start.`);
  if (rest.length > 0) throw new UsageError(`The command start takes no argument, but got "${rest[0]}".`);
  return values;
}

function parseStrictly(args: readonly string[]): { values: Values; positionals: string[] } {
  try {
    return parseArgs({ args: [...args], options: FLAGS, allowPositionals: true });
  } catch (error) {
    const [sentence = ''] = (error as Error).message.split(/\.?\s*\n|\. /);
    throw new UsageError(`${sentence.replace(/\.$/, '')}; see --help.`);
  }
}

function fromEnvironment(env: NodeJS.ProcessEnv): Values {
  const entries = FLAG_ROWS.flatMap(([name, flag]) => {
    const text = env[variableOf(name)];
    return text === undefined || text === '' ? [] : [[name, parseVariable(name, flag, text)] as const];
  });
  return Object.fromEntries(entries);
}

function parseVariable(name: string, flag: Flag, text: string): string | boolean | string[] {
  if (flag.multiple) return text.split(',').map((item) => item.trim());
  return flag.type === 'string' ? text : parseSwitch(variableOf(name), text);
}

function parseSwitch(variable: string, text: string): boolean {
  if (/^(1|true|yes|on)$/i.test(text)) return true;
  if (/^(0|false|no|off)$/i.test(text)) return false;
  throw new UsageError(`${variable} must be 1 or 0, not "${text}".`);
}

function parsePort(value: unknown): number {
  const port = Number(value);
  if (/^\d+$/.test(String(value)) && port <= 65535) return port;
  throw new UsageError(`--port must be a whole number from 0 to 65535, not "${value}".`);
}

function parseBehaviourPairs(pairs: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [id, value] = pair.split(/=(.*)/s);
      if (id && value) return [id, value];
      throw new UsageError(`--behaviour must be <id>=<value>, not "${pair}".`);
    }),
  );
}

function toList(value: Values[string]): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
