import { z } from 'zod';
import { describeValue } from '../basics/check-options.ts';
import { didYouMean, findSimilarFields } from '../basics/similar-names.ts';

/** What is wrong with a value, and where. */
export interface ValueProblem {
  /** The path of the part that is wrong. */
  readonly path: readonly PropertyKey[];
  /** What is wrong, such as `must be a URL`. */
  readonly message: string;
}

/**
 * Returns each problem of a value with its path, so that a reader of a file can name the line; none if it is valid. Of a
 * union, the problems are those of the form that the value seems to have. The work is proportional to the value.
 */
export function listProblems(schema: z.ZodType, value: unknown): ValueProblem[] {
  const found = listIssues(schema, value).flatMap((issue) => describeRawIssue(issue));
  // A required field that is misspelt is named once, by its wrong name.
  const meant = new Set(found.flatMap(({ path, similar = [] }) => similar.map((name) => keyOf(withLast(path, name)))));
  return found
    .filter(({ path, isMissing }) => !isMissing || !meant.has(keyOf(path)))
    .map(({ path, message }) => ({ path, message }));
}

/** A problem, with what is needed to know whether it follows from another. */
interface FoundProblem extends ValueProblem {
  /** Whether the part is missing. */
  readonly isMissing?: boolean;
  /** For an unknown field: the known fields with similar names. */
  readonly similar?: readonly string[];
}

function withLast(path: readonly PropertyKey[], name: string): readonly PropertyKey[] {
  return [...path.slice(0, -1), name];
}

function keyOf(path: readonly PropertyKey[]): string {
  return JSON.stringify(path.map(String));
}

/** Returns the issues as the schemas found them. Unlike those of an error, they have the schema and the input. */
function listIssues(schema: z.core.$ZodType, value: unknown): readonly z.core.$ZodRawIssue[] {
  const result = schema._zod.run({ value, issues: [] }, { async: false });
  return result instanceof Promise ? [] : result.issues;
}

function describeRawIssue(issue: z.core.$ZodRawIssue): FoundProblem[] {
  const path = issue.path ?? [];
  if (issue.code === 'unrecognized_keys') {
    const known = fieldsIn(issue.inst);
    const list = known.length > 0 ? `; the fields are ${known.join(', ')}` : '';
    return issue.keys.map((key: string) => {
      const similar = findSimilarFields(key, known);
      const hint = similar.length > 0 ? `; did you mean ${similar.join(', ')}?` : list;
      return { path: [...path, key], message: `is unknown${hint}`, similar };
    });
  }
  const form = issue.code === 'invalid_union' ? listFormIssues(issue) : [];
  if (form.length > 0) {
    return form.flatMap((inner) => describeRawIssue({ ...inner, path: [...path, ...(inner.path ?? [])] }));
  }
  const { message } = z.core.util.finalizeIssue(issue, { async: false, error: describeDefault }, z.core.config());
  // The issue of the name of a property has those of the schema of names.
  const shown = (issue.code === 'invalid_key' && issue.issues[0]?.message) || message;
  return [{ path, message: shown, isMissing: issue.input === undefined }];
}

/** What each type is called in a problem. */
const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

/** Describes a problem for which a schema has no message of its own. */
function describeDefault(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined) return 'is required';
  const given = describeValue(issue.input);
  if (issue.code === 'invalid_type') return `must be ${TYPES[issue.expected] ?? issue.expected}, not ${given}`;
  if (issue.code !== 'invalid_value') return 'is not valid';
  const hint = typeof issue.input === 'string' ? didYouMean(issue.input, issue.values.map(String)) : '';
  return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.join(', ')}, not ${given}${hint}`;
}

/**
 * Returns the issues of the form of a union that an object or a list seems to have: of those that take an object or a
 * list, the form with the fewest problems. Returns none if there is no such form.
 */
function listFormIssues({ inst, input }: z.core.$ZodRawIssue): readonly z.core.$ZodRawIssue[] {
  const definition = inst?._zod.def as z.core.$ZodUnionDef | undefined;
  if (typeof input !== 'object' || input === null || !definition?.options || 'discriminator' in definition) return [];
  const isOther = ({ path = [], code }: z.core.$ZodRawIssue) => path.length === 0 && code !== 'unrecognized_keys';
  const count = (issues: readonly z.core.$ZodRawIssue[]) =>
    issues.reduce((sum, issue) => sum + (issue.code === 'unrecognized_keys' ? issue.keys.length : 1), 0);
  const [nearest = []] = definition.options
    .map((option) => listIssues(option, input))
    .filter((issues) => !issues.some(isOther))
    .toSorted((one, other) => count(one) - count(other));
  return nearest;
}

/** Returns the fields of an object schema; none for another schema. */
function fieldsIn(schema: unknown): string[] {
  const definition = (schema as z.core.$ZodType | undefined)?._zod.def;
  return definition?.type === 'object' ? Object.keys((definition as z.core.$ZodObjectDef).shape) : [];
}
