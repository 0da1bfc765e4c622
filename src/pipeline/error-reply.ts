import type { Choose } from '../contract/behaviours.ts';
import { ApiError } from '../contract/errors.ts';
import type { Environment } from '../environment.ts';
import { type ApiReply, jsonReply } from './http.ts';

/**
 * The one place that turns a throw into a reply. What is not an `ApiError` is a bug of ours: `report` gets it whole, and
 * the reply only says so.
 */
export function toErrorReply(thrown: unknown, choose: Choose, report: Environment['report']): ApiReply {
  const error = toApiError(thrown, report);
  const body =
    choose('errors.shape') === 'error-and-code' ? { error: error.message, code: error.code } : { error: error.message };
  return jsonReply(error.status, body, error.headers);
}

/** What was thrown, as an error for a client. */
export function toApiError(thrown: unknown, report: Environment['report']): ApiError {
  if (thrown instanceof ApiError) return thrown;
  report(thrown);
  return new ApiError(
    'INTERNAL_ERROR',
    'The emulator failed, which is a bug in it; the cause is printed to its stderr, or to the console of the page.',
  );
}
