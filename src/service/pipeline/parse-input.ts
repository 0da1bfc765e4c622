import type { z } from 'zod';
import { didYouMean } from '../../basics/nearest.ts';
import type { BehaviourReader } from '../../contract/behaviours.ts';
import { ApiError, invalid } from '../../contract/errors.ts';
import type { ApiRequest, ReceivedBody } from './exchange.ts';
import type { ResolvedOperation, ResolvedSchema } from './resolve-operation.ts';

/** Reads behaviours, and takes the names of what is not read. */
interface InputReader extends BehaviourReader {
  readonly ignored?: string[];
}

/** The parts of a request that contain an operation's input. */
interface Received {
  readonly request: Pick<ApiRequest, 'query' | 'headers'>;
  readonly params: Record<string, string>;
  readonly received: ReceivedBody;
}

/**
 * Parses the input of an operation with the schemas of its row.
 *
 * @throws {ApiError} for the first invalid part, in this order: path, query, body.
 */
export function parseInput(
  operation: Pick<ResolvedOperation, 'params' | 'query' | 'body'>,
  { request, params, received }: Received,
  reader: InputReader,
) {
  return {
    params: parseParams(operation.params, params, reader),
    query: parseQuery(operation.query, request.query, reader),
    body: parseBody(operation.body, received, request.headers.get('content-type'), reader),
  };
}

/**
 * Parses the path parameters of an operation.
 *
 * @throws {ApiError} NOT_FOUND or VALIDATION_ERROR, depending on `requests.malformed-id`.
 */
function parseParams(
  schema: z.ZodObject | undefined,
  params: Record<string, string>,
  reader: BehaviourReader,
): Record<string, unknown> {
  const parsed = schema?.safeParse(params);
  if (!parsed) return {};
  if (parsed.success) return recordCaseChange(params, parsed.data, reader);
  if (reader.readBehaviour('requests.malformed-id') === 'invalid') throw invalid('The path', parsed.error);
  throw new ApiError('NOT_FOUND', 'There is no resource with this id.', {
    internalReason: () => `${invalid('The path', parsed.error).message.slice(0, -1)} (choice requests.malformed-id).`,
  });
}

/** Records an assumption if parsing has changed the letter case of an id. */
function recordCaseChange(
  sent: Record<string, string>,
  parsed: Record<string, unknown>,
  reader: BehaviourReader,
): Record<string, unknown> {
  if (Object.entries(sent).some(([name, value]) => parsed[name] !== value)) reader.assume('requests.letter-case');
  return parsed;
}

/**
 * Parses the query of an operation. Unknown parameters are ignored; the first value of a repeated parameter is used.
 *
 * @throws {ApiError} VALIDATION_ERROR.
 */
export function parseQuery(
  resolved: ResolvedSchema | undefined,
  query: URLSearchParams,
  reader: InputReader,
): Record<string, unknown> {
  const known = Object.keys(resolved?.schema.shape ?? {}).filter((name) => query.has(name));
  if (query.size !== known.length) {
    reader.assume('requests.query');
    findIgnored(resolved?.schema, new Set(query.keys()), reader);
  }
  if (!resolved) return {};
  return parse('The query', resolved, Object.fromEntries(known.map((name) => [name, query.get(name)])), reader);
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
): Record<string, unknown> {
  const body = readObject(received, contentType, reader);
  refuseUnknownFields(resolved?.schema, body, reader);
  return resolved ? parse('The body', resolved, body, reader) : {};
}

function parse(
  where: string,
  resolved: ResolvedSchema,
  value: Record<string, unknown>,
  reader: BehaviourReader,
): Record<string, unknown> {
  const parsed = resolved.schema.safeParse(value);
  recordDecisiveBehaviours(resolved, value, parsed, reader);
  if (parsed.success) return parsed.data;
  throw invalid(where, parsed.error);
}

/** The types whose maximum is a length. For a number, the maximum is a value, which `requests.limits` is not about. */
const KINDS_WITH_LENGTH: ReadonlySet<string> = new Set(['string', 'array']);

/** Records the behaviours that decided whether this value is valid. */
function recordDecisiveBehaviours(
  { assumes, alternatives }: ResolvedSchema,
  value: Record<string, unknown>,
  { success, error }: z.ZodSafeParseResult<unknown>,
  reader: BehaviourReader,
): void {
  if (error?.issues.some((issue) => issue.code === 'too_big' && KINDS_WITH_LENGTH.has(issue.origin)))
    reader.assume('requests.limits');
  if (!success) assumes.forEach(reader.assume);
  for (const { id, schema } of alternatives) if (schema.safeParse(value).success !== success) reader.readBehaviour(id);
}

function readObject(
  received: ReceivedBody,
  contentType: string | null,
  reader: BehaviourReader,
): Record<string, unknown> {
  if (received === 'empty') return {};
  if (received === 'truncated') throw malformed('The request body was truncated.', reader);
  if (received === 'too-large') {
    reader.assume('requests.body-limit');
    throw new ApiError('PAYLOAD_TOO_LARGE', 'The body is larger than 1 MiB.');
  }
  checkContentType(contentType, reader);
  const value = parseJson(received, contentType, reader);
  if (!isObject(value)) throw malformed('The body must be a JSON object.', reader);
  return value;
}

function checkContentType(contentType: string | null, reader: BehaviourReader): void {
  if (/^application\/json\s*(;|$)/i.test(contentType ?? '')) return;
  if (reader.readBehaviour('requests.content-type') === 'json') {
    throw new ApiError('UNSUPPORTED_MEDIA_TYPE', 'The body must be sent as Content-Type: application/json.');
  }
}

/** The media types in which clients send the fields of a form. */
const FORM = /^(?:application\/x-www-form-urlencoded|multipart\/form-data)/i;

function parseJson(bytes: Uint8Array, contentType: string | null, reader: BehaviourReader): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    const [form] = FORM.exec(contentType ?? '') ?? [];
    const hint = form === undefined ? '' : `; it must be JSON with Content-Type: application/json, not ${form}`;
    throw malformed(`The body is not valid JSON${hint}.`, reader);
  }
}

function malformed(message: string, reader: BehaviourReader): ApiError {
  reader.assume('requests.malformed-body');
  return new ApiError('VALIDATION_ERROR', message);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Maximum number of unknown names that are shown. */
const MAX_SHOWN = 5;

function refuseUnknownFields(
  schema: z.ZodObject | undefined,
  body: Record<string, unknown>,
  reader: InputReader,
): void {
  const unknown = findIgnored(schema, Object.keys(body), reader);
  if (unknown.length === 0 || reader.readBehaviour('requests.unknown-fields') === 'ignored') return;
  const names = unknown.map((field) => JSON.stringify(field.slice(0, 100)));
  throw new ApiError('VALIDATION_ERROR', `The body has unknown fields: ${names.join(', ')}.`);
}

/** Records the names that are not in a schema, and returns the first of them. */
function findIgnored(schema: z.ZodObject | undefined, sent: Iterable<string>, { ignored }: InputReader): string[] {
  const shape = schema?.shape ?? {};
  const unknown = [...sent].filter((name) => !Object.hasOwn(shape, name)).slice(0, MAX_SHOWN);
  ignored?.push(...unknown.map((name) => name.slice(0, 100) + didYouMean(name, Object.keys(shape))));
  return unknown;
}

/** The maximum size of a body, in bytes. A larger body is refused without waiting for the rest of it. */
export const MAX_BODY_BYTES = 1024 * 1024;

/**
 * Reads a body up to the limit. A wrong body is no error yet, because the key must be checked before it is refused.
 *
 * @throws {ApiError} STORAGE_FULL if there is no memory for it.
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
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.byteLength;
    if (length > limitBytes) return 'too-large';
    chunks.push(chunk);
  }
  return length === 0 ? 'empty' : concatenate(chunks, length);
}

function concatenate(chunks: Uint8Array[], length: number): Uint8Array {
  const [only] = chunks;
  if (only?.byteLength === length) return only;
  const whole = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return whole;
}
