import { parseArgs } from 'node:util';
import { toPrintable, toPrintableLines } from '../basics/printable.ts';
import { findSimilarNames } from '../basics/similar-names.ts';
import { checkNodeVersion, NAME, VERSION } from '../basics/version.ts';
import { WIDTH, wrap } from '../basics/wrap-text.ts';
import { type Command, type Flag, type GivenFlags, quote, type Terminal, UsageError } from './command.ts';
import { COMMANDS, type CommandName, DEFAULT_COMMAND } from './commands.ts';
import { byGroup, COMMON_FLAGS, type FlagRow, variableOf } from './flags.ts';
import { type Entry, toList } from './layout.ts';

/** Runs a command to its end and returns its exit code. */
export async function run(terminal: Terminal): Promise<number> {
  const { args, env, err } = terminal;
  try {
    const code = await runCommand(guardTerminal(terminal), parseCommandLine(args, env));
    return typeof code === 'number' ? code : 0;
  } catch (error) {
    const { message, exitCode = 1 } = error as Error & { readonly exitCode?: number };
    err(`${NAME}: ${toPrintableLines(message)}`);
    return exitCode;
  }
}

/**
 * Returns a terminal on which no command prints a character that controls it. What a command prints on one line, it
 * makes one line itself, by `toPrintable`; this is for all that is left.
 */
function guardTerminal(terminal: Terminal): Terminal {
  const { showStatus } = terminal;
  const guard = (text: string) => toPrintableLines(text, { keepsColours: terminal.colour });
  return Object.create(terminal, {
    out: { value: (line: string) => terminal.out(guard(line)) },
    err: { value: (line: string) => terminal.err(guard(line)) },
    showStatus: { value: showStatus && ((text: string) => showStatus(toPrintable(text))) },
  }) as Terminal;
}

async function runCommand(terminal: Terminal, line: CommandLine): Promise<unknown> {
  if (line.action === 'version') return void terminal.out(VERSION);
  checkNodeVersion();
  if (line.action === 'help') return void terminal.out((line.topic ? commandHelp(line.topic) : overview()).join('\n'));
  const command: Command = COMMANDS[line.action];
  const { flags, argument, otherCommand, others } = line;
  return await (await command.load())(terminal, flags, argument, otherCommand, others);
}

/** The commands whose examples the overview shows. */
const COMMANDS_WITH_EXAMPLES: readonly CommandName[] = ['start', 'exec', 'receive', 'logs'];

function overview(): string[] {
  const commands: [name: string, command: Command][] = Object.entries(COMMANDS);
  return [
    `Usage: ${NAME} [command] [flags]`,
    '',
    'A local emulator of an Agent Mailbox Service.',
    '',
    ...listExamples(COMMANDS_WITH_EXAMPLES.map((name) => COMMANDS[name])),
    'Commands:',
    ...toList([
      ...commands.map(([name, command]): Entry => [usageOf(name, command), command.help]),
      ['help [command]', 'Show the flags and examples of a command'],
    ]),
    '',
    `The flags of ${DEFAULT_COMMAND}:`,
    '',
    ...listFlags(COMMANDS[DEFAULT_COMMAND]),
    ...ABOUT_VARIABLES,
    '',
    ...wrap('If other machines can reach the emulator, control calls need the token that it prints.', WIDTH),
    '',
    ...wrap(
      'Exit codes: 0 for success, or after SIGINT, SIGTERM or SIGHUP; 1 for a failure; 2 for wrong usage; ' +
        'exec ends with the exit code of the other command.',
      WIDTH,
    ),
  ];
}

const ABOUT_VARIABLES = wrap(
  `Environment variables can set flags too: ${variableOf('port')} sets --port. Put commas between the items of a list.`,
  WIDTH,
);

function commandHelp(name: CommandName): string[] {
  const command: Command = COMMANDS[name];
  return [
    `Usage: ${NAME} ${usageOf(name, command, ' [flags]')}`,
    '',
    ...wrap(`${command.help}.`, WIDTH),
    '',
    ...listExamples([command]),
    ...listFlags(command),
    ...ABOUT_VARIABLES,
  ];
}

/** Returns how to write a command: name, arguments, `flags`, and `-- <command>` if the command runs another command. */
export function usageOf(name: string, { argument, secondArgument, runsOtherCommand }: Command, flags = ''): string {
  const words = [name, argument, secondArgument].filter((word) => word !== undefined);
  const otherCommand = { none: '', true: ' -- <command>', may: ' [-- <command>]' }[`${runsOtherCommand ?? 'none'}`];
  return `${words.join(' ')}${flags}${otherCommand}`;
}

/** Lists the examples of commands, followed by an empty line. */
function listExamples(commands: readonly Command[]): string[] {
  const examples = commands.flatMap(({ examples = [] }) => examples);
  const entries = examples.map(([line, meaning]): Entry => [`${NAME} ${line}`.trim(), meaning]);
  return entries.length === 0 ? [] : ['Examples:', ...toList(entries, 0), ''];
}

/** Lists the flags of a command, and the flags that every command has, by group. An empty line follows each group. */
function listFlags({ flags }: Command): string[] {
  const rows: readonly FlagRow[] = Object.entries({ ...flags, ...COMMON_FLAGS });
  const all = rows.map(toEntry);
  return [...byGroup(rows)].flatMap(([name, group]) => [`${name}:`, ...toList(group.map(toEntry), undefined, all), '']);
}

function toEntry([name, { short, value, help }]: FlagRow): Entry {
  return [`${short ? `-${short}, ` : '    '}--${name}${value ? ` ${value}` : ''}`, help];
}

/** The parsed command line: a request for help or for the version, or a command to run. */
export type CommandLine =
  | { readonly action: 'help'; readonly topic: CommandName | undefined }
  | { readonly action: 'version' }
  | {
      readonly action: CommandName;
      readonly flags: GivenFlags;
      readonly argument: string | undefined;
      /** The command line after `--`, for a command that runs another command. */
      readonly otherCommand: readonly string[];
      /** The arguments after the first. */
      readonly others: readonly string[];
    };

type Flags = Readonly<Record<string, Flag>>;

/**
 * Parses the command line. A flag that is not on the command line is read from the environment.
 *
 * @throws {UsageError} on an unknown command, or on a flag or an argument that the command does not accept.
 */
export function parseCommandLine(args: readonly string[], env: NodeJS.ProcessEnv): CommandLine {
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  const { values, positionals } = parseStrictly(args.slice(0, end));
  const [action = DEFAULT_COMMAND, ...rest] = [...positionals, ...args.slice(end + 1)];
  // A request for help has priority over errors in the rest of the command line.
  if (values.help) return { action: 'help', topic: positionals.find(isCommand) };
  if (values.version) return { action: 'version' };
  if (action === HELP) return { action: 'help', topic: parseTopic(rest) };

  const name = parseCommandName(action);
  const command: Command = COMMANDS[name];
  const flags = { ...command.flags, ...COMMON_FLAGS };
  const unsupported = Object.keys(values).find((flag) => !Object.hasOwn(flags, flag));
  if (unsupported) throw new UsageError(`The command ${name} does not take --${unsupported}; see --help.`);

  let given = rest;
  let otherCommand: readonly string[] = [];
  if (command.runsOtherCommand === 'may') {
    given = positionals.slice(1);
    otherCommand = args.slice(end + 1);
  } else if (command.runsOtherCommand) {
    given = [];
    otherCommand = parseOtherCommand(name, rest, positionals);
  }
  const [argument, ...others] = parseArguments(name, command, given);
  const typedFlags = Object.entries(values).map(([name, value]) => [name, { value, source: `--${name}` }] as const);
  const givenFlags: GivenFlags = { ...readEnvironment(env, flags), ...Object.fromEntries(typedFlags) };
  if (givenFlags.help?.value) return { action: 'help', topic: positionals.find(isCommand) };
  if (givenFlags.version?.value) return { action: 'version' };
  return { action: name, flags: givenFlags, argument, otherCommand, others };
}

/** The command that shows the usage of other commands. */
const HELP = 'help';

function parseCommandName(name: string): CommandName {
  if (isCommand(name)) return name;
  const names = [...Object.keys(COMMANDS), HELP];
  const [similar] = findSimilarNames(name, names);
  const hint = similar === undefined ? 'there are' : `did you mean ${similar}? There are`;
  throw new UsageError(`There is no command ${quote(name)}; ${hint}: ${names.join(', ')}.`);
}

function parseTopic([topic, ...more]: readonly string[]): CommandName | undefined {
  if (more.length > 0) throw new UsageError(`The command ${HELP} takes one command, but got ${quote(more[0])} too.`);
  return topic === undefined || topic === HELP ? undefined : parseCommandName(topic);
}

const isCommand = (name: string): name is CommandName => Object.hasOwn(COMMANDS, name);

function parseStrictly(args: readonly string[]) {
  const flags: Flags = Object.assign({}, ...Object.values(COMMANDS).map((command) => command.flags), COMMON_FLAGS);
  const optionEntries = Object.entries(flags).map(([name, { value, short, multiple }]) => {
    const type = value === undefined ? ('boolean' as const) : ('string' as const);
    return [name, { type, ...(short && { short }), ...(multiple && { multiple }) }] as const;
  });
  try {
    const options = Object.fromEntries(optionEntries);
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    return { values: values as Readonly<Record<string, string | boolean | string[]>>, positionals };
  } catch (error) {
    const [sentence = ''] = (error as Error).message.split(/\n|\. /);
    throw new UsageError(`${sentence.replace(/\.$/, '')}; ${hintFor(error, args)}see --help.`);
  }
}

/**
 * Returns a hint for a wrong command line: how to write a value that begins with `-`, or which flag of the command is
 * similar to an unknown flag. Without a hint, the text is empty.
 */
function hintFor(error: unknown, args: readonly string[]): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const { flags }: Command = COMMANDS[args.find(isCommand) ?? DEFAULT_COMMAND];
  const ambiguous = /'--([^'=]+)=-XYZ/.exec(message)?.[1];
  if (ambiguous !== undefined) return hintForDash(ambiguous, flags[ambiguous], args);
  const unknown = /--([^'=]+)/.exec(message)?.[1];
  if (code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION' || unknown === undefined) return '';
  const [similar] = findSimilarNames(unknown, Object.keys({ ...flags, ...COMMON_FLAGS }));
  return similar === undefined ? '' : `did you mean --${similar}? If not, `;
}

/**
 * Returns how to write a value that begins with `-`.
 *
 * @throws {UsageError} on a negative number, if the flag does not accept it.
 */
function hintForDash(name: string, flag: Flag | undefined, args: readonly string[]): string {
  const label = `--${name}`;
  const value = args[args.findIndex((arg) => arg === label || arg === `-${flag?.short}`) + 1] ?? '';
  if (flag?.parse && /^-\d/.test(value) && flag.parse(flag.fromText?.(value) ?? value) === undefined) {
    throw new UsageError(`${label} must be ${flag.expected}, not ${quote(value)}.`);
  }
  const rule = flag?.expected === undefined ? '' : `${label} must be ${flag.expected}, and `;
  return `${rule}a value that begins with - follows an =, as in ${label}=${flag?.value ?? '<value>'}; `;
}

/** Checks that a command gets the arguments that it takes, and returns them. */
function parseArguments(name: string, { argument, secondArgument }: Command, given: readonly string[]) {
  const taken = [argument, secondArgument].flatMap((each) => each ?? []);
  if (argument?.startsWith('<') && given.length === 0) {
    throw new UsageError(`The command ${name} needs ${argument}; see --help.`);
  }
  const takesSeveral = argument?.endsWith('…') === true;
  const nouns = taken.map((each) => each.replace(/[<>[\]…]/g, ''));
  for (const [index, noun] of nouns.entries()) {
    if (given[index] === '') throw new UsageError(`The ${noun} of ${name} must not be empty.`);
  }
  const extra = given[taken.length];
  if (extra === undefined || takesSeveral) return given;
  if (nouns.length === 0) throw new UsageError(`The command ${name} takes no argument, but got ${quote(extra)}.`);
  const limit = nouns.length === 1 ? `one ${nouns[0]}` : taken.join(' ');
  throw new UsageError(`The command ${name} takes ${limit}, but got ${quote(extra)} too.`);
}

/** Returns the command line of the other command. It follows `--`, because both commands may have the same flag. */
function parseOtherCommand(name: string, rest: readonly string[], positionals: readonly string[]): readonly string[] {
  if (rest[0] && positionals.length <= 1) return rest;
  const example = `npx agent-mailbox-mock ${name} -- npm test`;
  throw new UsageError(`The command ${name} needs another command after --, such as: ${example}.`);
}

function readEnvironment(env: NodeJS.ProcessEnv, flags: Flags): GivenFlags {
  const entries = Object.entries(flags).flatMap(([name, flag]) => {
    const source = env[variableOf(name)] ? variableOf(name) : (flag.otherVariable ?? '');
    const text = env[source];
    return text ? [[name, { value: parseVariable(source, flag, text), source }] as const] : [];
  });
  return Object.fromEntries(entries);
}

function parseVariable(variable: string, flag: Flag, text: string): string | boolean | string[] {
  if (flag.isJson) return [text];
  if (flag.multiple) return text.split(',').flatMap((item) => item.trim() || []);
  if (flag.value !== undefined) return text;
  if (/^(1|true|yes|on)$/i.test(text)) return true;
  if (/^(0|false|no|off)$/i.test(text)) return false;
  throw new UsageError(`${variable} must be 1 or 0, not ${quote(text)}.`);
}
