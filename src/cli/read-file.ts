import { readFile } from 'node:fs/promises';
import { readProblem } from '../server/mail-files/read-problem.ts';
import { CannotRunError } from './command.ts';

/**
 * Reads a file that the user named; `what` is the kind of file, for the error message.
 *
 * @throws {CannotRunError} if it cannot be read.
 */
export async function readNamedFile(path: string, what = 'file'): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new CannotRunError(`The ${what} ${path} cannot be read: ${readProblem(error)}.`);
  }
}
