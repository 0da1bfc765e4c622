import { findSimilarNames } from './similar-names.ts';

/**
 * Checks the names of options, and returns the options unchanged. `names` lists all options of the function.
 *
 * @throws {TypeError} if the options are not an object, or if the function has no option with one of the names. The
 * message names a similar option and lists all options.
 */
export function checkOptions<Options extends object>(functionName: string, options: Options, names: readonly string[]) {
  const given: unknown = options;
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new TypeError(`${functionName} takes an object of options, not ${describeValue(given)}.`);
  }
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown === undefined) return options;
  const [similar] = findSimilarNames(unknown, names);
  const hint = similar === undefined ? 'there are' : `did you mean ${similar}? There are`;
  throw new TypeError(`${functionName} has no option ${JSON.stringify(unknown)}; ${hint}: ${names.join(', ')}.`);
}

/** Describes a value of any type, for the end of a sentence that says what a function takes. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 100));
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'function') return 'a function';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

/** Which values an option may have, and how they are described. */
export interface OptionRule<Value = unknown> {
  /** Describes a valid value, as the end of the sentence "must be …". */
  readonly expected: string;
  /** The same for a value in code, if the command takes another form, such as `512MiB`. Default: `expected`. */
  readonly expectedInCode?: string;
  /** Whether the option is a list and the flag is repeatable. The rule is then that of an item. */
  readonly multiple?: true;
  /** Describes the valid items of a list, as the end of the sentence "takes …". */
  readonly takes?: string;
  /** Whether messages must not show the value. */
  readonly isSecret?: true;
  /** Converts the text of a flag to a value. Default: the text itself. */
  readonly fromText?: (text: string) => unknown;
  /** Returns the value in the form that the emulator uses, or `undefined` if it is invalid. */
  readonly parse: (value: unknown) => Value | undefined;
  /** The class of the error for an invalid value. Default: `TypeError`. */
  readonly errorType?: new (
    message: string,
  ) => Error;
}

/**
 * The row of an option that the command can set too. It has everything about the option but its doc comment, which is
 * at the interface that users see. The variable has the name of the flag.
 */
export interface OptionRow<Value = unknown> extends OptionRule<Value> {
  /** The name of the flag, without `--`. */
  readonly flag: string;
  /** The letter of the flag, such as `p` for `-p`. */
  readonly short?: string;
  /** A second variable that sets the flag. The variable with the name of the flag has priority. */
  readonly otherVariable?: string;
  /** The placeholder of the flag's value in help. A flag without it is a switch. */
  readonly value?: string;
  /** What the flag does, in one line of help, with the default. */
  readonly help: string;
  /** The default of the option. Without it, the option is not set, or its default depends on more than the option. */
  readonly default?: unknown;
}

/** Returns the rule of an option that is a whole number in a range. */
export function wholeNumber(least: number, greatest: number) {
  return {
    expected: `a whole number from ${least} to ${greatest}`,
    fromText: (text: string) => (/^\d+$/.test(text) ? Number(text) : undefined),
    parse: (value: unknown) => {
      const isValid = typeof value === 'number' && Number.isInteger(value) && value >= least && value <= greatest;
      return isValid ? value : undefined;
    },
    errorType: RangeError,
  } as const satisfies OptionRule<number>;
}

/** The rule of an option that is on or off. */
export const ON_OR_OFF = {
  expected: 'true or false',
  parse: (value: unknown) => (typeof value === 'boolean' ? value : undefined),
} as const satisfies OptionRule<boolean>;

/** The values of options with these rows. An option whose row has a default is always set. */
export type ParsedOptions<Rows, Options> = {
  readonly [Name in keyof Rows & keyof Options]: Rows[Name] extends { readonly default: unknown }
    ? NonNullable<Options[Name]>
    : Options[Name];
};

/**
 * Checks the options that have a row, and applies their defaults. Other options are left out.
 *
 * @throws {TypeError} or the error of the row, for an invalid value: see `optionProblemOf`.
 */
export function parseOptions<const Rows extends Readonly<Record<string, OptionRow>>, Options extends object>(
  rows: Rows,
  options: Options,
): ParsedOptions<Rows, Options> {
  const given = options as Readonly<Record<string, unknown>>;
  const parsed = Object.entries(rows).map(([name, row]) => {
    const value = given[name] === undefined ? row.default : given[name];
    if (value === undefined || !row.multiple)
      return [name, value === undefined ? value : parseOption(name, row, value)];
    if (Array.isArray(value)) return [name, value.map((item) => parseOption(name, row, item))];
    throw new TypeError(`The option ${name} must be a list, not ${describeValue(value)}.`);
  });
  return Object.fromEntries(parsed);
}

/**
 * Checks the value of one option, or one item of a list, and returns it in the form that the emulator uses. Throws like
 * `parseOptions`.
 */
export function parseOption<Value>(name: string, rule: OptionRule<Value>, value: unknown): Value {
  const { parse, multiple, takes, expected, expectedInCode = expected, isSecret, errorType = TypeError } = rule;
  const parsed = parse(value);
  if (parsed !== undefined) return parsed;
  const what = multiple ? `takes ${takes}` : `must be ${expectedInCode}`;
  const error = new errorType(`The option ${name} ${what}${isSecret ? '' : `, not ${describeValue(value)}`}.`);
  throw createOptionError(error, { option: name, value });
}

/**
 * What an error says about an option of `startServer` or `createMailbox`, besides its message. The message names the
 * option as code does; a front end such as the command uses these fields to name it as its user does.
 */
export interface OptionProblem {
  /** The name of the option, such as `allowHosts`. */
  readonly option: string;
  /** The invalid value, or the invalid item of a list. */
  readonly value?: unknown;
  /**
   * Says what is wrong, with the names that `nameOf` gives to options. Without this function, the value is not what the
   * option takes.
   */
  readonly describe?: (nameOf: (option: string) => string) => string;
}

/** Adds to an error which option is wrong. The addition is hidden when the error is printed. */
export function createOptionError<Kind extends Error>(error: Kind, problem: OptionProblem): Kind {
  return Object.defineProperty(error, 'optionProblem', { value: problem });
}

/** Returns what an error says about an option; `undefined` if the error is about something else. */
export function optionProblemOf(error: unknown): OptionProblem | undefined {
  return error instanceof Error ? (error as { readonly optionProblem?: OptionProblem }).optionProblem : undefined;
}
