import { foldAddress } from '../../basics/domain-name.ts';
import type { Candidate, CandidateField, Expected } from './candidates.ts';

/** How two values are compared: a part of the `this` of a matcher, which vitest, Jest and Playwright share. */
export interface Equality {
  /** Compares two values. Asymmetric matchers are allowed at any depth of `expected`. */
  equals(actual: unknown, expected: unknown, customTesters?: never[]): boolean;
  /** The equality testers that the user added. */
  readonly customTesters?: unknown;
}

/** A candidate that does not match, and why. */
export type Miss = { readonly candidate: Candidate; readonly differences: readonly Difference[] };

/** The candidates that match, and those that do not match, the most similar first. */
export type Comparison = { readonly matching: readonly Candidate[]; readonly misses: readonly Miss[] };

/** Compares candidates with the expected fields. */
export function findMatches(context: Equality, candidates: readonly Candidate[], expected: Expected): Comparison {
  const compared = candidates.map((candidate) => compareCandidate(context, candidate, expected));
  const misses = compared.filter(({ differences }) => differences.length > 0);
  return {
    matching: compared.filter(({ differences }) => differences.length === 0).map(({ candidate }) => candidate),
    misses: misses.sort(byDifference),
  };
}

/** A candidate, or an earlier form of it, and how it differs from what is expected. */
interface Compared extends Miss {
  /** The positions of the fields that are not as expected. */
  readonly wrongIndexes: readonly number[];
}

/** Orders candidates so that the most similar one is the first. */
function byDifference(a: Compared, b: Compared): number {
  return (
    a.wrongIndexes.length - b.wrongIndexes.length ||
    a.differences.length - b.differences.length ||
    // The first fields count most: a candidate is nearer if its first wrong field comes later.
    (b.wrongIndexes[0] ?? 0) - (a.wrongIndexes[0] ?? 0)
  );
}

/** Compares a candidate, as it is and as it was, with the expected fields. Returns the form that is most similar. */
function compareCandidate(context: Equality, candidate: Candidate, expected: Expected): Compared {
  const forms = [candidate, ...(candidate.earlier ?? [])].map((form) => {
    const byField = Object.entries(expected).map(([name, value]) =>
      compareField(context, name, value, form.fields[name] ?? { shown: undefined }),
    );
    const wrongIndexes = byField.flatMap((differences, index) => (differences.length > 0 ? [index] : []));
    return { candidate: form, differences: byField.flat(), wrongIndexes };
  });
  return forms.sort(byDifference)[0] as Compared;
}

/**
 * Compares a field. If the field has options, the expected value (or each item of it, if it is an array) must be one of
 * the options.
 */
function compareField(context: Equality, name: string, expected: unknown, field: CandidateField) {
  const { shown, options, addresses } = field;
  const differencesOf = (wanted: unknown, actual: unknown) => findDifferences(context, wanted, actual, name);
  const wanted: unknown[] = Array.isArray(expected) ? expected : [expected];
  if (addresses) {
    const isAsExpected = matchesAddresses(wanted, addresses, (one, form) => differencesOf(one, form).length === 0);
    return isAsExpected ? [] : [{ path: name, expected, received: shown }];
  }
  if (!options) return differencesOf(expected, shown);
  const isAsExpected = wanted.every((each) => options.some((option) => differencesOf(each, option).length === 0));
  return isAsExpected ? [] : [{ path: name, expected, received: shown }];
}

/**
 * Returns whether each expected address is among the addresses and, with `all`, each address is expected. An address that
 * is a text may be given in any letter case, and its domain in both forms of IDNA. An empty list expects that there is no address.
 */
function matchesAddresses(
  wanted: readonly unknown[],
  { forms, mustBe }: NonNullable<CandidateField['addresses']>,
  isEqual: (wanted: unknown, form: string) => boolean,
): boolean {
  if (wanted.length === 0) return forms.length === 0;
  const isOneOf = (each: unknown, address: readonly string[]) => {
    if (typeof each === 'string') return address.some((form) => foldAddress(form) === foldAddress(each));
    return address.some((form) => isEqual(each, form));
  };
  const areAllThere = wanted.every((each) => forms.some((address) => isOneOf(each, address)));
  return areAllThere && (mustBe === 'some' || forms.every((address) => wanted.some((each) => isOneOf(each, address))));
}

/** A place at which a received value is not as expected. */
interface Difference {
  /** The path, such as `body.events[0]`. */
  readonly path: string;
  readonly expected: unknown;
  readonly received: unknown;
}

/**
 * Finds the differences between a received value and the expected value. In objects, at any depth, only the expected
 * properties are compared. A regular expression matches a text.
 */
function findDifferences(context: Equality, expected: unknown, received: unknown, path: string): Difference[] {
  const compare = (wanted: unknown, actual: unknown, at: string) => findDifferences(context, wanted, actual, at);
  if (isPlainObject(expected) && isPlainObject(received)) {
    return Object.keys(expected).flatMap((name) => compare(expected[name], received[name], `${path}.${name}`));
  }
  if (Array.isArray(expected) && Array.isArray(received) && expected.length === received.length) {
    return expected.flatMap((item, index) => compare(item, received[index], `${path}[${index}]`));
  }
  return isMatch(context, expected, received) ? [] : [{ path, expected, received }];
}

function isMatch(context: Equality, expected: unknown, received: unknown): boolean {
  if (expected instanceof RegExp && typeof received === 'string') return received.search(expected) >= 0;
  // `equals` is called as a method, because Bun refuses the call of a function that was taken out of the context.
  return context.equals(received, expected, (context.customTesters ?? []) as never[]);
}

/** Returns whether a value is an object of fields: no array, and no instance of a class. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
