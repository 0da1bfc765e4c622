import type { Choose } from '../contract/behaviours.ts';
import { ERRORS, type ErrorCode } from '../contract/errors.ts';
import type { OperationDefinition } from '../contract/operation.ts';
import { TIERS } from '../contract/tiers.ts';
import { type CodesByStatus, codesByStatus } from './error-responses.ts';

/** Returns the errors that an operation can return, in the order of their status. */
export function errorResponses(row: OperationDefinition, choose: Choose): CodesByStatus {
  return codesByStatus((Object.keys(ERRORS) as ErrorCode[]).filter((code) => canReturn(row, code, choose)));
}

function canReturn(row: OperationDefinition, code: ErrorCode, choose: Choose): boolean {
  return row.errors?.includes(code) || (CAN_RETURN[code]?.(row, choose) ?? false);
}

/** For each code that is not specific to an operation: whether an operation can return it. */
const CAN_RETURN: Partial<Record<ErrorCode, (row: OperationDefinition, choose: Choose) => boolean>> = {
  VALIDATION_ERROR: (row) => canHaveBody(row) || row.query !== undefined || row.params !== undefined,
  UNAUTHORIZED: ({ tiers }) => tiers !== 'public',
  FORBIDDEN: (row, choose) =>
    (mayRefuseTier(row, choose) && choose('auth.wrong-tier') === 'forbidden') ||
    (hasLookup(row) && choose('errors.foreign-resource') === 'forbidden'),
  HOST_NOT_ALLOWED: () => true,
  NOT_FOUND: (row, choose) =>
    row.params !== undefined || (mayRefuseTier(row, choose) && choose('auth.wrong-tier') === 'not-found'),
  PAYLOAD_TOO_LARGE: canHaveBody,
  UNSUPPORTED_MEDIA_TYPE: (row, choose) => canHaveBody(row) && choose('requests.content-type') === 'json',
  INTERNAL_ERROR: () => true,
};

/** Except for GET, a body is parsed even if the operation needs none. */
function canHaveBody({ method }: OperationDefinition): boolean {
  return method !== 'GET';
}

function mayRefuseTier({ tiers }: OperationDefinition, choose: Choose): boolean {
  return tiers !== 'public' && tiers(choose).length < TIERS.length;
}

function hasLookup({ params, errors }: OperationDefinition): boolean {
  return params !== undefined || (errors?.includes('NOT_FOUND') ?? false);
}
