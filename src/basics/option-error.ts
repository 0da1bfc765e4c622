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
