import { type DescribedRow, describeRow } from './describe-row.ts';
import { type ErrorForm, responseComponents } from './error-responses.ts';
import { errorSchema, type Json, toJsonSchema } from './json-schema.ts';

/** An OpenAPI 3.1 document. */
export interface OpenApiDocument {
  /** The version of OpenAPI. */
  readonly openapi: '3.1.0';
  /** The title, version, description and licence. */
  readonly info: Json;
  /** The base URLs: `/` only. */
  readonly servers: readonly Json[];
  /** The groups of operations, each with a name and a description. */
  readonly tags: readonly Json[];
  /** Each operation, by its path and its method in lower case. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  /** The requests that the service sends to webhooks, by the kind of event. */
  readonly webhooks?: Json;
  /** The schemas, error replies, headers and security schemes that the paths refer to. */
  readonly components: Json;
}

/** The parts of a document: a table of calls, and the descriptions that they share. */
interface DocumentParts {
  readonly title: string;
  readonly description: string;
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly rows: readonly DescribedRow[];
  readonly securitySchemes: Json;
  /** The headers that replies refer to. */
  readonly headers?: Json;
  readonly errorForm: ErrorForm;
  /** The requests that the service sends, by name. */
  readonly webhooks?: Json;
}

/** Where the documents come from. */
export const CONTACT = { name: 'agent-mailbox-mock', url: 'https://www.npmjs.com/package/agent-mailbox-mock' };

/** Creates the OpenAPI 3.1 document of a table of calls. Each schema with an id becomes a component. */
export function createDocument(parts: DocumentParts): OpenApiDocument {
  const { title, description, tags, rows, securitySchemes, headers, errorForm, webhooks } = parts;
  const schemas: Record<string, Json> = {};
  const document = {
    openapi: '3.1.0',
    info: { title, version: '1', description, contact: CONTACT, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/' }],
    tags: tags.map((tag) => ({ name: tag.name, description: tag.description })),
    paths: createPaths(rows),
    ...(webhooks && { webhooks }),
    components: {
      securitySchemes,
      ...(headers && { headers }),
      responses: responseComponents(
        rows.map(({ errors }) => errors),
        errorForm,
      ),
      schemas: { Error: toJsonSchema(errorSchema(errorForm.hasCode), 'output') },
    },
  } as const;
  const moved = moveDefinitions(document, schemas) as typeof document;
  const sorted = Object.fromEntries(Object.entries(schemas).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return { ...moved, components: { ...moved.components, schemas: { ...moved.components.schemas, ...sorted } } };
}

/** Moves the named schemas, which each converted schema has in `$defs`, to the components. */
function moveDefinitions(value: unknown, schemas: Record<string, Json>): unknown {
  if (Array.isArray(value)) return value.map((item) => moveDefinitions(item, schemas));
  if (typeof value === 'string') return value.replace(/^#\/\$defs\//, '#/components/schemas/');
  if (typeof value !== 'object' || value === null) return value;
  const { $defs = {}, ...rest } = value as { $defs?: Record<string, Json> } & Json;
  for (const [name, schema] of Object.entries($defs)) schemas[name] = moveDefinitions(schema, schemas) as Json;
  return Object.fromEntries(Object.entries(rest).map(([name, item]) => [name, moveDefinitions(item, schemas)]));
}

function createPaths(rows: readonly DescribedRow[]): OpenApiDocument['paths'] {
  const paths: Record<string, Record<string, Json>> = {};
  for (const row of rows) paths[row.path] = { ...paths[row.path], [row.method.toLowerCase()]: describeRow(row) };
  return paths;
}
