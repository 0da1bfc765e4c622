import type { Choose } from '../contract/behaviours.ts';
import { ERRORS, type ErrorCode } from '../contract/errors.ts';
import type { OperationDefinition } from '../contract/operation.ts';
import { TIERS } from '../contract/tiers.ts';
import { type CodesByStatus, codesByStatus } from './error-responses.ts';

/** The errors that an operation can answer with, in the order of their status. */
export function errorResponses(row: OperationDefinition, choose: Choose): CodesByStatus {
  return codesByStatus((Object.keys(ERRORS) as ErrorCode[]).filter((code) => canAnswer(row, code, choose)));
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
