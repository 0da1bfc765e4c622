import { messageOf } from '../delivery/delivery.ts';

const PROBLEMS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EEXIST: 'it exists already; choose another name',
  EISDIR: 'it is a directory',
  ELOOP: 'it is a link that leads to itself',
  ENAMETOOLONG: 'its name is too long',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'there is no such folder',
  EPERM: 'permission denied',
  EROFS: 'the disk can only be read',
};

/** Says why a file cannot be read or written, without the words of the system. `missing` is for a file that is not there. */
export function fileProblem(error: unknown, missing = 'there is no such folder'): string {
  const { code = '', syscall } = error as NodeJS.ErrnoException;
  if (syscall === undefined) return messageOf(error);
  return code === 'ENOENT' ? missing : (PROBLEMS[code] ?? code);
}
