import type { z } from 'zod';
import { ApiError } from './errors.ts';

/** Parses a value by a schema. @throws {ApiError} VALIDATION_ERROR with the location and each problem. */
export function parseOrRefuse<Schema extends z.ZodType>(
  where: string,
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw invalid(where, parsed.error);
}

/** Creates the error for a failed parse, with the location and each problem. */
export function invalid(where: string, error: z.ZodError): ApiError {
  const problems = error.issues.slice(0, 5).map((issue) => `${toPath(issue.path)} ${wording(issue)}`.trim());
  const text = `${where} is not valid: ${problems.join('; ')}`;
  return new ApiError('VALIDATION_ERROR', text.endsWith('?') ? text : `${text}.`);
}

/** Formats a path such as `['events', 1]` as `events[1]`. */
function toPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[${step}]` : text ? `${text}.${String(step)}` : String(step)),
    '',
  );
}

function wording(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_key') return issue.issues[0]?.message ?? issue.message;
  if (issue.code !== 'unrecognized_keys') return issue.message;
  return `has unknown fields: ${issue.keys.map((key) => JSON.stringify(key.slice(0, 100))).join(', ')}`;
}
