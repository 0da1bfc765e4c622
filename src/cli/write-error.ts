import { CannotRunError } from './command.ts';

const WRITE_PROBLEMS: Record<string, string> = {
  EEXIST: 'it exists already; choose another name',
  ENOENT: 'there is no such folder',
  ENOTDIR: 'there is no such folder',
  EISDIR: 'it is a directory',
  EACCES: 'permission denied',
};

/** Turns the error of a write into an error for the user that names the file. */
export function explainWriteError(error: unknown, file: string): CannotRunError {
  const { code, message } = error as NodeJS.ErrnoException;
  return new CannotRunError(`The file ${file} cannot be written: ${WRITE_PROBLEMS[code ?? ''] ?? code ?? message}.`);
}
