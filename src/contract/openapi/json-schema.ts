import { z } from 'zod';
import { ERRORS, type ErrorCode } from '../errors.ts';
import { errorBody } from '../schemas.ts';

/** A part of an OpenAPI document. */
export type Json = Readonly<Record<string, unknown>>;

/** Converts the input or the output of a Zod schema to JSON Schema. */
export function toJsonSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest;
}

/** Returns the schema of an error body, with or without its code. */
export function errorSchema(hasCode: boolean): z.ZodType {
  if (!hasCode) return errorBody().omit({ code: true });
  const known = z.enum(Object.keys(ERRORS) as ErrorCode[]);
  // A client must not fail at a code that a later version adds.
  return errorBody().extend({ code: z.union([known, z.string()]).describe('The error code; there may be others.') });
}

export function jsonContent(schema: Json, example?: unknown): Json {
  return { 'application/json': { schema, ...(example !== undefined && { example }) } };
}
