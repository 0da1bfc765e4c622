import { z } from 'zod';
import { ERRORS, type ErrorCode } from '../contract/errors.ts';
import { errorBody } from '../contract/replies.ts';

/** A part of an OpenAPI document. */
export type Json = Readonly<Record<string, unknown>>;

/** Writes a schema as JSON Schema: what goes in, or what comes out. */
export function toJsonSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest;
}

/** The body of an error, with or without its code. */
export function errorSchema(hasCode: boolean): z.ZodType {
  if (!hasCode) return errorBody.omit({ code: true });
  const code = z.enum(Object.keys(ERRORS) as ErrorCode[]).describe('What went wrong, for a program.');
  return errorBody.extend({ code });
}

/** JSON content with this schema. */
export function jsonContent(schema: Json): Json {
  return { 'application/json': { schema } };
}
