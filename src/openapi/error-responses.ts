import type { Choose } from '../contract/behaviours.ts';
import { ERRORS, type ErrorCode } from '../contract/errors.ts';
import type { OperationDefinition } from '../contract/operation.ts';
import { TIERS } from '../contract/tiers.ts';
import { type Json, jsonContent } from './json-schema.ts';

/** The error codes that an operation can answer with, by status. */
export type CodesByStatus = ReadonlyMap<number, readonly ErrorCode[]>;

/** The errors that an operation can answer with, in the order of their status. */
export function errorResponses(row: OperationDefinition, choose: Choose): CodesByStatus {
  const codes = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => canAnswer(row, code, choose));
  const statuses = [...new Set(codes.map((code) => ERRORS[code].status))].sort((a, b) => a - b);
  return new Map(statuses.map((status) => [status, codes.filter((code) => ERRORS[code].status === status)]));
}

/** One component for each set of codes, which the operations that share it refer to. */
export function responseComponents(all: readonly CodesByStatus[], choose: Choose): Json {
  const sets = all.flatMap((codes) => [...codes.values()]);
  return Object.fromEntries(sets.map((codes) => [componentName(codes), errorResponse(codes, choose)]));
}

/** References to the components of an operation's errors, by status. */
export function errorReferences(codes: CodesByStatus): Json {
  return Object.fromEntries(
    [...codes].map(([status, set]) => [status, { $ref: `#/components/responses/${componentName(set)}` }]),
  );
}

function canAnswer(row: OperationDefinition, code: ErrorCode, choose: Choose): boolean {
  return row.errors?.includes(code) || (CAN_ANSWER[code]?.(row, choose) ?? false);
}

/** When an operation can answer with a code that is not of its own; connections and other paths have the rest. */
const CAN_ANSWER: Partial<Record<ErrorCode, (row: OperationDefinition, choose: Choose) => boolean>> = {
  VALIDATION_ERROR: (row) => takesBody(row) || row.query !== undefined || row.params !== undefined,
  UNAUTHORIZED: ({ tiers }) => tiers !== 'public',
  FORBIDDEN: (row, choose) =>
    (refusesTier(row, choose) && choose('auth.wrong-tier') === 'forbidden') ||
    (looksUp(row) && choose('errors.foreign-resource') === 'forbidden'),
  HOST_NOT_ALLOWED: () => true,
  NOT_FOUND: (row, choose) =>
    row.params !== undefined || (refusesTier(row, choose) && choose('auth.wrong-tier') === 'not-found'),
  PAYLOAD_TOO_LARGE: takesBody,
  UNSUPPORTED_MEDIA_TYPE: (row, choose) => takesBody(row) && choose('requests.content-type') === 'json',
  INTERNAL_ERROR: () => true,
};

/** A body may come with any method but GET; where none is needed it must still be JSON. */
function takesBody({ method }: OperationDefinition): boolean {
  return method !== 'GET';
}

function refusesTier({ tiers }: OperationDefinition, choose: Choose): boolean {
  return tiers !== 'public' && tiers(choose).length < TIERS.length;
}

function looksUp({ params, errors }: OperationDefinition): boolean {
  return params !== undefined || (errors?.includes('NOT_FOUND') ?? false);
}

function componentName(codes: readonly ErrorCode[]): string {
  return codes.join('.');
}

function errorResponse(codes: readonly ErrorCode[], choose: Choose): Json {
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].meaning}`).join('\n\n'),
    headers: { ...ASSUMED, ...(codes.includes('UNAUTHORIZED') && CHALLENGE) },
    content: jsonContent(choose('errors.shape') === 'error-only' ? ERROR : { allOf: [ERROR, oneOfCodes(codes)] }),
  };
}

const ERROR = { $ref: '#/components/schemas/Error' };

/** The header that every reply can have. */
export const ASSUMED: Json = { 'X-Mock-Assumed': { $ref: '#/components/headers/Assumed' } };

const CHALLENGE: Json = {
  'WWW-Authenticate': {
    description: 'How to send a key.',
    required: true,
    schema: { const: 'Bearer', type: 'string' },
  },
};

function oneOfCodes(codes: readonly ErrorCode[]): Json {
  return { type: 'object', properties: { code: { enum: codes } } };
}
