import { isPlainObject } from '../../basics/objects.ts';
import { addressFormsOf, isSamePerson } from './addresses.ts';
import type { Candidate, CandidateField, Expected } from './candidate.ts';
import { foldText, type MailText } from './mail-text.ts';
import { type Lack, mayBeWhole, NOT_KEPT } from './not-kept.ts';

/** How two values are compared: a part of the `this` of a matcher, which vitest, Jest and Playwright share. */
export interface Equality {
  /** Compares two values. Asymmetric matchers are allowed at any depth of `expected`. */
  equals(actual: unknown, expected: unknown, customTesters?: never[]): boolean;
  /** The equality testers that the user added. */
  readonly customTesters?: unknown;
}

/** A candidate that does not match, and why. */
export type Miss = { readonly candidate: Candidate; readonly differences: readonly Difference[] };

/** The candidates by how they compare with what is expected. */
export interface Comparison {
  readonly matching: readonly Candidate[];
  /** Those that do not match, the most similar first. */
  readonly misses: readonly Miss[];
  /** Those of which too little was kept to know whether they match. */
  readonly unknown: readonly Miss[];
}

/** How many there may be. */
export interface Range {
  readonly min: number;
  /** Infinite without a limit. */
  readonly max: number;
}

/** The range that is meant without a number. */
export const AT_LEAST_ONE: Range = { min: 1, max: Number.POSITIVE_INFINITY };

/** How many must match. */
export interface Amount {
  readonly times: Range;
  /** Whether there may be no others. */
  readonly only?: boolean | undefined;
}

/** Compares candidates with the expected fields. */
export function findMatches(context: Equality, candidates: readonly Candidate[], expected: Expected): Comparison {
  const compared = candidates.map((candidate) => compareCandidate(context, candidate, expected));
  const others = compared.filter(({ differences }) => differences.length > 0);
  return {
    matching: compared.filter(({ differences }) => differences.length === 0).map(({ candidate }) => candidate),
    unknown: others.filter(isUnknown),
    misses: others
      .filter((each) => !isUnknown(each))
      .sort(
        (a, b) =>
          a.wrongIndexes.length - b.wrongIndexes.length ||
          a.differences.length - b.differences.length ||
          // The first fields count most: a candidate is nearer if its first wrong field comes later.
          (b.wrongIndexes[0] ?? 0) - (a.wrongIndexes[0] ?? 0),
      ),
  };
}

/**
 * Returns whether as many match as must. Returns undefined if that depends on what was not kept: candidates of which too
 * little was kept, and `lost` candidates of which nothing was kept.
 */
export function hasAmount(comparison: Comparison, amount: Amount, lost = 0): boolean | undefined {
  const { matching, misses, unknown } = comparison;
  const { times, only = false } = amount;
  const open = unknown.length + lost;
  /** Whether it is so if this number of the open ones match. */
  const isSo = (more: number) => {
    const count = matching.length + more;
    return times.min <= count && count <= times.max && (!only || misses.length + open === more);
  };
  // Between these numbers nothing changes: where the range begins, and where it has ended.
  const changes = [times.min, times.max + 1].map((count) => count - matching.length);
  const possible = new Set([0, open, ...changes.filter((more) => more > 0 && more < open)].map(isSo));
  return possible.size === 1 ? isSo(0) : undefined;
}

/** Compares a candidate as it is or, if that does not match, as it once was. */
function compareCandidate(context: Equality, candidate: Candidate, expected: Expected) {
  const present = compareFields(context, candidate.fields, expected);
  if (present.differences.length === 0) return { candidate, ...present };
  const alike = (candidate.alike ?? []).map((fields) => ({ ...candidate, fields }));
  const others = [...alike, ...(candidate.former ?? [])].map(({ label, fields }) => ({
    candidate: { ...candidate, label },
    ...compareFields(context, fields, expected),
  }));
  const matching = others.find(({ differences }) => differences.length === 0);
  return matching ?? [{ candidate, ...present }, ...others].find(isUnknown) ?? { candidate, ...present };
}

function compareFields(context: Equality, fields: Candidate['fields'], expected: Expected) {
  const byField = Object.entries(expected).map(([name, value]) =>
    compareField(context, name, value, fields[name] ?? { shown: undefined }),
  );
  const wrongIndexes = byField.flatMap((differences, index) => (differences.length > 0 ? [index] : []));
  return { differences: byField.flat(), wrongIndexes };
}

/** Returns whether only what was not kept can be as expected. */
function isUnknown({ differences }: Pick<Miss, 'differences'>): boolean {
  return differences.length > 0 && differences.every((each) => each.isUnknown);
}

/**
 * Compares a field. If the field has options, the expected value (or each item of it, if it is an array) must be one of
 * the options.
 */
function compareField(context: Equality, name: string, expected: unknown, field: CandidateField): Difference[] {
  const { shown, options, addresses, texts } = field;
  const differencesOf = (wanted: unknown, actual: unknown) =>
    findDifferences({ context, lackOf: field.lackOf }, wanted, actual, name);
  const isEqual = (wanted: unknown, actual: unknown) => differencesOf(wanted, actual).length === 0;
  const wanted: unknown[] = Array.isArray(expected) ? expected : [expected];
  if (addresses) {
    return matchesAddresses(wanted, addresses, isEqual)
      ? []
      : [{ path: name, expected, received: shown, isUnknown: false }];
  }
  if (texts) {
    const { list, isWhole } = texts();
    const results = wanted.map((each) => findInTexts(each, list, isWhole, isEqual));
    if (results.every((each) => each === true)) return [];
    return [{ path: name, expected, received: shown, isUnknown: !results.includes(false) }];
  }
  if (!options) return differencesOf(expected, shown);
  const isAsExpected = wanted.every((each) => options.some((option) => isEqual(each, option)));
  return isAsExpected ? [] : [{ path: name, expected, received: shown, isUnknown: false }];
}

/**
 * Returns whether each expected address is among the addresses and, with `all`, each address is expected. A text expects
 * a person; anything else is a pattern for the forms of the bare address. An empty list expects that there is no address.
 */
function matchesAddresses(
  wanted: readonly unknown[],
  { list, mustBe, plusTags }: NonNullable<CandidateField['addresses']>,
  isEqual: (wanted: unknown, form: string) => boolean,
): boolean {
  if (wanted.length === 0) return list.length === 0;
  const isOneOf = (each: unknown, address: string) =>
    typeof each === 'string'
      ? isSamePerson(each, address, plusTags)
      : addressFormsOf(address).some((form) => isEqual(each, form));
  const areAllThere = wanted.every((each) => list.some((address) => isOneOf(each, address)));
  return areAllThere && (mustBe === 'some' || list.every((address) => wanted.some((each) => isOneOf(each, address))));
}

/**
 * Returns whether something is anywhere in texts: a text in any letter case, or a text that a pattern matches. Returns
 * undefined if it may be in a text that was not kept.
 */
function findInTexts(
  wanted: unknown,
  texts: readonly MailText[],
  isWhole: boolean,
  isEqual: (wanted: unknown, text: string) => boolean,
): boolean | undefined {
  const isIn = ({ text }: MailText) => {
    if (typeof wanted === 'string') return foldText(text).includes(foldText(wanted));
    return isEqual(wanted, text) || isEqual(wanted, text.replace(/\s+/g, ' '));
  };
  const isThere = isInverse(wanted) ? texts.every(isIn) : texts.some(isIn);
  const dependsOnRest = isInverse(wanted) ? isThere : !isThere;
  return dependsOnRest && !isWhole ? undefined : isThere;
}

/** A place at which a received value is not as expected. */
interface Difference {
  /** The path, such as `body.events[0]`. */
  readonly path: string;
  readonly expected: unknown;
  readonly received: unknown;
  /** Whether too little was kept to know whether it is as expected. */
  readonly isUnknown: boolean;
}

/** How values are compared, and what a text of the field may lack. */
interface Comparing {
  readonly context: Equality;
  readonly lackOf?: CandidateField['lackOf'];
}

/**
 * Finds the differences between a received value and the expected value. In objects, at any depth, only the expected
 * properties are compared. A regular expression matches a text.
 */
function findDifferences(comparing: Comparing, expected: unknown, received: unknown, path: string): Difference[] {
  const compare = (wanted: unknown, actual: unknown, at: string) => findDifferences(comparing, wanted, actual, at);
  if (isPlainObject(expected) && isPlainObject(received)) {
    return Object.keys(expected).flatMap((name) => compare(expected[name], received[name], `${path}.${name}`));
  }
  if (Array.isArray(expected) && Array.isArray(received) && expected.length === received.length) {
    return expected.flatMap((item, index) => compare(item, received[index], `${path}[${index}]`));
  }
  const likeness = compareValue(comparing, expected, received);
  return likeness === true ? [] : [{ path, expected, received, isUnknown: likeness === undefined }];
}

/** Returns whether a value is as expected; undefined if that depends on what was not kept of it. */
function compareValue({ context, lackOf }: Comparing, expected: unknown, received: unknown): boolean | undefined {
  if (received === NOT_KEPT) return undefined;
  const isAsExpected = isMatch(context, expected, received);
  const isPattern = expected instanceof RegExp || isAsymmetric(expected);
  if (!isPattern && typeof received !== 'string') return isAsExpected;
  const lacks = findLacks(received, lackOf);
  if (lacks.length === 0) return isAsExpected;
  // What a part has, the whole has, unless the pattern says what must not be there, or how the whole ends.
  if (isInverse(expected)) return isAsExpected ? undefined : false;
  if (isPattern) return isAsExpected && !(lacks.includes('rest') && dependsOnEnd(expected)) ? true : undefined;
  if (typeof expected !== 'string') return lacks.includes('rest') ? undefined : isAsExpected;
  const mayBe = lacks.every((lack) => mayBeWhole(expected, String(received), lack));
  return mayBe ? isAsExpected || undefined : false;
}

/** Returns what the texts in a value lack, at any depth. */
function findLacks(value: unknown, lackOf: Comparing['lackOf']): readonly Lack[] {
  if (value === NOT_KEPT) return ['all'];
  if (typeof value === 'string') return lackOf?.(value) ?? [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap((each) => findLacks(each, lackOf));
}

function isMatch(context: Equality, expected: unknown, received: unknown): boolean {
  if (expected instanceof RegExp && typeof received === 'string') return received.search(expected) >= 0;
  // `equals` is called as a method, because Bun refuses the call of a function that was taken out of the context.
  return context.equals(received, expected, (context.customTesters ?? []) as never[]);
}

function isAsymmetric(value: unknown): boolean {
  return typeof Object(value).asymmetricMatch === 'function';
}

/** Returns whether a value is an asymmetric matcher that says what must not be, such as `expect.not.stringContaining()`. */
function isInverse(value: unknown): boolean {
  return isAsymmetric(value) && Object(value).inverse === true;
}

/**
 * Returns whether more text behind a match could change that it is one: a regular expression that says what must not
 * follow or where a text ends, or a pattern that says it of itself.
 */
function dependsOnEnd(pattern: unknown): boolean {
  if (pattern instanceof RegExp) return /\$|\(\?<?!/.test(pattern.source);
  return Object(pattern).dependsOnEnd === true;
}
