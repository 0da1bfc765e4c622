import type { z } from 'zod';
import { CollectedBytes } from '../../basics/collected-bytes.ts';
import { didYouMean } from '../../basics/similar-names.ts';
import { type AssumptionId, type BehaviourReader, fieldsOf } from '../../contract/behaviours.ts';
import { ApiError, createValidationError } from '../../contract/errors.ts';
import type { ApiRequest, Exchange, ReceivedBody } from './exchange.ts';
import type { Resolved, ResolvedOperation } from './resolve-operation.ts';

/** A reader of behaviours that also collects the names of unknown fields and query parameters in `ignored`. */
interface InputReader extends BehaviourReader {
  readonly ignored?: string[];
}

type ResolvedSchema = Resolved<z.ZodObject>;
type Fields = Record<string, unknown>;

/**
 * Parses the input of an operation with the schemas of its row. `params` are the parameters of the path.
 *
 * @throws {ApiError} for the first invalid part, in this order: path, query, body.
 */
export function parseInput(operation: ResolvedOperation, params: Record<string, string>, exchange: Exchange) {
  const { request, received = 'empty' } = exchange;
  const input = {
    params: parseParams(operation.params, params, exchange),
    query: parseQuery(operation.query, request.query, exchange),
    body: parseBody(operation.body, received, request.headers.get('content-type'), exchange),
  };
  const isEmptyUpdate = request.method === 'PATCH' && Object.keys(input.body).length === 0;
  if (isEmptyUpdate && exchange.readBehaviour('requests.empty-update') === 'invalid') {
    throw new ApiError('VALIDATION_ERROR', 'The body is not valid: it must have a field to update.');
  }
  return input;
}

/**
 * Parses the path parameters of an operation. Records an assumption if parsing changes the letter case of an id.
 *
 * @throws {ApiError} NOT_FOUND or VALIDATION_ERROR, depending on `requests.malformed-id`.
 */
function parseParams(
  schema: z.ZodObject | undefined,
  params: Record<string, string>,
  { readBehaviour, assume }: BehaviourReader,
): Fields {
  if (!schema) return {};
  const { success, data, error } = schema.safeParse(params);
  if (success) {
    if (Object.entries(params).some(([name, value]) => data[name] !== value)) assume('requests.letter-case');
    return data;
  }
  const problem = createValidationError('The path', error);
  if (readBehaviour('requests.malformed-id') === 'invalid') throw problem;
  throw new ApiError('NOT_FOUND', 'There is no resource with this id.', {
    internalReason: () => `${problem.message.slice(0, -1)} (choice requests.malformed-id).`,
  });
}

/**
 * Parses the query of an operation. Unknown parameters are ignored; the first value of a repeated parameter is used.
 *
 * @throws {ApiError} VALIDATION_ERROR.
 */
export function parseQuery(resolved: ResolvedSchema | undefined, query: URLSearchParams, reader: InputReader): Fields {
  const known = Object.keys(resolved?.value.shape ?? {}).filter((name) => query.has(name));
  if (query.size !== known.length) {
    reader.assume('requests.query');
    recordUnknown(resolved, new Set(query.keys()), reader);
  }
  const fields = Object.fromEntries(known.map((name) => [name, query.get(name)]));
  return resolved ? parse('The query', resolved, fields, reader) : {};
}

/**
 * Parses the body of an operation: empty, or a JSON object that matches its schema.
 *
 * @throws {ApiError} PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE or VALIDATION_ERROR.
 */
export function parseBody(
  resolved: ResolvedSchema | undefined,
  received: ReceivedBody,
  contentType: string | null,
  reader: InputReader,
): Fields {
  const body = parseJsonObject(received, contentType, reader);
  const unknown = recordUnknown(resolved, Object.keys(body), reader);
  if (unknown.length > 0 && reader.readBehaviour('requests.unknown-fields') !== 'ignored') {
    const names = unknown.map((field) => JSON.stringify(field.slice(0, 100)));
    throw new ApiError('VALIDATION_ERROR', `The body has unknown fields: ${names.join(', ')}.`);
  }
  return resolved ? parse('The body', resolved, body, reader) : {};
}

/** `requests.limits` is about the maximum length of these types. It is not about the maximum value of a number. */
const KINDS_WITH_LENGTH: ReadonlySet<string> = new Set(['string', 'array']);

/** Parses fields, and records the behaviours that decided whether they are valid, and what they mean. */
function parse(what: string, resolved: ResolvedSchema, fields: Fields, reader: BehaviourReader): Fields {
  const { value: schema, assumes, alternatives } = resolved;
  const { success, data, error } = schema.safeParse(fields);
  if (error?.issues.some((issue) => issue.code === 'too_big' && KINDS_WITH_LENGTH.has(issue.origin)))
    reader.assume('requests.limits');
  for (const issue of error?.issues ?? []) {
    if (issue.code === 'custom' && issue.params) reader.assume(issue.params.assumption as AssumptionId);
  }
  const decided = new Set(error?.issues.map(({ path: [field] }) => String(field)));
  for (const [field, sent] of Object.entries(fields)) {
    if (success && isChanged(sent, data[field])) decided.add(field);
    if (success && isChangedId(sent, data[field])) reader.assume('requests.letter-case');
    if (success && sent === null && Object.hasOwn(schema.shape, field)) reader.assume('requests.null-fields');
  }
  for (const id of assumes) if (fieldsOf(id).some((field) => decided.has(field))) reader.assume(id);
  const deciding = alternatives.filter(({ value: otherSchema }) => otherSchema.safeParse(fields).success !== success);
  for (const { id } of deciding) reader.readBehaviour(id);
  if (success) return data;
  throw createValidationError(what, error);
}

/** Returns whether parsing changed a text: what is stored is then not exactly what was sent. */
function isChanged(sent: unknown, parsed: unknown): boolean {
  if (typeof sent !== 'string') return false;
  if (Array.isArray(parsed)) return parsed.length === 0 || parsed.join(', ') !== sent;
  return (typeof parsed === 'string' || parsed === null) && parsed !== sent;
}

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Returns whether parsing changed the letter case of an id. */
function isChangedId(sent: unknown, parsed: unknown): boolean {
  return parsed !== sent && typeof sent === 'string' && ID.test(sent);
}

/**
 * Reads a body that must be a JSON object; an empty body is an object without fields.
 *
 * @throws {ApiError} PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE or VALIDATION_ERROR.
 */
export function parseJsonObject(received: ReceivedBody, contentType: string | null, reader: BehaviourReader): Fields {
  if (received === 'empty') return {};
  if (received === 'truncated') throw malformed('The request body was truncated.', reader);
  if (received === 'too-large') {
    reader.assume('requests.body-limit');
    throw new ApiError('PAYLOAD_TOO_LARGE', 'The body is larger than 1 MiB.');
  }
  const isJson = /^application\/json\s*(;|$)/i.test(contentType ?? '');
  if (!isJson && reader.readBehaviour('requests.content-type') === 'json') {
    throw new ApiError('UNSUPPORTED_MEDIA_TYPE', 'The body must be sent as Content-Type: application/json.');
  }
  const value = decodeJson(received, contentType, reader);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw malformed('The body must be a JSON object.', reader);
}

/** The media types in which clients send the fields of a form. */
const FORM_TYPE = /^(?:application\/x-www-form-urlencoded|multipart\/form-data)/i;

function decodeJson(bytes: Uint8Array, contentType: string | null, reader: BehaviourReader): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    const [form] = FORM_TYPE.exec(contentType ?? '') ?? [];
    const hint = form === undefined ? '' : `; it must be JSON with Content-Type: application/json, not ${form}`;
    throw malformed(`The body is not valid JSON${hint}.`, reader);
  }
}

function malformed(message: string, reader: BehaviourReader): ApiError {
  reader.assume('requests.malformed-body');
  return new ApiError('VALIDATION_ERROR', message);
}

/** How many unknown names are recorded. */
const MAX_UNKNOWN = 5;

/** Records at most MAX_UNKNOWN names that are not in a schema, and returns them. */
function recordUnknown(resolved: ResolvedSchema | undefined, sent: Iterable<string>, reader: InputReader): string[] {
  const shape = resolved?.value.shape ?? {};
  const unknown = [...sent].filter((name) => !Object.hasOwn(shape, name)).slice(0, MAX_UNKNOWN);
  reader.ignored?.push(...unknown.map((name) => name.slice(0, 100) + didYouMean(name, Object.keys(shape))));
  return unknown;
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
