import type { Choose } from '../contract/behaviours.ts';
import { ApiError } from '../contract/errors.ts';
import { type ApiReply, jsonReply } from './http.ts';

/** The one place that turns a throw into a reply. What is not an `ApiError` is a bug of ours, and shows no stack. */
export function toErrorReply(thrown: unknown, choose: Choose): ApiReply {
  const error = thrown instanceof ApiError ? thrown : internalError(thrown);
  const body =
    choose('errors.shape') === 'error-and-code' ? { error: error.message, code: error.code } : { error: error.message };
  return jsonReply(error.status, body, error.headers);
}

function internalError(thrown: unknown): ApiError {
  const what = thrown instanceof Error ? thrown.message : String(thrown);
  return new ApiError('INTERNAL_ERROR', `The emulator failed, which is a bug in it: ${what}`);
}
