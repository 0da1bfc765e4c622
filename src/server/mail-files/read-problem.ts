import { messageOf } from '../../delivery/delivery.ts';

const READ_PROBLEMS: Record<string, string> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a directory',
  EACCES: 'permission denied',
};

/** Says why a file cannot be read, as the end of a sentence. */
export function readProblem(error: unknown): string {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall === undefined || code === undefined) return messageOf(error);
  return READ_PROBLEMS[code] ?? code;
}
