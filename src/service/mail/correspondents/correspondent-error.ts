import { isNamed } from '../../../basics/named-error.ts';
import { ApiError } from '../../../contract/errors.ts';

/** The failure of a correspondent to answer: what its function did wrong, or that its mail does not fit. */
export class CorrespondentError extends Error {
  /** Recognises the error by its name, also if it comes from a second copy of this package. */
  static override readonly [Symbol.hasInstance] = isNamed('CorrespondentError');
  override readonly name = 'CorrespondentError';

  constructor(address: string, cause: unknown) {
    super(`The correspondent ${address} did not answer: ${reasonOf(cause)}`, { cause });
  }
}

function reasonOf(cause: unknown): string {
  if (cause instanceof ApiError) return cause.message;
  return `its function failed with ${JSON.stringify(cause instanceof Error ? cause.message : String(cause))}.`;
}
