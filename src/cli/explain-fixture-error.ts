import { FixtureError } from '../fixture/fixture-error.ts';
import { CannotRunError } from './command.ts';

/** Adds the file name to the error of an invalid fixture; other errors are returned unchanged. */
export function explainFixtureError(error: unknown, path: string): unknown {
  return error instanceof FixtureError ? new CannotRunError(`${path}: ${error.message}`) : error;
}
