import { ERRORS, type ErrorCode } from '../errors.ts';
import { type Json, jsonContent } from './json-schema.ts';

/** The error codes that a call can return, by status. */
export type CodesByStatus = ReadonlyMap<number, readonly ErrorCode[]>;

/** The form of the errors in a document. */
export interface ErrorForm {
  /** Whether an error contains its code. */
  readonly hasCode: boolean;
  /** The headers that every error can have. */
  readonly headers?: Json;
}

/** Groups error codes by their status, in the order of the statuses. */
export function codesByStatus(codes: readonly ErrorCode[]): CodesByStatus {
  const statuses = [...new Set(codes.map((code) => ERRORS[code].status))].sort((a, b) => a - b);
  return new Map(statuses.map((status) => [status, codes.filter((code) => ERRORS[code].status === status)]));
}

/** Creates one response component for each set of codes, so that calls can share it. */
export function responseComponents(all: readonly CodesByStatus[], form: ErrorForm): Json {
  const sets = all.flatMap((codes) => [...codes.values()]);
  return Object.fromEntries(sets.map((codes) => [componentName(codes), errorResponse(codes, form)]));
}

/** Creates the references to the response components of a call's errors, by status. */
export function errorReferences(codes: CodesByStatus): Json {
  return Object.fromEntries(
    [...codes].map(([status, set]) => [status, { $ref: `#/components/responses/${componentName(set)}` }]),
  );
}

function componentName(codes: readonly ErrorCode[]): string {
  return codes.join('.');
}

function errorResponse(codes: readonly ErrorCode[], { headers }: ErrorForm): Json {
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].meaning}`).join('\n\n'),
    ...(headers && { headers: { ...headers, ...(codes.includes('UNAUTHORIZED') && CHALLENGE) } }),
    content: jsonContent(ERROR),
  };
}

const ERROR = { $ref: '#/components/schemas/Error' };

/** The header that every reply of an operation can have. */
export const ASSUMED_HEADER: Json = { 'X-Mock-Assumed': { $ref: '#/components/headers/X-Mock-Assumed' } };

const CHALLENGE: Json = {
  'WWW-Authenticate': {
    description: 'How to send a key.',
    required: true,
    schema: { const: 'Bearer', type: 'string' },
  },
};
