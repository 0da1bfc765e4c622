import { messageOf } from '../delivery/delivery.ts';

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

/** Says why a file cannot be read or written, without the words of the system. `missing` is for a file that is not there. */
export function fileProblem(error: unknown, missing = 'there is no such folder'): string {
  const { code = '', syscall } = error as NodeJS.ErrnoException;
  if (syscall === undefined) return messageOf(error);
  return code === 'ENOENT' ? missing : (PROBLEMS[code] ?? code);
}
