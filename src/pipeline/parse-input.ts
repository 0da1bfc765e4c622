import type { z } from 'zod';
import type { Choose } from '../contract/behaviours.ts';
import { ApiError } from '../contract/errors.ts';
import type { ReceivedBody } from './read-body.ts';
import type { ResolvedOperation } from './resolve-operation.ts';

/**
 * Parses the path parameters of an operation.
 *
 * @throws {ApiError} NOT_FOUND or VALIDATION_ERROR, as `requests.malformed-id` says.
 */
export function parseParams(
  schema: z.ZodObject | undefined,
  params: Record<string, string>,
  choose: Choose,
): Record<string, unknown> {
  const parsed = schema?.safeParse(params);
  if (!parsed) return {};
  if (parsed.success) return parsed.data;
  if (choose('requests.malformed-id') === 'invalid') throw invalid('The path', parsed.error);
  throw new ApiError('NOT_FOUND', 'There is nothing with this id.');
}

/**
 * Parses the body of an operation: nothing, or a JSON object that its schema takes.
 *
 * @throws {ApiError} PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE or VALIDATION_ERROR.
 */
export function parseBody(
  operation: Pick<ResolvedOperation, 'body' | 'bodyChoices'>,
  received: ReceivedBody,
  contentType: string | null,
  choose: Choose,
): Record<string, unknown> {
  const body = readObject(received, contentType, choose);
  refuseUnknownFields(operation.body, body, choose);
  const parsed = operation.body?.safeParse(body);
  if (!parsed) return {};
  if (parsed.success) return parsed.data;
  for (const id of operation.bodyChoices) choose(id);
  throw invalid('The body', parsed.error);
}

function readObject(received: ReceivedBody, contentType: string | null, choose: Choose): Record<string, unknown> {
  if (received === 'empty') return {};
  if (received === 'broken') throw new ApiError('VALIDATION_ERROR', 'The body broke off before its end.');
  if (received === 'too-large') {
    choose('requests.body-limit');
    throw new ApiError('PAYLOAD_TOO_LARGE', 'The body is larger than 1 MiB.');
  }
  checkContentType(contentType, choose);
  const value = parseJson(received);
  if (!isObject(value)) throw new ApiError('VALIDATION_ERROR', 'The body is not a JSON object.');
  return value;
}

function checkContentType(contentType: string | null, choose: Choose): void {
  if (/^application\/json\s*(;|$)/i.test(contentType ?? '')) return;
  if (choose('requests.content-type') === 'json') {
    throw new ApiError('UNSUPPORTED_MEDIA_TYPE', 'The body must be sent as Content-Type: application/json.');
  }
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new ApiError('VALIDATION_ERROR', 'The body is not JSON.');
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refuseUnknownFields(schema: z.ZodObject | undefined, body: Record<string, unknown>, choose: Choose): void {
  const unknown = Object.keys(body).filter((field) => !Object.hasOwn(schema?.shape ?? {}, field));
  if (unknown.length === 0 || choose('requests.unknown-fields') === 'ignored') return;
  const names = unknown.slice(0, 5).map((field) => JSON.stringify(field.slice(0, 100)));
  throw new ApiError('VALIDATION_ERROR', `The body has fields that are not known here: ${names.join(', ')}.`);
}

function invalid(where: string, error: z.ZodError): ApiError {
  const problems = error.issues.slice(0, 5).map((issue) => `${toPath(issue.path)} ${issue.message}`);
  return new ApiError('VALIDATION_ERROR', `${where} is not valid: ${problems.join('; ')}.`);
}

/** Writes a path such as `['events', 1]` as `events[1]`. */
function toPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[${step}]` : text ? `${text}.${String(step)}` : String(step)),
    '',
  );
}
