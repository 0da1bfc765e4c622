import { CannotRunError } from './command.ts';
import { parseJsonc } from './jsonc.ts';
import { readNamedFile } from './read-file.ts';

/**
 * Reads a fixture file. It parses the JSON only; the mailbox validates the fixture.
 *
 * @throws {CannotRunError} if the file cannot be read or is not JSON.
 */
export async function readFixture(path: string): Promise<unknown> {
  const text = (await readNamedFile(path, 'fixture file')).toString('utf8');
  try {
    return parseJsonc(removeByteOrderMark(text));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new CannotRunError(`The fixture file ${path} cannot be read as JSON: ${error.message}.`);
  }
}

/** Some editors on Windows write a byte order mark at the start of a file. */
function removeByteOrderMark(text: string): string {
  return text.replace(/^\uFEFF/, '');
}
