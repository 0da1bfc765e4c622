import { writeFile } from 'node:fs/promises';
import { NAME } from '../version.ts';
import type { RunCommand } from './command.ts';
import { DEFAULT_FIXTURE_FILE } from './find-fixture-file.ts';
import { STARTER_FIXTURE } from './starter-fixture.ts';
import { explainWriteError } from './write-error.ts';

/** Writes the starter fixture. */
export const init: RunCommand = async (terminal, _, file = DEFAULT_FIXTURE_FILE) => {
  await writeFile(file, STARTER_FIXTURE, { flag: 'wx' }).catch((error: unknown) => {
    throw explainWriteError(error, file);
  });
  const flags = file === DEFAULT_FIXTURE_FILE ? '' : ` --fixtures ${file}`;
  terminal.out(`Wrote ${file}. Change it, then run: ${NAME}${flags}`);
};
