import { existsSync } from 'node:fs';
import { createNameCheck } from '../basics/named-error.ts';
import { fileProblem, readRegularFile } from '../server/regular-file.ts';
import { CannotRunError } from './command.ts';

/**
 * Reads a file that the user named. `kind` is the kind of file for the error message, such as `profile`.
 *
 * @throws {CannotRunError} if the file cannot be read.
 */
export async function readNamedFile(path: string, kind = 'file'): Promise<Buffer> {
  try {
    return await readRegularFile(path);
  } catch (error) {
    throw new CannotRunError(`The ${kind} ${path} cannot be read: ${fileProblem(error, 'there is no such file')}.`);
  }
}

/** Turns the error of a write into an error message for the user, which names the file. */
export function explainWriteError(error: unknown, file: string): CannotRunError {
  return new CannotRunError(`The file ${file} cannot be written: ${fileProblem(error)}.`);
}

/** The default file of `client python`. */
export const DEFAULT_PYTHON_FILE = 'client.py';

/** The default file of `init`; `start` loads it if it is in the working folder. */
export const DEFAULT_FIXTURE_FILE = 'mailbox.jsonc';

/** The default file of `profile init`. */
export const DEFAULT_PROFILE_FILE = 'mailbox-profile.json';

/** Returns the fixture file of the working folder, if there is one. */
export function findFixtureFile(): string | undefined {
  return existsSync(DEFAULT_FIXTURE_FILE) ? DEFAULT_FIXTURE_FILE : undefined;
}

/** Adds the file name to the error of an invalid fixture; other errors are returned unchanged. */
export function explainFixtureError(error: unknown, path: string): unknown {
  // Every run loads this file, and only some of them the class of the error.
  const isFixtureError = createNameCheck('FixtureError')(error);
  return isFixtureError ? new CannotRunError(`${path}: ${(error as Error).message}`) : error;
}
