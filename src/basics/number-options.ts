import { createOptionError } from './option-error.ts';

/** The options that are whole numbers, each with its least and greatest value. */
const RANGES = {
  journalSize: [0, 100_000],
  timeoutSeconds: [1, 86_400],
  loopLimit: [1, 1_000_000],
  seed: [0, Number.MAX_SAFE_INTEGER],
  rate: [1, 10_000],
} as const;

export type NumberOption = keyof typeof RANGES;

/** Returns the rule for the text of a command-line flag, and the functions that convert and check this text. */
export function numberFlag(option: NumberOption) {
  return { expected: ruleOf(option), fromText: toWholeNumber, parse: (value: unknown) => parseNumber(option, value) };
}

/** Converts the text of a flag to a whole number; returns `undefined` if the text is not a whole number. */
export function toWholeNumber(text: string): number | undefined {
  return /^\d+$/.test(text) ? Number(text) : undefined;
}

/** Returns the rule for an option, as the end of the sentence "must be …". */
export function ruleOf(option: NumberOption): string {
  return `a whole number from ${RANGES[option][0]} to ${RANGES[option][1]}`;
}

/** Returns the value of an option unchanged, or `undefined` if it is invalid. */
export function parseNumber(option: NumberOption, value: unknown): number | undefined {
  const [least, greatest] = RANGES[option];
  return Number.isInteger(value) && Number(value) >= least && Number(value) <= greatest ? Number(value) : undefined;
}

/** Returns the value of an option unchanged. @throws {RangeError} if it is invalid. */
export function checkNumber(option: NumberOption, value: unknown): number {
  const parsed = parseNumber(option, value);
  if (parsed !== undefined) return parsed;
  const message = `The option ${option} must be ${ruleOf(option)}, not ${JSON.stringify(value) ?? String(value)}.`;
  throw createOptionError(new RangeError(message), { option, value });
}
