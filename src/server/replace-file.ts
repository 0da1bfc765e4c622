import { randomUUID } from 'node:crypto';
import { open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Replaces the content of a file. Even if the process or the machine stops, the file has either the old or the new
 * content, because the new content is first written to a temporary file, which is then renamed to `file`. Only the user
 * of this process can read the file. The name of the temporary file contains the process id, so that a person can see
 * which process did not finish.
 */
export async function replaceFile(file: string, content: string | Iterable<string>): Promise<void> {
  const temporaryFile = `${file}.${randomUUID()}.${process.pid}.part`;
  try {
    await writeToDisk(temporaryFile, content);
    await rename(temporaryFile, file);
  } catch (error) {
    await rm(temporaryFile, { force: true });
    throw error;
  }
  await syncFolder(dirname(file));
}

async function writeToDisk(file: string, content: string | Iterable<string>): Promise<void> {
  // The flag `wx` refuses a file that exists already. It could be a link to another file, created by another process.
  const handle = await open(file, 'wx', 0o600);
  try {
    await writeFile(handle, content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Writes the new name of the file to the disk. An error is ignored, because some systems cannot sync a folder. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}
