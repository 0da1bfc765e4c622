/** The process as far as the command uses it. */
export interface Terminal {
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Whether stdout may be coloured. */
  readonly colour: boolean;
  out(line: string): void;
  err(line: string): void;
  /** Everything on stdin, as text. */
  input(): Promise<string>;
  /** Resolves when the user wants the command to end. */
  readonly interrupted: Promise<void>;
}

/** One flag. `--help`, the environment variables and the README are made from these rows. */
export interface Flag {
  readonly type: 'boolean' | 'string';
  readonly short?: string;
  readonly multiple?: true;
  /** How help shows the value, such as `<file>`. */
  readonly value?: string;
  readonly help: string;
  /** What its value must be, as the end of a sentence. */
  readonly expected?: string;
  /** What its text says, where that is not the text; `undefined` for one that is not right. */
  readonly fromText?: (text: string) => unknown;
  /** The value as the command uses it; `undefined` for one that is not right. */
  readonly parse?: (value: unknown) => unknown;
}

/** A flag whose value the command uses as its row parses it. */
export interface ParsedFlag<Value> extends Flag {
  readonly parse: (value: unknown) => Value | undefined;
}

/** What a flag was given, and by what: messages name the flag or the variable that the person really set. */
export interface Given {
  readonly value: string | boolean | readonly string[];
  readonly source: string;
}

/** The flags that were given, by name. */
export type GivenFlags = Readonly<Partial<Record<string, Given>>>;

/** One thing that `agent-mailbox-mock` can do. */
export interface Command {
  readonly help: string;
  /** What stands after the command, such as `<file>`; in brackets if it may be left out. */
  readonly argument?: `<${string}>` | `[${string}]`;
  /** The flags that make sense for it, besides those of every command. */
  readonly flags: Readonly<Record<string, Flag>>;
  /** Loads the code that runs it. */
  load(): Promise<RunCommand>;
}

/** Runs a command; it resolves when the command has done what it does. @throws {UsageError} {@link CannotRunError} */
export type RunCommand = (terminal: Terminal, given: GivenFlags, argument: string | undefined) => Promise<void>;

/** Thrown for wrong usage; the message is one sentence for the person at the terminal. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Thrown when the command cannot do what it should; the message is for the person at the terminal. */
export class CannotRunError extends Error {
  override readonly name = 'CannotRunError';
}

/** Shows what the person typed on one line, whatever is in it. */
export function quote(value: unknown): string {
  return JSON.stringify(value);
}
