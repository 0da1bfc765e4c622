import { FixtureError } from '../fixture/parse-fixture.ts';
import { CannotRunError } from './command.ts';
import { parseJsonc } from './jsonc.ts';
import { readNamedFile } from './read-file.ts';

/**
 * Reads a fixture file; whether it is a valid fixture is for the mailbox to say.
 *
 * @throws {CannotRunError} when the file cannot be read or is not JSON.
 */
export async function readFixture(path: string): Promise<unknown> {
  const text = (await readNamedFile(path, 'fixture file')).toString('utf8');
  try {
    return parseJsonc(withoutMark(text));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new CannotRunError(`The fixture file ${path} cannot be read as JSON: ${error.message}.`);
  }
}

/** Says which file an invalid fixture is in; other errors stay as they are. */
export function explainFixtureError(error: unknown, path: string): unknown {
  return error instanceof FixtureError ? new CannotRunError(`${path}: ${error.message}`) : error;
}

/** Editors on Windows put a byte order mark before the JSON. */
function withoutMark(text: string): string {
  return text.replace(/^\uFEFF/, '');
}
