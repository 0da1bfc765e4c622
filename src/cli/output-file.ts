import type { Stats } from 'node:fs';
import { access, constants, lstat, realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { JUNIT_MARK, PAGE_MARK } from '../basics/written-by.ts';
import { openRegularFile } from '../server/regular-file.ts';
import { replaceFile } from '../server/replace-file.ts';
import { CannotRunError, type GivenFlags } from './command.ts';
import { explainWriteError } from './files.ts';

/** A kind of file that a command writes. */
export interface OutputKind {
  /** Returns whether a file was written by this program, by the start of its text: at most 1 MiB. */
  isOwn(start: string): boolean;
  /** Whether the file has mails or keys, so that only this user may read it. */
  readonly isPrivate: boolean;
}

/** What people change by hand is never taken for a file of the command. */
const never = () => false;

/** The kinds of files that commands write where a flag or an argument says. */
export const OUTPUT_KINDS = {
  page: {
    isOwn: (start) => /^<!doctype html>/i.test(start) && start.slice(0, 4096).includes(PAGE_MARK),
    isPrivate: true,
  },
  junit: {
    isOwn: (start) => start.startsWith('<?xml ') && start.slice(0, 1024).includes(JUNIT_MARK),
    isPrivate: true,
  },
  trace: {
    isOwn: (start) => /^\{"type":"trace",[^\n]*"writtenBy":\{"name":"agent-mailbox-mock"/.test(start),
    isPrivate: true,
  },
  profile: {
    // `verify` says what it has found, and when. A profile without that may have been written by hand.
    isOwn: (start) => ['behaviours', 'found'].every((name) => typeof fieldOf(start, name) === 'object'),
    isPrivate: false,
  },
  /** What people change by hand, such as a fixture: an existing one is kept. */
  handMade: {
    isOwn: never,
    isPrivate: false,
  },
} as const satisfies Record<string, OutputKind>;

function fieldOf(text: string, name: string): unknown {
  try {
    return (JSON.parse(text) as Readonly<Record<string, unknown>> | null)?.[name] ?? undefined;
  } catch {
    return undefined;
  }
}

/** How a file may be written. */
export interface OutputOptions {
  /** Whether a file that this program did not write is replaced too: the flag `--force`. */
  readonly force: boolean;
}

/** Reads the flag `--force`. */
export function readForce({ force }: GivenFlags): OutputOptions {
  return { force: force?.value === true };
}

/** How much of a file is read to recognise it, in bytes. */
const START_BYTES = 1024 * 1024;

/**
 * Checks that a file can be written without a loss: that it is new or empty, or that this program wrote it. A command
 * that works for long calls this before it begins.
 *
 * @throws {CannotRunError} in a sentence that names the file, if it may not be replaced or cannot be written.
 */
export async function checkOutput(file: string, kind: OutputKind, options: OutputOptions): Promise<void> {
  await findTarget(file, kind, options);
}

/**
 * Writes a file that a flag or an argument names. It is written beside its place and then renamed, so that it is whole at
 * every moment. A link keeps its place, and the file that it names is replaced.
 *
 * @throws {CannotRunError} as `checkOutput`.
 */
export async function writeOutput(
  file: string,
  kind: OutputKind,
  content: string | Iterable<string>,
  options: OutputOptions,
): Promise<void> {
  const { target, mode } = await findTarget(file, kind, options);
  await replaceFile(target, content, mode).catch((error: unknown) => {
    throw explainWriteError(error, file);
  });
}

/** Returns the file that a path leads to, and the mode in which it is written. */
async function findTarget(file: string, kind: OutputKind, { force }: OutputOptions) {
  const newMode = kind.isPrivate ? 0o600 : 0o666 & ~process.umask();
  try {
    const isThere = await lstat(file).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return false;
        throw error;
      },
    );
    if (!isThere) {
      await access(dirname(file), constants.W_OK);
      return { target: file, mode: newMode };
    }
    const target = await realpath(file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      throw new CannotRunError(`The file ${file} cannot be written: it is a link to a file that does not exist.`);
    });
    const { stats, start } = await readStart(target);
    if ((stats.mode & 0o222) === 0) {
      throw new CannotRunError(`The file ${file} cannot be written: it may only be read; choose another name.`);
    }
    await access(dirname(target), constants.W_OK);
    if (!force && start !== '' && !kind.isOwn(start)) {
      const problem =
        kind.isOwn === never ? 'cannot be written: it exists already' : 'exists, and this command did not write it';
      throw new CannotRunError(`The file ${file} ${problem}; choose another name, or replace it with --force.`);
    }
    return { target, mode: kind.isPrivate ? 0o600 : stats.mode & 0o777 };
  } catch (error) {
    throw error instanceof CannotRunError ? error : explainWriteError(error, file);
  }
}

/** Reads the start of a regular file. A directory, a pipe, a socket or a device is refused. */
async function readStart(target: string): Promise<{ readonly stats: Stats; readonly start: string }> {
  const handle = await openRegularFile(target);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(START_BYTES), 0, START_BYTES, 0);
    return { stats: await handle.stat(), start: buffer.toString('utf8', 0, bytesRead).replace(/^\uFEFF/, '') };
  } finally {
    await handle.close();
  }
}
