import type { BehaviourReader } from '../contract/behaviour-reader.ts';
import { ApiError, INVENTED_CODES, INVENTED_STATUSES } from '../contract/errors.ts';
import type { Environment } from '../environment.ts';
import type { Exchange } from './exchange.ts';
import { type ApiReply, jsonReply } from './http.ts';

/**
 * Converts any thrown value to an API error. A value that is not an `ApiError` is a bug in the emulator: it is
 * reported, and the reply does not contain its details.
 */
export function toApiError(thrown: unknown, report: Environment['report']): ApiError {
  if (thrown instanceof ApiError) return thrown;
  report(thrown);
  return new ApiError(
    'INTERNAL_ERROR',
    'The emulator failed because of a bug in it; the cause is printed to its stderr, or to the console of the page.',
  );
}

/** Refuses a request because of any thrown value: records the error and returns its reply. */
export function refuse(exchange: Exchange, thrown: unknown, report: Environment['report']): ApiReply {
  exchange.error = toApiError(thrown, report);
  return toErrorReply(exchange.error, exchange);
}

/** Converts an error to a reply, in the shape that `errors.shape` decides. */
export function toErrorReply(
  { status, message, code, headers }: ApiError,
  { readBehaviour, assume }: BehaviourReader,
): ApiReply {
  const hasCode = readBehaviour('errors.shape') === 'error-and-code';
  const isStatusInvented = INVENTED_STATUSES.includes(status);
  if (!isStatusInvented) assume('errors.statuses');
  if (isStatusInvented || (hasCode && INVENTED_CODES.includes(code))) assume('errors.codes');
  return jsonReply(status, hasCode ? { error: message, code } : { error: message }, headers);
}
