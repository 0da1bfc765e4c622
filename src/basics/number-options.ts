import { describeValue } from './check-options.ts';
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

/** Converts the text of a flag to a whole number; returns `undefined` if the text is not a whole number. */
export function toWholeNumber(text: string): number | undefined {
  return /^\d+$/.test(text) ? Number(text) : undefined;
}

/** Returns the rule for an option, as the end of the sentence "must be …". */
export function rangeRule(option: NumberOption): string {
  return `a whole number from ${RANGES[option][0]} to ${RANGES[option][1]}`;
}

/** Returns whether a value is valid for an option. */
export function isValidNumber(option: NumberOption, value: unknown): value is number {
  const [least, greatest] = RANGES[option];
  return typeof value === 'number' && Number.isInteger(value) && value >= least && value <= greatest;
}

/** Returns the value of an option unchanged. @throws {RangeError} if it is invalid. */
export function checkNumber(option: NumberOption, value: unknown): number {
  if (isValidNumber(option, value)) return value;
  const message = `The option ${option} must be ${rangeRule(option)}, not ${describeValue(value)}.`;
  throw createOptionError(new RangeError(message), { option, value });
}
