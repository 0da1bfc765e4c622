import { fileProblem } from '../server/file-problem.ts';
import { CannotRunError } from './command.ts';

/** Turns the error of a write into an error for the user that names the file. */
export function explainWriteError(error: unknown, file: string): CannotRunError {
  return new CannotRunError(`The file ${file} cannot be written: ${fileProblem(error)}.`);
}
