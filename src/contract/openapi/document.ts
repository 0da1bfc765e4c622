import { z } from 'zod';
import { compareTexts } from '../../basics/text.ts';
import { ERRORS, type ErrorCode } from '../errors.ts';
import { errorBody } from '../schemas.ts';

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

/** The parts of a document: a table of calls, and the descriptions that the calls share. */
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

/** An operation of a document: the fields from which clients and tools are made. */
export interface OpenApiOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: 'path' | 'query';
    readonly required: boolean;
    readonly schema: Json;
    readonly description?: string;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Json }>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>;
}

/** Lists the operations of a document, each with its method in upper case and its path. */
export function operationsIn({ paths }: Pick<OpenApiDocument, 'paths'>) {
  return Object.entries(paths).flatMap(([path, operations]) =>
    // `describeRow` has written each of them.
    Object.entries(operations as unknown as Readonly<Record<string, OpenApiOperation>>).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
    })),
  );
}

/** Returns the forms that a value with this schema may have. */
export function formsOf(schema: Json): readonly Json[] {
  return (schema.anyOf ?? schema.oneOf ?? [schema]) as readonly Json[];
}

/** The contact in the documents: this package. */
export const CONTACT = { name: 'agent-mailbox-mock', url: 'https://www.npmjs.com/package/agent-mailbox-mock' };

/** Creates the OpenAPI 3.1 document of a table of calls. Each schema with an id becomes a component. */
export function createDocument(parts: DocumentParts): OpenApiDocument {
  const { title, description, tags, rows, securitySchemes, headers, errorForm, webhooks } = parts;
  const schemas: Record<string, Json> = {};
  const errors = rows.flatMap((row) => groupByStatus(row.errors));
  const document = {
    openapi: '3.1.0',
    info: { title, version: '1', description, contact: CONTACT, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/' }],
    tags,
    paths: createPaths(rows),
    ...(webhooks && { webhooks }),
    components: {
      securitySchemes,
      ...(headers && { headers }),
      responses: Object.fromEntries(errors.map(({ name, codes }) => [name, errorResponse(codes, errorForm)])),
      schemas: { Error: toJsonSchema(errorSchema(errorForm.hasCode), 'output') },
    },
  } as const;
  const result = moveDefinitions(document, schemas) as typeof document;
  const sorted = Object.fromEntries(Object.entries(schemas).toSorted(([one], [other]) => compareTexts(one, other)));
  return { ...result, components: { ...result.components, schemas: { ...result.components.schemas, ...sorted } } };
}

/**
 * Moves the named schemas from every `$defs` in a value to `schemas`, and changes the references to them. Returns the
 * value without `$defs`.
 */
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

/** One call, with everything that a document shows of it. */
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
  readonly errors: readonly ErrorCode[];
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
  /** The schema of the body; `undefined` if there is no body. */
  readonly schema?: z.ZodType | undefined;
  /** The media type of a body that is not JSON. The document does not show the schema of such a body. */
  readonly content?: string | undefined;
  readonly headers?: Json | undefined;
}

/** Describes one call as an OpenAPI operation. */
function describeRow(row: DescribedRow): Json {
  const { id, summary, description, tag, security, successes, errors, example = {} } = row;
  const parameters = [...pathParameters(row), ...queryParameters(row)];
  const responses = [
    ...successes.map((success, index) => describeSuccess(success, index === 0 ? example.reply : undefined)),
    ...groupByStatus(errors).map(({ status, name }) => [status, { $ref: `#/components/responses/${name}` }] as const),
  ];
  const described: Record<string, unknown> = { operationId: id, summary };
  if (description !== undefined) described.description = description;
  described.tags = [tag];
  described.security = security;
  if (parameters.length > 0) described.parameters = parameters;
  if (row.body) described.requestBody = describeBody(row.body, row.isBodyStrict, example.body);
  described.responses = Object.fromEntries(responses);
  return described;
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

/**
 * Describes the parameters of a query by the output of their schemas: a number is sent as text, but is shown as a number.
 * Some schemas cannot describe their output; then their input is described.
 */
function queryParameters({ query }: DescribedRow): Json[] {
  return Object.entries(query?.shape ?? {}).map(([name, field]) => {
    const parameter = field as z.ZodType;
    const output = toJsonSchema(parameter, 'output');
    const { type, anyOf, oneOf, enum: values } = output;
    const isKnown = [type, anyOf, oneOf, values].some((each) => each !== undefined);
    const { description, ...schema } = isKnown ? output : toJsonSchema(parameter, 'input');
    const described: Record<string, unknown> = { name, in: 'query', required: !parameter.safeParse(undefined).success };
    if (description !== undefined) described.description = description;
    // A list is one parameter, with commas between its items.
    if (schema.type === 'array') described.explode = false;
    described.schema = schema;
    return described;
  });
}

function describeBody(body: z.ZodType, isStrict = false, example?: unknown): Json {
  const schema = { ...toJsonSchema(body, 'input'), ...(isStrict && { additionalProperties: false }) };
  return { required: !body.safeParse({}).success, content: jsonContent(schema, example) };
}

const SUCCESS = { 200: 'OK', 201: 'Created' };

/**
 * Returns a status and the description of its reply. A body that is not JSON has no schema, because OpenAPI 3.1
 * describes bytes without a schema.
 */
function describeSuccess({ status, schema, content, headers }: DescribedSuccess, example: unknown) {
  const reply: Record<string, unknown> = { description: SUCCESS[status] };
  if (headers) reply.headers = headers;
  if (schema && content !== undefined) reply.content = { [content]: {} };
  else if (schema) reply.content = jsonContent(toJsonSchema(schema, 'output'), example);
  return [status, reply] as const;
}

/** The form of the errors in a document. */
interface ErrorForm {
  /** Whether an error contains its code. */
  readonly hasCode: boolean;
  /** The headers that every error can have. A document that has none does not describe `WWW-Authenticate` either. */
  readonly headers?: Json;
}

/** Groups error codes by their status. Each group has a name, under which the document has its error reply. */
function groupByStatus(errors: readonly ErrorCode[]) {
  const codes = CODES.filter((code) => errors.includes(code));
  const statuses = [...new Set(codes.map((code) => ERRORS[code].status))];
  return statuses.map((status) => {
    const group = codes.filter((code) => ERRORS[code].status === status);
    return { status, codes: group, name: group.join('.') };
  });
}

const CODES = Object.keys(ERRORS) as ErrorCode[];

function errorResponse(codes: readonly ErrorCode[], { headers }: ErrorForm): Json {
  const challenge = codes.includes('UNAUTHORIZED') && { 'WWW-Authenticate': CHALLENGE };
  const limits = codes.includes('RATE_LIMITED') && RATE_LIMIT_HEADERS;
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].meaning}`).join('\n\n'),
    ...(headers && { headers: { ...headers, ...challenge, ...limits } }),
    content: jsonContent(ERROR),
  };
}

const ERROR = { $ref: '#/components/schemas/Error' };

/** The header that every reply of an operation can have. */
export const ASSUMED_HEADER: Json = { 'X-Mock-Assumed': { $ref: '#/components/headers/X-Mock-Assumed' } };

const wholeNumber = (description: string): Json => ({ description, schema: { type: 'integer', minimum: 0 } });

/** The headers that a reply with 429 has if a rate limit refused the request. */
const RATE_LIMIT_HEADERS: Json = {
  'Retry-After': wholeNumber('In how many seconds the next request is allowed.'),
  'RateLimit-Limit': wholeNumber('How many requests are allowed in a span of time.'),
  'RateLimit-Remaining': wholeNumber('How many requests are still allowed in this span.'),
  'RateLimit-Reset': wholeNumber('In how many seconds the span ends.'),
  'RateLimit-Policy': { description: 'The limit and its span, such as `5;w=60`.', schema: { type: 'string' } },
};

const CHALLENGE = { description: 'How to send a key.', required: true, schema: { const: 'Bearer', type: 'string' } };

/** A part of an OpenAPI document. */
export type Json = Readonly<Record<string, unknown>>;

/** Converts the input or the output of a Zod schema to JSON Schema. */
export function toJsonSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  const known = converted[io].get(schema);
  if (known) return known;
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  converted[io].set(schema, rest);
  return rest;
}

/** The results of `toJsonSchema`. The documents of all mailboxes share them, because a conversion is slow. */
const converted = { input: new WeakMap<z.ZodType, Json>(), output: new WeakMap<z.ZodType, Json>() };

/** Returns the schema of an error body, with or without its code. */
export function errorSchema(hasCode: boolean): z.ZodType {
  if (!hasCode) return errorBody().omit({ code: true });
  const known = z.enum(Object.keys(ERRORS) as ErrorCode[]);
  // Any other text is valid, too, so that a client accepts a code that a later version adds.
  return errorBody().extend({ code: z.union([known, z.string()]).describe('The error code; there may be others.') });
}

/** Returns the `content` of a JSON body. */
export function jsonContent(schema: Json, example?: unknown): Json {
  return { 'application/json': { schema, ...(example !== undefined && { example }) } };
}
