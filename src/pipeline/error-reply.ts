import type { Choose } from '../contract/behaviours.ts';
import { ApiError } from '../contract/errors.ts';
import type { Environment } from '../environment.ts';
import { type ApiReply, jsonReply } from './http.ts';

/**
 * The one place where what was thrown becomes an error of the API. What is not one is a bug of ours: `report` gets it
 * whole, and the reply only says so.
 */
export function toApiError(thrown: unknown, report: Environment['report']): ApiError {
  if (thrown instanceof ApiError) return thrown;
  report(thrown);
  return new ApiError(
    'INTERNAL_ERROR',
    'The emulator failed because of a bug in it; the cause is printed to its stderr, or to the console of the page.',
  );
}

/** Writes an error in the shape that the ledger says. */
export function toErrorReply({ status, message, code, headers }: ApiError, choose: Choose): ApiReply {
  const body = choose('errors.shape') === 'error-and-code' ? { error: message, code } : { error: message };
  return jsonReply(status, body, headers);
}
