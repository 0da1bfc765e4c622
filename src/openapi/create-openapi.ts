import type { Choices, Choose } from '../contract/behaviours.ts';
import type { OperationDefinition } from '../contract/operation.ts';
import { OPERATION_IDS, OPERATIONS } from '../contract/operations.ts';
import { createOperation } from './describe-operation.ts';
import { errorResponses, responseComponents } from './error-responses.ts';
import { errorSchema, type Json, toJsonSchema } from './json-schema.ts';
import { TAGS } from './tags.ts';

/** An OpenAPI 3.1 document. */
export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: Json;
  readonly servers: readonly Json[];
  readonly tags: readonly Json[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  readonly components: Json;
}

const DESCRIPTION = `What agent-mailbox-mock emulates, under the behaviours that it runs with.

Besides what each operation lists, any request can meet these:

- 404 \`NOT_FOUND\` for a path that is not here, and 405 \`METHOD_NOT_ALLOWED\` for a method that is not here.
- 408 \`REQUEST_TIMEOUT\` and 431 \`HEADERS_TOO_LARGE\` from the server itself.

HEAD answers what GET answers, without the body; OPTIONS answers 204 with \`Allow\`. Behaviours can refuse both.`;

/** Describes the operation table, as these choices shape it, in OpenAPI 3.1. */
export function createOpenApi(choices: Choices): OpenApiDocument {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Agent Mailbox Service (emulated)',
      version: '1',
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags: TAGS.map(({ name, description }) => ({ name, description })),
    paths: createPaths(choices),
    components: createComponents(choices),
  };
}

function createPaths(choices: Choices): OpenApiDocument['paths'] {
  const paths: Record<string, Record<string, Json>> = {};
  for (const id of OPERATION_IDS) {
    const row: OperationDefinition = OPERATIONS[id];
    paths[row.path] = { ...paths[row.path], [row.method.toLowerCase()]: createOperation(id, row, choices) };
  }
  return paths;
}

function createComponents(choices: Choices): Json {
  const choose: Choose = (id) => choices[id];
  return {
    securitySchemes: {
      apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      bearer: { type: 'http', scheme: 'bearer' },
    },
    headers: {
      Assumed: {
        description: 'The behaviours that shaped this reply and that the service document does not state.',
        schema: { type: 'string' },
        example: 'webhooks.create.secret, webhooks.create.is-active',
      },
    },
    responses: responseComponents(
      rows().map((row) => errorResponses(row, choose)),
      choose,
    ),
    schemas: { Error: toJsonSchema(errorSchema(choose), 'output') },
  };
}

function rows(): OperationDefinition[] {
  return OPERATION_IDS.map((id) => OPERATIONS[id]);
}
