import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/** Reads a regular file. @throws as `openRegularFile`. */
export async function readRegularFile(path: string): Promise<Buffer> {
  const handle = await openRegularFile(path);
  return handle.readFile().finally(() => handle.close());
}

/**
 * Opens a file, and refuses a pipe, a socket or a device with the code `ENXIO`: those might never end, or wait for
 * somebody who opens their other side. The kind is that of the open file, because the name can get another one.
 */
export async function openRegularFile(path: string): Promise<FileHandle> {
  // With this flag, which Windows has not, a pipe is opened without waiting. The system itself refuses a socket.
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  const stats = await handle.stat();
  if (stats.isFile()) return handle;
  await handle.close();
  const code = stats.isDirectory() ? 'EISDIR' : 'ENXIO';
  throw Object.assign(new Error(`${path} is not a regular file.`), { code, syscall: 'open' });
}
