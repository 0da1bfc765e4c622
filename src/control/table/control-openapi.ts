import { z } from 'zod';
import type { ErrorCode } from '../../contract/errors.ts';
import { createDocument, type DescribedRow, type OpenApiDocument } from '../../contract/openapi/document.ts';
import type { ControlRow } from './row.ts';

const DESCRIPTION = `Calls for tests, which the emulated service does not have.

No call needs an API key. If other machines can reach the emulator, every call needs the header \`X-Mock-Token\`.

- An unknown path returns 404 \`NOT_FOUND\`, and an unsupported method returns 405 \`METHOD_NOT_ALLOWED\`.
- The HTTP server itself can return 408 \`REQUEST_TIMEOUT\` and 431 \`HEADERS_TOO_LARGE\`.

HEAD returns the reply to GET without its body; OPTIONS returns 204 with \`Allow\`.`;

const TAG = {
  name: 'Control',
  description: 'State, sandboxes, time, inbound mail, deliveries, faults, requests and the live feed.',
};

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
  const { id, method, path, summary, params, query, body, reply, content } = row;
  return {
    id,
    method,
    path,
    summary,
    params,
    query,
    body,
    tag: TAG.name,
    security: [{}, { token: [] }],
    successes: [{ status: 200, schema: reply, content: content === 'application/json' ? undefined : content }],
    errors: [...controlErrors(row)],
  };
}

/** Errors that any call can return, because of the server's access checks or a bug. */
const ANY_CALL = ['UNAUTHORIZED', 'HOST_NOT_ALLOWED', 'FOREIGN_ORIGIN', 'DELIVERY_REFUSED', 'INTERNAL_ERROR'] as const;

/** Returns the errors that a control call can reply with. */
export function controlErrors({ query, body, errors = [] }: ControlRow): ReadonlySet<ErrorCode> {
  const codes = new Set<ErrorCode>([...ANY_CALL, ...errors]);
  if (query || body) codes.add('VALIDATION_ERROR');
  // A reset may come while the body arrives.
  return body ? codes.add('PAYLOAD_TOO_LARGE').add('SERVER_UNAVAILABLE') : codes;
}

/** Returns the names of the query and body fields of a call. */
export function fieldNamesOf({ query, body }: ControlRow): string[] {
  return [query, body].flatMap((schema) => (schema ? namesIn(schema) : []));
}

function namesIn(schema: z.ZodType): string[] {
  if (schema instanceof z.ZodUnion)
    return [...new Set(schema.options.flatMap((option) => namesIn(option as z.ZodType)))];
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}
