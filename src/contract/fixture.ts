import type { z } from 'zod';
import { type Choices, parseBehaviours } from './behaviours.ts';
import type { FixtureProblem } from './fixture/branch.ts';
import { completeFixture } from './fixture/completion.ts';
import { findNameProblems, type NameProblem } from './fixture/names.ts';
import { toWrittenPath, valueAt } from './fixture/part.ts';
import { findReferenceProblems } from './fixture/references.ts';
import type { Path } from './fixture/rules.ts';
import { fixtureSchema } from './fixture/schema.ts';
import { showJsonPath } from './json-path.ts';

export type { FixtureInput } from './fixture/input.ts';

/** A checked fixture, complete: short forms spelt out, and everything derived that its author left out. */
export type Fixture = z.output<typeof fixtureSchema>;

/** One tenant of a checked fixture. */
export type FixtureTenant = Fixture['tenants'][string];

type Issue = z.core.$ZodIssue;

/** Thrown for a fixture that cannot be loaded; it has every problem, and the message lists them. */
export class FixtureError extends Error {
  override readonly name = 'FixtureError';

  constructor(readonly problems: readonly FixtureProblem[]) {
    super(['The fixture is not valid:', ...problems.map(({ path, message }) => `  ${path} ${message}`)].join('\n'));
  }
}

/**
 * Completes and checks a fixture: each value, and that what it refers to is there and what must be unique is, under
 * these choices of the ledger or else its defaults.
 *
 * @throws {FixtureError} with one problem for each thing that is wrong.
 */
export function parseFixture(fixture: unknown, choices: Choices = parseBehaviours()): Fixture {
  const completed = completeFixture(fixture);
  const parsed = fixtureSchema.safeParse(completed, { error: describeIssue });
  const issues = parsed.error?.issues ?? [];
  const names = findNameProblems(completed);
  const isDerived = ({ path }: Issue) =>
    valueAt(fixture, toWrittenPath(fixture, path)) === undefined && valueAt(completed, path) !== undefined;
  const followsFromName = ({ path }: Issue) => names.some((name) => startsWith(path, name.path));
  const followsFromIssue = (issue: Issue) => issues.some((source) => follows(issue.path, source.path));
  const told = issues.filter((issue) => !isDerived(issue) || !(followsFromName(issue) || followsFromIssue(issue)));
  const problems = [
    ...inOrderOf(completed, [...names, ...told]).flatMap((issue) => toProblems(issue, fixture)),
    ...findReferenceProblems(completed, fixture, choices),
  ];
  if (problems.length > 0 || !parsed.success) throw new FixtureError(problems);
  return parsed.data;
}

/** What is derived from a field, where it is left out, in the part that has the field or below. */
const DERIVED_FROM: ReadonlyMap<unknown, readonly PropertyKey[]> = new Map([
  ['username', ['from', 'to']],
  ['domain', ['from', 'to']],
  ['displayName', ['from']],
  ['createdAt', ['updatedAt', 'verifiedAt']],
]);

/** Says whether a derived value is wrong because that from which it is derived is. */
function follows(path: Path, source: Path): boolean {
  const part = source.slice(0, -1);
  const derived = DERIVED_FROM.get(source.at(-1)) ?? [];
  return startsWith(path, part) && path.slice(part.length).some((step) => derived.includes(step));
}

function startsWith(path: Path, start: Path): boolean {
  return start.every((step, index) => path[index] === step);
}

/** Sorts what is wrong with the parts of a fixture as the parts stand in it. */
function inOrderOf<Item extends { readonly path: Path }>(fixture: unknown, items: readonly Item[]): Item[] {
  const positionOf = (path: Path) =>
    path.map((step, index) => {
      const parent = valueAt(fixture, path.slice(0, index));
      return Object.keys(parent ?? {}).indexOf(String(step));
    });
  return items
    .map((item) => ({ item, position: positionOf(item.path) }))
    .sort((one, other) => comparePositions(one.position, other.position))
    .map(({ item }) => item);
}

function comparePositions(one: readonly number[], other: readonly number[]): number {
  const step = one.findIndex((place, index) => place !== other[index]);
  if (step === -1) return one.length - other.length;
  return (one[step] ?? -1) - (other[step] ?? -1);
}

const NOUNS: Record<string, string> = {
  object: 'an object',
  array: 'an array',
  record: 'an object',
  string: 'a string',
};

const FORMATS: Record<string, string> = {
  datetime: 'a time such as 2026-01-05T09:00:00.000Z',
  uuid: 'a UUID',
  base64: 'base64',
};

/** The message of a problem whose schema does not word it itself. */
function describeIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined) return 'is required';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${NOUNS[issue.expected] ?? `a ${issue.expected}`}`;
    case 'invalid_value':
      return `must be one of ${issue.values.join(', ')}`;
    case 'invalid_format':
      return `must be ${FORMATS[issue.format] ?? `a ${issue.format}`}`;
    case 'invalid_union':
      return 'must be JSON';
    case 'too_small':
      return 'must not be empty';
    default:
      return undefined;
  }
}

function toProblems(issue: Issue | NameProblem, fixture: unknown): FixtureProblem[] {
  const path = toWrittenPath(fixture, issue.path);
  if ('code' in issue && issue.code === 'unrecognized_keys') {
    return issue.keys.map((name) => ({ path: showJsonPath([...path, name]), message: 'is not a field here' }));
  }
  return [{ path: showJsonPath(path), message: issue.message }];
}
