import { lstat, rm } from 'node:fs/promises';
import { NAME } from '../basics/version.ts';
import { readRegularFile } from '../server/regular-file.ts';
import { replaceFile } from '../server/replace-file.ts';
import { CannotRunError } from './command.ts';
import type { Variables } from './commands/connection-variables.ts';
import { explainWriteError } from './files.ts';

/** The first line of the file. An existing file is replaced only if it is empty or begins with this line. */
const FIRST_LINE = `# Written by ${NAME}, which removes this file when it ends.\n`;

/**
 * Writes variables into a file that only this user can read. When the result is disposed, the file is removed, unless
 * another process has replaced it.
 *
 * @throws {CannotRunError} if the file cannot be written, or if another program has written a file with this name.
 */
export async function writeEnvFile(path: string, variables: Variables): Promise<AsyncDisposable> {
  const lines = Object.entries(variables).flatMap(([name, value]) => (value === undefined ? [] : `${name}=${value}\n`));
  const text = FIRST_LINE + lines.join('');
  if (!(await mayReplace(path))) {
    throw new CannotRunError(`The file ${path} was not written by ${NAME}; choose another name for --env-file.`);
  }
  await replaceFile(path, text).catch((error: unknown) => {
    throw explainWriteError(error, path);
  });
  return {
    async [Symbol.asyncDispose]() {
      if ((await readIfPossible(path)) === text) await rm(path, { force: true });
    },
  };
}

async function mayReplace(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => undefined);
  if (stats === undefined) return true;
  // Only a regular file is read, because a read of a pipe might never end.
  const text = stats.isFile() ? await readIfPossible(path) : undefined;
  return text === '' || text?.startsWith(FIRST_LINE) === true;
}

function readIfPossible(path: string): Promise<string | undefined> {
  return readRegularFile(path).then(String, () => undefined);
}
