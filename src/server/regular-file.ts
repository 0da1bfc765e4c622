import { closeSync, constants, fstatSync, openSync, promises, readFileSync, type Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { messageOf } from '../basics/named-error.ts';

/** Reads a regular file. @throws as `openRegularFile`. */
export async function readRegularFile(path: string): Promise<Buffer> {
  const handle = await openRegularFile(path);
  return handle.readFile().finally(() => handle.close());
}

/** Reads a small regular file at once. @throws as `openRegularFile`. */
export function readRegularFileSync(path: string): Buffer {
  const descriptor = openSync(path, FLAGS);
  try {
    checkRegular(path, fstatSync(descriptor));
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** With O_NONBLOCK, opening a pipe does not wait. Windows does not have this flag. Opening a socket fails by itself. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/**
 * Opens a file. Refuses a pipe, a socket or a device with the code `ENXIO`, because reading from it might never end.
 * The kind of the file is checked after the file was opened, because another file can get the same name at any time.
 */
export async function openRegularFile(path: string): Promise<FileHandle> {
  const handle = await promises.open(path, FLAGS);
  try {
    checkRegular(path, await handle.stat());
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function checkRegular(path: string, stats: Stats): void {
  if (stats.isFile()) return;
  const code = stats.isDirectory() ? 'EISDIR' : 'ENXIO';
  throw Object.assign(new Error(`${path} is not a regular file.`), { code, syscall: 'open' });
}

/** The reasons in plain words, by the error code of Node. */
const PROBLEMS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EDQUOT: 'your share of the disk is full',
  EEXIST: 'it exists already; choose another name',
  EFBIG: 'it would be larger than this process may write',
  EISDIR: 'it is a directory',
  ELOOP: 'it is a link that leads to itself',
  ENAMETOOLONG: 'its name is too long',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'there is no such folder',
  ENXIO: 'it is a pipe, a socket or a device; name a regular file instead',
  EPERM: 'permission denied',
  EROFS: 'the disk can only be read',
};

/**
 * Returns the reason why a file cannot be read or written, in plain words. `missing` is the reason if the file does not
 * exist. The default is for writing, because a missing file can be written if its folder exists.
 */
export function fileProblem(error: unknown, missing = 'there is no such folder'): string {
  const { code = '', syscall } = error as NodeJS.ErrnoException;
  if (syscall === undefined) return messageOf(error);
  return code === 'ENOENT' ? missing : (PROBLEMS[code] ?? code);
}
