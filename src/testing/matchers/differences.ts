import type { MatcherContext } from './matcher-context.ts';

/** A place at which a received value is not as expected. */
export interface Difference {
  /** The path, such as `body.events[0]`. */
  readonly path: string;
  readonly expected: unknown;
  readonly received: unknown;
}

/**
 * Finds the differences of a value from an expected one. Of an object only the expected properties are compared, at any
 * depth. A regular expression matches a text.
 */
export function findDifferences(
  context: MatcherContext,
  expected: unknown,
  received: unknown,
  path: string,
): Difference[] {
  const compare = (wanted: unknown, actual: unknown, at: string) => findDifferences(context, wanted, actual, at);
  if (isPlain(expected) && isPlain(received)) {
    return Object.keys(expected).flatMap((name) => compare(expected[name], received[name], `${path}.${name}`));
  }
  if (Array.isArray(expected) && Array.isArray(received) && expected.length === received.length) {
    return expected.flatMap((item, index) => compare(item, received[index], `${path}[${index}]`));
  }
  return isMatch(context, expected, received) ? [] : [{ path, expected, received }];
}

function isMatch(context: MatcherContext, expected: unknown, received: unknown): boolean {
  if (expected instanceof RegExp && typeof received === 'string') return received.search(expected) >= 0;
  // As a method: Bun refuses the call of a function that was taken out of the context.
  return context.equals(received, expected, (context.customTesters ?? []) as never[]);
}

/** Returns whether a value is an object of fields: no array, and no instance of a class. */
export function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
