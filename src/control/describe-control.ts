import { z } from 'zod';
import { ERRORS, type ErrorCode } from '../contract/errors.ts';
import type { DescribedRow } from '../openapi/describe-row.ts';
import { createDocument, type OpenApiDocument } from '../openapi/document.ts';
import { codesByStatus } from '../openapi/error-responses.ts';
import type { ControlRow } from './row.ts';

const DESCRIPTION = `What a test may do that a client of the service may not.

No call needs a key. The header \`X-Mock-Token\` is needed where other machines can reach the emulator.

- 404 \`NOT_FOUND\` answers a path that is not here, and 405 \`METHOD_NOT_ALLOWED\` a method that is not here.
- 408 \`REQUEST_TIMEOUT\` and 431 \`HEADERS_TOO_LARGE\` come from the server itself.

HEAD answers what GET answers, without the body; OPTIONS answers 204 with \`Allow\`.`;

const TAG = { name: 'Control', description: 'Reset, time, mail from outside, and what becomes of deliveries.' };

/** Describes control calls in OpenAPI 3.1. */
export function createControlOpenApi(rows: readonly ControlRow[]): OpenApiDocument {
  return createDocument({
    title: 'Control plane of agent-mailbox-mock',
    description: DESCRIPTION,
    tags: [TAG],
    rows: rows.map(describeControl),
    securitySchemes: { token: { type: 'apiKey', in: 'header', name: 'X-Mock-Token' } },
    errorForm: { hasCode: true },
  });
}

function describeControl(row: ControlRow): DescribedRow {
  const { id, method, path, summary, params, query, body = row.uncheckedBody, reply, content } = row;
  const codes = controlErrors(row);
  return {
    id,
    method,
    path,
    summary,
    tag: TAG.name,
    security: [{}, { token: [] }],
    params,
    query,
    body,
    successes: [{ status: 200, schema: reply, content: content === 'application/json' ? undefined : content }],
    errors: codesByStatus((Object.keys(ERRORS) as ErrorCode[]).filter((code) => codes.has(code))),
  };
}

/** What the guards of the server and a bug answer to any call. */
const ANY_CALL: readonly ErrorCode[] = [
  'UNAUTHORIZED',
  'HOST_NOT_ALLOWED',
  'FOREIGN_ORIGIN',
  'DELIVERY_REFUSED',
  'INTERNAL_ERROR',
];

const ANY_BODY: readonly ErrorCode[] = ['VALIDATION_ERROR', 'PAYLOAD_TOO_LARGE'];

/** The errors that a control call can answer with. */
export function controlErrors({ query, body, uncheckedBody, errors = [] }: ControlRow): ReadonlySet<ErrorCode> {
  const ofBody = body || uncheckedBody ? ANY_BODY : [];
  return new Set([...ANY_CALL, ...ofBody, ...(query ? (['VALIDATION_ERROR'] as const) : []), ...errors]);
}

/** The names of the fields that a call takes in its query or in its body. */
export function fieldsOf({ query, body, uncheckedBody }: ControlRow): string[] {
  return [query, body, uncheckedBody].flatMap((schema) => (schema ? namesIn(schema) : []));
}

function namesIn(schema: z.ZodType): string[] {
  if (schema instanceof z.ZodUnion)
    return [...new Set(schema.options.flatMap((option) => namesIn(option as z.ZodType)))];
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}
