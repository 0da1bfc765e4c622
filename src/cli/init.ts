import { writeFile } from 'node:fs/promises';
import { NAME } from '../version.ts';
import { CannotRunError, type RunCommand } from './command.ts';
import { DEFAULT_FIXTURE_FILE } from './find-fixture-file.ts';
import { STARTER_FIXTURE } from './starter-fixture.ts';

/** Writes the starter fixture. */
export const init: RunCommand = async (terminal, _, file = DEFAULT_FIXTURE_FILE) => {
  await writeNewFile(file, STARTER_FIXTURE);
  const flags = file === DEFAULT_FIXTURE_FILE ? '' : ` --fixtures ${file}`;
  terminal.out(`Wrote ${file}. Change it, then run: ${NAME}${flags}`);
};

const WRITE_PROBLEMS: Record<string, string> = {
  EEXIST: 'it exists already; choose another name',
  ENOENT: 'there is no such folder',
  ENOTDIR: 'there is no such folder',
  EACCES: 'permission denied',
};

async function writeNewFile(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { flag: 'wx' });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CannotRunError(`The file ${file} cannot be written: ${WRITE_PROBLEMS[code ?? ''] ?? code}.`);
  }
}
