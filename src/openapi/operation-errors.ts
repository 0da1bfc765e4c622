import type { ReadBehaviour } from '../contract/behaviours.ts';
import { ERRORS, type ErrorCode } from '../contract/errors.ts';
import type { OperationDefinition } from '../contract/operation.ts';
import { TIERS } from '../contract/tiers.ts';
import { type CodesByStatus, codesByStatus } from './error-responses.ts';

/** Returns the errors that an operation can return, in the order of their status. */
export function errorResponses(row: OperationDefinition, readBehaviour: ReadBehaviour): CodesByStatus {
  return codesByStatus((Object.keys(ERRORS) as ErrorCode[]).filter((code) => canReturn(row, code, readBehaviour)));
}

function canReturn(row: OperationDefinition, code: ErrorCode, readBehaviour: ReadBehaviour): boolean {
  return row.errors?.includes(code) || (CAN_RETURN[code]?.(row, readBehaviour) ?? false);
}

/** For each code that is not specific to an operation: whether an operation can return it. */
const CAN_RETURN: Partial<Record<ErrorCode, (row: OperationDefinition, readBehaviour: ReadBehaviour) => boolean>> = {
  VALIDATION_ERROR: (row) => canHaveBody(row) || row.query !== undefined || row.params !== undefined,
  UNAUTHORIZED: ({ tiers }) => tiers !== 'public',
  FORBIDDEN: (row, readBehaviour) =>
    (mayRefuseTier(row, readBehaviour) && readBehaviour('auth.wrong-tier') === 'forbidden') ||
    (hasLookup(row) && readBehaviour('errors.foreign-resource') === 'forbidden'),
  HOST_NOT_ALLOWED: () => true,
  NOT_FOUND: (row, readBehaviour) =>
    row.params !== undefined || (mayRefuseTier(row, readBehaviour) && readBehaviour('auth.wrong-tier') === 'not-found'),
  PAYLOAD_TOO_LARGE: canHaveBody,
  UNSUPPORTED_MEDIA_TYPE: (row, readBehaviour) => canHaveBody(row) && readBehaviour('requests.content-type') === 'json',
  INTERNAL_ERROR: () => true,
};

/** Except for GET, a body is parsed even if the operation needs none. */
function canHaveBody({ method }: OperationDefinition): boolean {
  return method !== 'GET';
}

function mayRefuseTier({ tiers }: OperationDefinition, readBehaviour: ReadBehaviour): boolean {
  return tiers !== 'public' && tiers(readBehaviour).length < TIERS.length;
}

function hasLookup({ params, errors }: OperationDefinition): boolean {
  return params !== undefined || (errors?.includes('NOT_FOUND') ?? false);
}
