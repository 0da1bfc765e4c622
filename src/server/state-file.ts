import { readdir, readlink, realpath, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { joinPieces } from '../basics/json-pieces.ts';
import { messageOf } from '../basics/named-error.ts';
import {
  createWholeState,
  type WholeFixture,
  type WholeParts,
  type WholeState,
  watchChanges,
} from '../control/state/state-keeper.ts';
import { FixtureError } from '../fixture/fixture-part.ts';
import { type FileLock, lockFile, StateFileError } from './file-lock.ts';
import { fileProblem, openRegularFile, readRegularFile } from './regular-file.ts';
import { replaceFile } from './replace-file.ts';
import { readLines, writeLines } from './state-lines.ts';

/** How long changes are collected before they are written, in milliseconds. */
const WRITE_DELAY_MS = 100;

/**
 * Loads the data of a mailbox from a file, if the file exists, and writes the data into the file after each change. No
 * other server can use the file at the same time.
 *
 * @throws {StateFileError} if the file cannot be read or written, or if another server has it.
 */
export async function keepInFile(context: WholeParts, file: string) {
  const state = createWholeState(context);
  // A path that cannot be a state file, such as a folder, is refused before a lock file is created.
  await readExisting(file, async (path) => (await openRegularFile(path)).close());
  const target = await followLinks(file);
  const lock = await lockFile(target).catch((error: unknown) => {
    throw explainWriteError(target, error);
  });
  try {
    const content = await readExisting(file, readRegularFile);
    if (content !== undefined) loadContent(state, file, content);
    await removeLeftovers(target);
    return await keepWriting(state, target, lock);
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** Writes the data now, and after each change. */
async function keepWriting(state: WholeState, target: string, lock: FileLock) {
  let writtenAt = new Date();
  const save = async (whole: WholeFixture) => {
    const startedAt = new Date();
    try {
      await lock.check();
      await replaceFile(target, joinPieces(writeLines(whole)));
    } catch (error) {
      throw explainWriteError(target, error);
    }
    writtenAt = startedAt;
  };
  // The data are written at the start, so that the start fails if the file cannot be written.
  await save(state.export());
  const onFailure = (error: unknown) =>
    process.emitWarning(`${messageOf(error)}. The write is repeated until it succeeds.`);
  const watcher = watchChanges(state, { delayMs: WRITE_DELAY_MS, save, onFailure });
  return {
    /**
     * Writes the changes that were not written yet, and releases the lock. @throws {StateFileError} if the file cannot
     * be written.
     */
    async close(): Promise<void> {
      try {
        await watcher.end();
      } catch (error) {
        throw new StateFileError(`${messageOf(error)}. All changes since ${writtenAt.toISOString()} are lost.`);
      } finally {
        await lock.release();
      }
    },
  };
}

/** Removes the unfinished files of earlier processes. This server has the lock, so no process still writes them. */
async function removeLeftovers(file: string): Promise<void> {
  const folder = dirname(file);
  // In a folder that cannot be read, nothing is removed. The server can still use the file.
  for (const name of await readdir(folder).catch(() => [])) {
    if (!name.startsWith(`${basename(file)}.`) || !/\.\d+\.part$/.test(name)) continue;
    // What cannot be removed does no harm: this server never writes to a name that exists.
    await rm(join(folder, name), { force: true }).catch(() => undefined);
  }
}

/** Reads a file by the function `read`. Returns `undefined` if the file does not exist. */
async function readExisting<Content>(
  file: string,
  read: (path: string) => Promise<Content>,
): Promise<Content | undefined> {
  try {
    return await read(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new StateFileError(`The state file ${file} cannot be read: ${fileProblem(error)}.`);
  }
}

function explainWriteError(file: string, error: unknown): StateFileError {
  if (error instanceof StateFileError) return error;
  return new StateFileError(`The state file ${file} cannot be written: ${fileProblem(error)}.`);
}

/**
 * Returns the file to which a link leads, even if that file does not exist yet. This file must be written, because a
 * write to the path of the link would replace the link.
 */
async function followLinks(file: string): Promise<string> {
  const target = await readlink(file).catch(() => undefined);
  return target === undefined ? file : followLinks(resolve(await realpath(dirname(file)), target));
}

function loadContent(state: WholeState, file: string, content: Buffer): void {
  try {
    state.restoreData(readLines(content));
  } catch (error) {
    if (error instanceof FixtureError) throw new StateFileError(`The state file ${file}: ${error.message}`);
    throw new StateFileError(`The state file ${file} cannot be loaded: ${messageOf(error)}.`);
  }
}
