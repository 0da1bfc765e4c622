import { readFile } from 'node:fs/promises';
import { CannotRunError } from './command.ts';

const READ_PROBLEMS: Record<string, string> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a directory',
  EACCES: 'permission denied',
};

/**
 * Reads a file that the user named; `what` is the kind of file, for the error message.
 *
 * @throws {CannotRunError} if it cannot be read.
 */
export async function readNamedFile(path: string, what = 'file'): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CannotRunError(`The ${what} ${path} cannot be read: ${READ_PROBLEMS[code ?? ''] ?? code}.`);
  }
}
