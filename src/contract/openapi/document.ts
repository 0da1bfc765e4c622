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
}

/** Creates the OpenAPI 3.1 document of a table of calls. */
export function createDocument(parts: DocumentParts): OpenApiDocument {
  const { title, description, tags, rows, securitySchemes, headers, errorForm } = parts;
  return {
    openapi: '3.1.0',
    info: { title, version: '1', description, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/' }],
    tags: tags.map((tag) => ({ name: tag.name, description: tag.description })),
    paths: createPaths(rows),
    components: {
      securitySchemes,
      ...(headers && { headers }),
      responses: responseComponents(
        rows.map(({ errors }) => errors),
        errorForm,
      ),
      schemas: { Error: toJsonSchema(errorSchema(errorForm.hasCode), 'output') },
    },
  };
}

function createPaths(rows: readonly DescribedRow[]): OpenApiDocument['paths'] {
  const paths: Record<string, Record<string, Json>> = {};
  for (const row of rows) paths[row.path] = { ...paths[row.path], [row.method.toLowerCase()]: describeRow(row) };
  return paths;
}
