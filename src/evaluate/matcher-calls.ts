import type { MatcherContext } from '../control/assertions/matcher-context.ts';
import { TextPattern } from './text-pattern.ts';

/** Creates what a matcher needs of a test runner: how values are compared, and how they are written in messages. */
export function createMatcherContext(isNot: boolean): MatcherContext {
  return {
    isNot,
    equals: isEqual,
    utils: { matcherHint: () => '', printExpected: printValue, printReceived: printValue },
  };
}

/** Returns whether two values are equal at any depth. An object of `expected` may compare itself, by `asymmetricMatch`. */
export function isEqual(actual: unknown, expected: unknown): boolean {
  if (isAsymmetric(expected)) return expected.asymmetricMatch(actual);
  if (Object.is(actual, expected)) return true;
  if (typeof actual !== 'object' || typeof expected !== 'object' || actual === null || expected === null) return false;
  if (Array.isArray(actual) !== Array.isArray(expected)) return false;
  if (actual instanceof Date && expected instanceof Date) return actual.getTime() === expected.getTime();
  const [own, wanted] = [withoutUndefined(actual), withoutUndefined(expected)];
  return (
    own.size === wanted.size && [...wanted].every(([name, value]) => own.has(name) && isEqual(own.get(name), value))
  );
}

function withoutUndefined(value: object): Map<string, unknown> {
  return new Map(Object.entries(value).filter(([, field]) => field !== undefined));
}

function isAsymmetric(value: unknown): value is { asymmetricMatch(actual: unknown): boolean } {
  return typeof Object(value).asymmetricMatch === 'function';
}

/** Writes a value for a message. */
function printValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value instanceof RegExp || value instanceof TextPattern || isAsymmetric(value)) return String(value);
  return JSON.stringify(value, (_, field) => (field instanceof RegExp ? String(field) : field));
}
