import { randomUUID } from 'node:crypto';
import { closeSync, fsync, openSync, renameSync, rmSync, writeFile } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

const writeTo = promisify(writeFile);
const sync = promisify(fsync);

/** The permissions of a file that only its user can read and write. */
const PRIVATE_MODE = 0o600;

/**
 * Replaces the content of a file. Even if the process or the machine stops, the file has either the old or the new
 * content, because the new content is first written to a temporary file, which is then renamed to `file`. By default,
 * only the user of this process can read the file. The name of the temporary file contains the process id, so that a person can see
 * which process did not finish.
 *
 * Only what takes long is asynchronous. Each other asynchronous call would wait for its turn in a busy event loop, and
 * what has changed since would not be in the file for so much longer.
 */
export async function replaceFile(
  file: string,
  content: string | Iterable<string>,
  mode: number = PRIVATE_MODE,
): Promise<void> {
  const temporaryFile = `${file}.${randomUUID()}.${process.pid}.part`;
  try {
    await writeToDisk(temporaryFile, content, mode);
    renameSync(temporaryFile, file);
  } catch (error) {
    rmSync(temporaryFile, { force: true });
    throw error;
  }
  // The file itself is on the disk already, and some systems cannot sync a folder.
  await syncFolder(dirname(file)).catch(() => undefined);
}

async function writeToDisk(file: string, content: string | Iterable<string>, mode: number): Promise<void> {
  // The flag `wx` refuses a file that exists already. It could be a link to another file, created by another process.
  const descriptor = openSync(file, 'wx', mode);
  try {
    for (const piece of typeof content === 'string' ? [content] : content) await writeTo(descriptor, piece);
    await sync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Writes the new name of a file in a folder to the disk. */
async function syncFolder(folder: string): Promise<void> {
  const descriptor = openSync(folder, 'r');
  try {
    await sync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
