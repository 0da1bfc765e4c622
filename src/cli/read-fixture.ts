import { readFile } from 'node:fs/promises';
import { FixtureError } from '../contract/fixture.ts';
import { CannotRunError } from './command.ts';
import { parseJsonc } from './jsonc.ts';

/**
 * Reads a fixture file; whether it is a valid fixture is for the mailbox to say.
 *
 * @throws {CannotRunError} when the file cannot be read or is not JSON.
 */
export async function readFixture(path: string): Promise<unknown> {
  try {
    return parseJsonc(withoutMark(await readFile(path, 'utf8')));
  } catch (error) {
    if (error instanceof SyntaxError) {
      throw new CannotRunError(`The fixture file ${path} cannot be read as JSON: ${error.message}.`);
    }
    const { code } = error as NodeJS.ErrnoException;
    throw new CannotRunError(`The fixture file ${path} cannot be read: ${READ_PROBLEMS[code ?? ''] ?? code}.`);
  }
}

/** Says which file an invalid fixture is in; other errors stay as they are. */
export function explainFixtureError(error: unknown, path: string): unknown {
  return error instanceof FixtureError ? new CannotRunError(`${path}: ${error.message}`) : error;
}

const READ_PROBLEMS: Record<string, string> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a directory',
  EACCES: 'permission denied',
};

/** Editors on Windows put a byte order mark before the JSON. */
function withoutMark(text: string): string {
  return text.replace(/^\uFEFF/, '');
}
