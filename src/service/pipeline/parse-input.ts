import type { z } from 'zod';
import { CollectedBytes } from '../../basics/collected-bytes.ts';
import { isObject } from '../../basics/objects.ts';
import { didYouMean } from '../../basics/similar-names.ts';
import type { ReadBehaviour } from '../../contract/behaviours.ts';
import { buildOnce } from '../../contract/build-once.ts';
import { isDecidedBy } from '../../contract/decided-inputs.ts';
import { ApiError, createValidationError } from '../../contract/errors.ts';
import type { OperationDefinition } from '../../contract/operation.ts';
import type { ApiRequest, Exchange, ReceivedBody } from './exchange.ts';

type Fields = Record<string, unknown>;

/** Creates the schema of a query or a body. */
type BuildSchema = (readBehaviour: ReadBehaviour) => z.ZodObject;

/**
 * Parses the input of an operation with the schemas of its row. `params` are the parameters of the path.
 *
 * @throws {ApiError} for the first invalid part, in this order: path, query, body.
 */
export function parseInput(row: OperationDefinition, params: Record<string, string>, exchange: Exchange) {
  const input = {
    params: parseParams(row, params, exchange),
    query: parseQuery(row, exchange),
    body: parseBody(row, exchange),
  };
  const isEmptyUpdate = exchange.request.method === 'PATCH' && Object.keys(input.body).length === 0;
  if (isEmptyUpdate && exchange.readBehaviour('requests.empty-update') === 'invalid') {
    throw new ApiError('VALIDATION_ERROR', 'The body is not valid: it must have a field to update.');
  }
  return input;
}

/**
 * Parses the path parameters of an operation.
 *
 * @throws {ApiError} NOT_FOUND or VALIDATION_ERROR, depending on `requests.malformed-id`.
 */
function parseParams(
  { params: schema }: OperationDefinition,
  sent: Record<string, string>,
  exchange: Exchange,
): Fields {
  if (!schema) return {};
  const { success, data, error } = schema().safeParse(sent);
  if (success) return data;
  const problem = createValidationError('The path', error);
  if (exchange.readBehaviour('requests.malformed-id') === 'invalid') throw problem;
  throw new ApiError('NOT_FOUND', 'There is no resource with this id.', {
    internalReason: () => `${problem.message.slice(0, -1)} (choice requests.malformed-id).`,
  });
}

/**
 * Parses the query of an operation. Unknown parameters are ignored; the first value of a repeated parameter is used.
 *
 * @throws {ApiError} VALIDATION_ERROR.
 */
function parseQuery({ query: build }: OperationDefinition, exchange: Exchange): Fields {
  const { query } = exchange.request;
  const part = buildInputSchema(build, exchange);
  const known = Object.keys(part.value?.shape ?? {}).filter((name) => query.has(name));
  if (query.size > known.length) recordUnknown(part, new Set(query.keys()), exchange);
  const fields = Object.fromEntries(known.map((name) => [name, query.get(name)]));
  return parse('The query', part, fields, exchange);
}

/**
 * Parses the body of an operation: empty, or a JSON object that matches its schema.
 *
 * @throws {ApiError} PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE or VALIDATION_ERROR.
 */
function parseBody({ body: build }: OperationDefinition, exchange: Exchange): Fields {
  const { request, received = 'empty', readBehaviour } = exchange;
  const body = parseJsonObject(received, request.headers.get('content-type'), readBehaviour);
  const part = buildInputSchema(build, exchange);
  const unknown = recordUnknown(part, Object.keys(body), exchange);
  if (unknown.length > 0 && readBehaviour('requests.unknown-fields') !== 'ignored') {
    const names = unknown.map((field) => JSON.stringify(field.slice(0, 100)));
    throw new ApiError('VALIDATION_ERROR', `The body has unknown fields: ${names.join(', ')}.`);
  }
  return parse('The body', part, body, exchange);
}

/** The schema of a query or a body under the current behaviours, and the behaviours on which the schema depends. */
type InputSchema = Partial<ReturnType<typeof buildOnce<z.ZodObject>>>;

/** Builds a schema. Nothing is recorded here: `parse` records the behaviours that decide about this request. */
function buildInputSchema(build: BuildSchema | undefined, { peekBehaviour }: Exchange): InputSchema {
  return build ? buildOnce(build, peekBehaviour) : {};
}

/** Parses fields, and records the behaviours that decide about them. */
function parse(what: string, { value: schema, valuesRead }: InputSchema, fields: Fields, exchange: Exchange): Fields {
  if (!schema) return {};
  for (const id of valuesRead?.keys() ?? []) {
    if (isDecidedBy(id, fields, exchange.peekBehaviour)) exchange.readBehaviour(id);
  }
  const { success, data, error } = schema.safeParse(fields);
  if (success) return data;
  throw createValidationError(what, error);
}

/** How many unknown names are recorded. */
const MAX_UNKNOWN = 5;

/** Records at most MAX_UNKNOWN names that are not in a schema, and returns them. */
function recordUnknown({ value: schema }: InputSchema, sent: Iterable<string>, { ignored }: Exchange): string[] {
  const known = schema?.shape ?? {};
  const unknown = [...sent].filter((name) => !Object.hasOwn(known, name)).slice(0, MAX_UNKNOWN);
  ignored.push(...unknown.map((name) => name.slice(0, 100) + didYouMean(name, Object.keys(known))));
  return unknown;
}

/**
 * Reads a body that must be a JSON object; an empty body is an object without fields.
 *
 * @throws {ApiError} PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE or VALIDATION_ERROR.
 */
export function parseJsonObject(
  received: ReceivedBody,
  contentType: string | null,
  readBehaviour: ReadBehaviour,
): Fields {
  if (received === 'empty') return {};
  if (received === 'truncated') throw new ApiError('VALIDATION_ERROR', 'The request body was truncated.');
  if (received === 'too-large') throw new ApiError('PAYLOAD_TOO_LARGE', 'The body is larger than 1 MiB.');
  const isJson = /^application\/json\s*(;|$)/i.test(contentType ?? '');
  if (!isJson && readBehaviour('requests.content-type') === 'json') {
    throw new ApiError('UNSUPPORTED_MEDIA_TYPE', 'The body must be sent as Content-Type: application/json.');
  }
  const value = decodeJson(received, contentType);
  if (isObject(value)) return value;
  throw new ApiError('VALIDATION_ERROR', 'The body must be a JSON object.');
}

/** The media types in which clients send the fields of a form. */
const FORM_TYPE = /^(?:application\/x-www-form-urlencoded|multipart\/form-data)/i;

function decodeJson(bytes: Uint8Array, contentType: string | null): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    const [form] = FORM_TYPE.exec(contentType ?? '') ?? [];
    const hint = form === undefined ? '' : `; it must be JSON with Content-Type: application/json, not ${form}`;
    throw new ApiError('VALIDATION_ERROR', `The body is not valid JSON${hint}.`);
  }
}

/** The maximum size of a body, in bytes. A larger body is refused without waiting for the rest of it. */
export const MAX_BODY_BYTES = 1024 * 1024;

/**
 * Reads a body up to the limit. A body that is too large or truncated is not an error yet, because the key must be
 * checked before the body is refused.
 *
 * @throws {ApiError} STORAGE_FULL if there is no memory for the body.
 */
export async function readBody(request: ApiRequest, limitBytes = MAX_BODY_BYTES): Promise<ReceivedBody> {
  if (!request.body) return 'empty';
  if (Number(request.headers.get('content-length')) > limitBytes) return 'too-large';
  try {
    return await readUpToLimit(request.body, limitBytes);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    return 'truncated';
  }
}

async function readUpToLimit(body: AsyncIterable<Uint8Array>, limitBytes: number): Promise<ReceivedBody> {
  const received = new CollectedBytes();
  for await (const chunk of body) {
    if (received.length + chunk.byteLength > limitBytes) return 'too-large';
    received.add(chunk, limitBytes);
  }
  return received.length === 0 ? 'empty' : received.take();
}
