import type { Equality } from '../verdicts/compare.ts';

/** The part of the `this` of a matcher that vitest, Jest and Playwright share. */
export interface MatcherContext extends Equality {
  /** Whether the assertion is negated by `.not`. */
  readonly isNot?: boolean;
  /** Formats the parts of a message. */
  readonly utils: {
    /** Formats the call of the matcher. */
    matcherHint(name: string, received?: string, expected?: string, options?: { isNot?: boolean }): string;
    /** Formats an expected value. */
    printExpected(value: unknown): string;
    /** Formats a received value. */
    printReceived(value: unknown): string;
  };
}

/** The result of a matcher. */
export interface MatcherResult {
  /** Whether the received value matches, regardless of `.not`. */
  readonly pass: boolean;
  /** Returns the text of a failure. */
  message(): string;
  /** Returns what is worth knowing also without a failure; an empty text if there is nothing. Default: nothing. */
  note?(): string;
  /** The ids of the mails that a failure is about: those that match or, without any, the one that was named. */
  readonly mails?: readonly string[];
}
