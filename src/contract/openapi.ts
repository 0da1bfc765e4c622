import { z } from 'zod';
import type { Choices, Choose } from './behaviours.ts';
import { ERRORS, type ErrorCode } from './errors.ts';
import type { OperationDefinition } from './operation.ts';
import { OPERATION_IDS, OPERATIONS } from './operations/index.ts';
import { errorBody } from './schemas.ts';
import { TIER_PREFIX } from './tiers.ts';

/** An OpenAPI 3.1 document. */
export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: Json;
  readonly servers: readonly Json[];
  readonly tags: readonly Json[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  readonly components: Json;
}

type Json = Readonly<Record<string, unknown>>;

/** Describes the operation table, as these choices shape it, in OpenAPI 3.1. */
export function createOpenApi(choices: Choices): OpenApiDocument {
  const choose: Choose = (id) => choices[id];
  return {
    openapi: '3.1.0',
    info: {
      title: 'Agent Mailbox Service (emulated)',
      version: '1',
      description: 'What agent-mailbox-mock emulates, under the behaviours that it runs with.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(OPERATION_IDS.map((id) => tagOf(OPERATIONS[id])))].map((name) => ({
      name,
      description: `Operations under ${name}.`,
    })),
    paths: createPaths(choose),
    components: {
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        bearer: { type: 'http', scheme: 'bearer' },
      },
      schemas: { Error: toJsonSchema(errorBody, 'output') },
    },
  };
}

function createPaths(choose: Choose): OpenApiDocument['paths'] {
  const paths: Record<string, Record<string, Json>> = {};
  for (const id of OPERATION_IDS) {
    const row: OperationDefinition = OPERATIONS[id];
    paths[row.path] = { ...paths[row.path], [row.method.toLowerCase()]: createOperation(id, row, choose) };
  }
  return paths;
}

function createOperation(operationId: string, row: OperationDefinition, choose: Choose): Json {
  const body = row.body?.(choose);
  const parameters = createParameters(row);
  return {
    operationId,
    summary: row.summary,
    description: describe(row, choose),
    tags: [tagOf(row)],
    security: row.tiers === 'public' ? [] : [{ apiKey: [] }, { bearer: [] }],
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: !isOptional(body), content: jsonContent(toJsonSchema(body, 'input')) } }),
    responses: { [row.status]: createReply(row, choose), ...createErrors(row) },
  };
}

function describe(row: OperationDefinition, choose: Choose): string {
  const tiers =
    row.tiers === 'public'
      ? 'without a key'
      : row
          .tiers(choose)
          .map((tier) => TIER_PREFIX[tier])
          .join(', ');
  const source = row.section ? `${row.origin}, section ${row.section}` : row.origin;
  return `Called with: ${tiers}. Origin: ${source}.`;
}

function tagOf({ path }: { readonly path: string }): string {
  return path.replace(/^\/v1/, '').split('/')[1] ?? '';
}

function createParameters(row: OperationDefinition): Json[] {
  return Object.entries(row.params?.shape ?? {}).map(([name, schema]) => ({
    name,
    in: 'path',
    required: true,
    schema: toJsonSchema(schema as z.ZodType, 'input'),
  }));
}

function createReply(row: OperationDefinition, choose: Choose): Json {
  const schema = row.reply(choose);
  return { description: 'Success', ...(schema && { content: jsonContent(toJsonSchema(schema, 'output')) }) };
}

/** The errors that an operation can answer with, besides those that any request can meet. */
function createErrors(row: OperationDefinition): Json {
  const codes: ErrorCode[] = [
    ...(row.method === 'GET' ? [] : (['VALIDATION_ERROR', 'PAYLOAD_TOO_LARGE'] as const)),
    ...(row.tiers === 'public' ? [] : (['UNAUTHORIZED', 'FORBIDDEN'] as const)),
    ...(row.params ? (['NOT_FOUND'] as const) : []),
    'INTERNAL_ERROR',
  ];
  return Object.fromEntries(codes.map((code) => [ERRORS[code].status, errorReply(code)]));
}

function errorReply(code: ErrorCode): Json {
  return { description: ERRORS[code].meaning, content: jsonContent({ $ref: '#/components/schemas/Error' }) };
}

function jsonContent(schema: Json): Json {
  return { 'application/json': { schema } };
}

function isOptional(schema: z.ZodType): boolean {
  return schema.safeParse({}).success;
}

function toJsonSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest;
}
