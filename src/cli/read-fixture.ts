import { readFile } from 'node:fs/promises';
import type { NamedFixture } from '../contract/fixture-keys.ts';

/** Thrown when the command cannot run; the message is for the person at the terminal. */
export class CannotRunError extends Error {
  override readonly name = 'CannotRunError';
}

/**
 * Reads a fixture file; whether it is a valid fixture is for the mailbox to say.
 *
 * @throws {CannotRunError} when the file cannot be read or is not JSON.
 */
export async function readFixture(path: string): Promise<NamedFixture> {
  try {
    return JSON.parse(withoutMark(await readFile(path, 'utf8')));
  } catch (error) {
    if (error instanceof SyntaxError) {
      throw new CannotRunError(`The fixture file ${path} is not JSON: ${onOneLine(error.message)}.`);
    }
    const { code } = error as NodeJS.ErrnoException;
    throw new CannotRunError(`The fixture file ${path} cannot be read: ${READ_PROBLEMS[code ?? ''] ?? code}.`);
  }
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

/** The message of a syntax error quotes the file, line ends and all. */
function onOneLine(message: string): string {
  return message.replace(/\s+/g, ' ');
}
