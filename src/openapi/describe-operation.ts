import type { z } from 'zod';
import { type BehaviourId, type Choices, type Choose, isChoice } from '../contract/behaviours.ts';
import { createLedgerReader } from '../contract/ledger-reader.ts';
import type { OperationDefinition } from '../contract/operation.ts';
import { TIER_PREFIX } from '../contract/tiers.ts';
import { ASSUMED, errorReferences, errorResponses } from './error-responses.ts';
import { type Json, jsonContent, toJsonSchema } from './json-schema.ts';
import { tagOf } from './tags.ts';

/** Describes one row of the operation table. */
export function createOperation(operationId: string, row: OperationDefinition, choices: Choices): Json {
  const { choose, assume, read } = createLedgerReader(choices);
  const parameters = [...pathParameters(row), ...queryParameters(row, choose)];
  const body = row.body?.(choose);
  const successes = createSuccesses(row, choose);
  row.assumes?.forEach(assume);
  return {
    operationId,
    summary: row.summary,
    description: describe(row, choose, read, choices),
    tags: [tagOf(row.path)],
    security: row.tiers === 'public' ? [] : [{ apiKey: [] }, { bearer: [] }],
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: createBody(body, choices) }),
    responses: { ...successes, ...errorReferences(errorResponses(row, (id) => choices[id])) },
  };
}

function describe(row: OperationDefinition, choose: Choose, read: ReadonlySet<BehaviourId>, choices: Choices): string {
  const tiers = row.tiers === 'public' ? 'no key' : row.tiers(choose).map((tier) => `\`${TIER_PREFIX[tier]}\``);
  const source = row.section ? `${row.origin}, section ${row.section}` : row.origin;
  const behaviours = [...read].map((id) => `\`${isChoice(id) ? `${id}=${choices[id]}` : id}\``).join(', ');
  return [
    `Called with: ${[tiers].flat().join(', ')}. Origin: ${source}.`,
    ...(behaviours ? [`Behaviours: ${behaviours}.`] : []),
  ].join('\n\n');
}

function pathParameters({ params }: OperationDefinition): Json[] {
  return Object.entries(params?.shape ?? {}).map(([name, schema]) => ({
    name,
    in: 'path',
    required: true,
    schema: toJsonSchema(schema as z.ZodType, 'input'),
  }));
}

/** A default makes a field of the output required; a client may leave any of these out. */
function queryParameters({ query }: OperationDefinition, choose: Choose): Json[] {
  return Object.entries(query?.(choose).shape ?? {}).map(([name, field]) => {
    const { description, ...schema } = toJsonSchema(field as z.ZodType, 'output');
    return { name, in: 'query', required: false, ...(description !== undefined && { description }), schema };
  });
}

function createBody(body: z.ZodObject, choices: Choices): Json {
  const closed = choices['requests.unknown-fields'] === 'refused' && { additionalProperties: false };
  return { required: !isOptional(body), content: jsonContent({ ...toJsonSchema(body, 'input'), ...closed }) };
}

function isOptional(schema: z.ZodType): boolean {
  return schema.safeParse({}).success;
}

const SUCCESS = { 200: 'OK', 201: 'Created' };

function createSuccesses({ status, reply, otherReply, content }: OperationDefinition, choose: Choose): Json {
  const success = (code: keyof typeof SUCCESS, schema: z.ZodType | undefined, bytes?: string) => ({
    description: SUCCESS[code],
    headers: ASSUMED,
    ...contentOf(schema, bytes),
  });
  return {
    [status]: success(status, reply(choose), content),
    ...(otherReply && { [otherReply.status]: success(otherReply.status, otherReply.reply(choose)) }),
  };
}

/** Bytes have no schema: that is how OpenAPI 3.1 writes them. */
function contentOf(schema: z.ZodType | undefined, bytes: string | undefined): Json {
  if (!schema) return {};
  return { content: bytes === undefined ? jsonContent(toJsonSchema(schema, 'output')) : { [bytes]: {} } };
}
