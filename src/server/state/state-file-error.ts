import { isNamed } from '../../contract/named-error.ts';

/** Thrown when a state file cannot be read or written. */
export class StateFileError extends Error {
  /** Recognises the error by its name, also if it comes from a second copy of this package. */
  static override readonly [Symbol.hasInstance] = isNamed('StateFileError');
  override readonly name = 'StateFileError';
}
