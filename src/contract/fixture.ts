import type { z } from 'zod';
import { completeFixture } from './fixture/completion.ts';
import { toWrittenPath, valueAt } from './fixture/part.ts';
import { type FixtureProblem, findReferenceProblems } from './fixture/references.ts';
import { fixtureSchema } from './fixture/schema.ts';
import { toJsonPath } from './json-path.ts';

export type { FixtureInput } from './fixture/input.ts';

/** A checked fixture, complete: short forms spelt out, and everything derived that its author left out. */
export type Fixture = z.output<typeof fixtureSchema>;

/** One tenant of a checked fixture. */
export type FixtureTenant = Fixture['tenants'][string];

/** Thrown for a fixture that cannot be loaded; it has every problem, and the message lists them. */
export class FixtureError extends Error {
  override readonly name = 'FixtureError';

  constructor(readonly problems: readonly FixtureProblem[]) {
    super(['The fixture is not valid:', ...problems.map(({ path, message }) => `  ${path} ${message}`)].join('\n'));
  }
}

/**
 * Completes and checks a fixture: each value, and that what it refers to is there and what must be unique is.
 *
 * @throws {FixtureError} with one problem for each thing that is wrong.
 */
export function parseFixture(fixture: unknown): Fixture {
  const completed = completeFixture(fixture);
  const parsed = fixtureSchema.safeParse(completed, { error: describeIssue });
  const issues = parsed.error?.issues ?? [];
  const problems = [
    ...withoutConsequences(issues, fixture, completed).flatMap((issue) => toProblems(issue, fixture)),
    ...findReferenceProblems(completed, fixture),
  ];
  if (problems.length > 0 || !parsed.success) throw new FixtureError(problems);
  return parsed.data;
}

/** Leaves out what is wrong only with derived values: they follow from a value that is told itself. */
function withoutConsequences(issues: z.core.$ZodIssue[], written: unknown, completed: unknown): z.core.$ZodIssue[] {
  const own = issues.filter(
    ({ path }) =>
      valueAt(written, toWrittenPath(written, path)) !== undefined || valueAt(completed, path) === undefined,
  );
  return own.length > 0 ? own : issues;
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

function toProblems(issue: z.core.$ZodIssue, fixture: unknown): FixtureProblem[] {
  const path = toWrittenPath(fixture, issue.path);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((name) => ({ path: toJsonPath([...path, name]), message: 'is not a field here' }));
  }
  if (issue.code === 'invalid_key') {
    return issue.issues.map(({ message }) => ({ path: toJsonPath(path), message }));
  }
  return [{ path: toJsonPath(path), message: issue.message }];
}
