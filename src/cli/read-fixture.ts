import { dirname } from 'node:path';
import { showSize } from '../contract/size.ts';
import { resolveMail } from '../server/mail-files/resolve-mail.ts';
import { CannotRunError } from './command.ts';
import { parseJsonc } from './jsonc.ts';
import { readNamedFile } from './read-file.ts';

/** The size of a fixture file from which loading it takes so long that the command says why, in bytes. */
const LARGE_FILE_BYTES = 20 * 1024 * 1024;

/**
 * Reads a fixture file, and the mail files that it names by paths relative to its folder. It parses the JSON only; the
 * mailbox validates the fixture. `say` is called if that will take long.
 *
 * @throws {CannotRunError} if a file cannot be read or is not JSON.
 */
export async function readFixture(path: string, say: (line: string) => void): Promise<unknown> {
  const bytes = await readNamedFile(path, 'fixture file');
  if (bytes.length >= LARGE_FILE_BYTES) {
    say(`Loading ${path} takes a while: it has ${showSize(bytes.length)}, and every part of it is checked and sorted.`);
  }
  try {
    return await resolveMail(parseJsonc(removeByteOrderMark(bytes.toString('utf8'))), dirname(path));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new CannotRunError(`The fixture file ${path} cannot be read as JSON: ${error.message}.`);
  }
}

/** Some editors on Windows write a byte order mark at the start of a file. */
function removeByteOrderMark(text: string): string {
  return text.replace(/^\uFEFF/, '');
}
