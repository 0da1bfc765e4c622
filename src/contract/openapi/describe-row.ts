import type { z } from 'zod';
import { type CodesByStatus, errorReferences } from './error-responses.ts';
import { type Json, jsonContent, toJsonSchema } from './json-schema.ts';

/** One call, in the form that a document describes. */
export interface DescribedRow {
  readonly id: string;
  readonly method: string;
  /** The path with its parameters in braces. */
  readonly path: string;
  readonly summary: string;
  readonly description?: string | undefined;
  readonly tag: string;
  /** Alternative security requirements; an empty object means that no authentication is needed. */
  readonly security: readonly Json[];
  readonly params?: z.ZodObject | undefined;
  readonly query?: z.ZodObject | undefined;
  readonly body?: z.ZodType | undefined;
  /** Whether unknown fields in the body are refused, even if the schema accepts them. */
  readonly isBodyStrict?: boolean;
  readonly successes: readonly DescribedSuccess[];
  readonly errors: CodesByStatus;
  /** A call that succeeds, and its reply. */
  readonly example?: CallExample | undefined;
}

/** A call: the values of its path, its body, and the reply. */
export interface CallExample {
  readonly params?: Readonly<Record<string, string | undefined>> | undefined;
  readonly body?: unknown;
  readonly reply?: unknown;
}

/** One kind of successful reply. */
export interface DescribedSuccess {
  readonly status: 200 | 201;
  /** The body; without a schema, there is none. */
  readonly schema?: z.ZodType | undefined;
  /** The media type of a body that is not JSON; the schema is then not shown. */
  readonly content?: string | undefined;
  readonly headers?: Json | undefined;
}

/** Describes one call as an OpenAPI operation. */
export function describeRow(row: DescribedRow): Json {
  const { id, summary, description, tag, security, successes, errors, example = {} } = row;
  const parameters = [...pathParameters(row), ...queryParameters(row)];
  return {
    operationId: id,
    summary,
    ...(description !== undefined && { description }),
    tags: [tag],
    security,
    ...(parameters.length > 0 && { parameters }),
    ...(row.body && { requestBody: describeBody(row.body, row.isBodyStrict, example.body) }),
    responses: {
      ...Object.fromEntries(
        successes.map((success, index) => [
          success.status,
          describeSuccess(success, index === 0 ? example.reply : undefined),
        ]),
      ),
      ...errorReferences(errors),
    },
  };
}

function pathParameters({ params, example }: DescribedRow): Json[] {
  return Object.entries(params?.shape ?? {}).map(([name, schema]) => ({
    name,
    in: 'path',
    required: true,
    schema: toJsonSchema(schema as z.ZodType, 'input'),
    ...(example?.params?.[name] !== undefined && { example: example.params[name] }),
  }));
}

/** Every parameter is optional, although a default makes a field of the output schema required. */
function queryParameters({ query }: DescribedRow): Json[] {
  return Object.entries(query?.shape ?? {}).map(([name, field]) => {
    const { description, ...schema } = toJsonSchema(field as z.ZodType, 'output');
    return { name, in: 'query', required: false, ...(description !== undefined && { description }), schema };
  });
}

function describeBody(body: z.ZodType, isStrict = false, example?: unknown): Json {
  const closed = isStrict && { additionalProperties: false };
  return { required: !isOptional(body), content: jsonContent({ ...toJsonSchema(body, 'input'), ...closed }, example) };
}

function isOptional(schema: z.ZodType): boolean {
  return schema.safeParse({}).success;
}

const SUCCESS = { 200: 'OK', 201: 'Created' };

function describeSuccess({ status, schema, content, headers }: DescribedSuccess, example: unknown): Json {
  return { description: SUCCESS[status], ...(headers && { headers }), ...contentOf(schema, content, example) };
}

/** A body that is not JSON has no schema, because OpenAPI 3.1 describes bytes in that way. */
function contentOf(schema: z.ZodType | undefined, content: string | undefined, example: unknown): Json {
  if (!schema) return {};
  return { content: content === undefined ? jsonContent(toJsonSchema(schema, 'output'), example) : { [content]: {} } };
}
