import type { Candidate, CandidateField } from './candidates.ts';
import { type Difference, findDifferences } from './differences.ts';
import type { MatcherContext } from './matcher-context.ts';

/** The expected fields, by name. */
export type Expected = Readonly<Record<string, unknown>>;

/** A candidate that does not match, and why. */
export interface Miss {
  readonly candidate: Candidate;
  readonly differences: readonly Difference[];
}

/** The candidates that match, and the others, nearest first. */
export interface Comparison {
  readonly matching: readonly Candidate[];
  readonly misses: readonly Miss[];
}

/** Compares candidates with the expected fields. */
export function findMatches(context: MatcherContext, candidates: readonly Candidate[], expected: Expected): Comparison {
  const compared = candidates.map((candidate) => compare(context, candidate, expected));
  const misses = compared.filter(({ differences }) => differences.length > 0);
  return {
    matching: compared.filter(({ differences }) => differences.length === 0).map(({ candidate }) => candidate),
    misses: misses.sort(
      (one, other) =>
        one.wrongFields.length - other.wrongFields.length ||
        one.differences.length - other.differences.length ||
        // The fields that come first count more.
        (other.wrongFields[0] ?? 0) - (one.wrongFields[0] ?? 0),
    ),
  };
}

function compare(context: MatcherContext, candidate: Candidate, expected: Expected) {
  const byField = Object.entries(expected).map(([name, value]) =>
    compareField(context, name, value, candidate.fields[name] ?? { shown: undefined }),
  );
  return {
    candidate,
    differences: byField.flat(),
    wrongFields: byField.flatMap((differences, index) => (differences.length > 0 ? [index] : [])),
  };
}

/** Compares a field; of several options, one must be as expected, and each expected item must be one of them. */
function compareField(
  context: MatcherContext,
  name: string,
  expected: unknown,
  { shown, options }: CandidateField,
): Difference[] {
  const differencesOf = (wanted: unknown, actual: unknown) => findDifferences(context, wanted, actual, name);
  if (!options) return differencesOf(expected, shown);
  const wanted: unknown[] = Array.isArray(expected) ? expected : [expected];
  const isMet = wanted.every((each) => options.some((option) => differencesOf(each, option).length === 0));
  return isMet ? [] : [{ path: name, expected, received: shown }];
}
