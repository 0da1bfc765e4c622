import { fileProblem } from '../server/file-problem.ts';
import { readRegularFile } from '../server/regular-file.ts';
import { CannotRunError } from './command.ts';

/**
 * Reads a file that the user named; `what` is the kind of file, for the error message.
 *
 * @throws {CannotRunError} if it cannot be read.
 */
export async function readNamedFile(path: string, what = 'file'): Promise<Buffer> {
  try {
    return await readRegularFile(path);
  } catch (error) {
    throw new CannotRunError(`The ${what} ${path} cannot be read: ${fileProblem(error, 'there is no such file')}.`);
  }
}
