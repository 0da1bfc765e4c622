import type { OptionRow } from '../basics/check-options.ts';
import { toPrintableJson } from '../basics/printable.ts';
import type { Entry } from './layout.ts';

/** The parts of the process that a command uses. */
export interface Terminal {
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Whether stdout may be coloured. */
  readonly colour: boolean;
  /** The width of stdout, if it is a terminal. */
  readonly columns?: number | undefined;
  out(line: string): void;
  err(line: string): void;
  /** Replaces the text on the last line of the terminal; `undefined` if stderr is not a terminal. */
  readonly showStatus?: ((text: string) => void) | undefined;
  /** Reads stdin to its end, as text. */
  input(): Promise<string>;
  /**
   * Calls `receive` with each line that a person types, until the returned function is called; `undefined` if stdin or
   * stdout is not a terminal.
   */
  readonly readTypedLines?: ((receive: (line: string) => void) => () => void) | undefined;
  /** Resolves when the command must end: with the signal, or with `undefined` if the `npx` that started it ended. */
  readonly interrupted: Promise<NodeJS.Signals | undefined>;
}

/**
 * One flag, by its name. `--help`, the environment variables and the page of the command are generated from these rows.
 * A flag of an option has the fields of the option's row. A flag without `parse` accepts every text.
 */
export interface Flag<Value = unknown> extends Partial<Omit<OptionRow<Value>, 'flag' | 'otherVariable'>> {
  readonly help: string;
  /** The option of `startServer` that the flag sets. */
  readonly option?: string;
  /** Whether the value is JSON. A comma in JSON does not separate two values. */
  readonly isJson?: true;
  /** A second variable that sets the flag. The variable with the name of the flag has priority. */
  readonly otherVariable?: string | undefined;
  /** The group under which help lists the flag, such as `Server`. */
  readonly group?: string;
}

/** A flag that is set, with its value. */
export interface GivenFlag {
  readonly value: string | boolean | readonly string[];
  /** The flag or the environment variable that was set, for error messages. */
  readonly source: string;
}

/** The flags that are set, by name. */
export type GivenFlags = Readonly<Partial<Record<string, GivenFlag>>>;

/** A command of `agent-mailbox-mock`. */
export interface Command {
  readonly help: string;
  /** The argument of the command, such as `<file>`; in square brackets if it is optional. */
  readonly argument?: `<${string}>` | `[${string}]` | `<${string}>…`;
  /** A second argument, which is optional. */
  readonly secondArgument?: `[${string}]`;
  /** Whether the command runs another command, which follows `--`; `may` if it need not. */
  readonly runsOtherCommand?: true | 'may';
  /** Command lines, without the name of the program, and what each of them does. */
  readonly examples?: readonly Entry[];
  /** The flags of the command, without the flags that every command has. */
  readonly flags: Readonly<Record<string, Flag>>;
  /** Loads the code of the command. */
  load(): Promise<RunCommand>;
}

/**
 * Runs a command to its end. `command` is the command line after `--`, and `others` has the arguments after the first.
 * Resolves with the exit code, if it is not 0.
 *
 * @throws {UsageError | CannotRunError}
 */
export type RunCommand = (...input: CommandInput) => Promise<void> | Promise<number>;

type CommandInput = [
  terminal: Terminal,
  flags: GivenFlags,
  argument: string | undefined,
  command: readonly string[],
  others: readonly string[],
];

/** What a command that can be interrupted gets besides its flags. */
interface InterruptibleInput {
  /** The argument of the command. */
  readonly argument: string | undefined;
  /** Is aborted when the command ends or is interrupted. */
  readonly signal: AbortSignal;
}

/** Creates a command that ends when it is interrupted. */
export function createInterruptible(
  run: (terminal: Terminal, flags: GivenFlags, input: InterruptibleInput) => Promise<void>,
): RunCommand {
  return async (terminal, flags, argument): Promise<void> => {
    const controller = new AbortController();
    await Promise.race([run(terminal, flags, { argument, signal: controller.signal }), terminal.interrupted]);
    controller.abort();
  };
}

/** Thrown for wrong usage; the message is one sentence for the user. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  /** The exit code. */
  readonly exitCode = 2;
}

/** Thrown when the command cannot do its work. The message is for the user. */
export class CannotRunError extends Error {
  override readonly name = 'CannotRunError';
  /** The exit code. */
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Quotes user input as JSON, so that it stays on one line. */
export function quote(value: unknown): string {
  return toPrintableJson(value);
}

/** Returns the text of a flag; `undefined` if the flag is not set. */
export function textOfFlag(flag: GivenFlag | undefined): string | undefined {
  return flag && String(flag.value);
}

/** Returns the text of a flag, or `undefined` if the flag is not given. @throws {UsageError} if the text is empty. */
export function readText(given: GivenFlag | undefined): string | undefined {
  if (given?.value === '') throw new UsageError(`${given.source} must not be empty.`);
  return given && String(given.value);
}

/** Parses each text of a repeatable flag. Returns an empty list if the flag is not set. */
export function parseEach<Item>(flag: GivenFlag | undefined, parse: (text: string, source: string) => Item): Item[] {
  const { value, source } = flag ?? { value: [], source: '' };
  return Array.isArray(value) ? value.map((text: string) => parse(text, source)) : [];
}

/**
 * Parses `name=value`; the value may contain `=` too.
 *
 * @throws {UsageError} if the name or the `=` is missing; the message shows `form`, such as `<id>=<value>`.
 */
export function parsePair(text: string, source: string, form: string): [name: string, value: string] {
  const [name, value] = text.split(/=(.*)/s);
  if (name && value !== undefined) return [name, value];
  throw new UsageError(`${source} must be ${form}, not ${quote(text)}.`);
}
