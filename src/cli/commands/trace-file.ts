import { NAME } from '../../basics/version.ts';
import { readRegularFile } from '../../server/regular-file.ts';
import { replaceFile } from '../../server/replace-file.ts';
import { CannotRunError, type GivenFlags, readText, type Terminal, UsageError } from '../command.ts';
import { explainWriteError } from '../files.ts';

/** Where `exec` writes a trace, and whether it does so also after a success. */
export interface TraceTarget {
  readonly path: string;
  readonly isAlways: boolean;
}

/**
 * Reads the flags `--trace` and `--trace-always`. Checks that the file is new or a trace.
 *
 * @throws {UsageError} if `--trace-always` is given without `--trace`. @throws {CannotRunError} if the file has something
 *   else in it.
 */
export async function parseTrace(flags: GivenFlags): Promise<TraceTarget | undefined> {
  const { trace, 'trace-always': always } = flags;
  const isAlways = always?.value === true;
  if (isAlways && trace === undefined) throw new UsageError(`${always.source} needs --trace <file>.`);
  const path = readText(trace);
  if (path === undefined) return undefined;
  // A file that does not exist, or that cannot be read, is not replaced without its permission.
  const text = await readRegularFile(path).then(String, () => undefined);
  if (text !== undefined && !/^\{"type":"trace",[^\n]*\}(?:\n|$)/.test(text)) {
    throw new CannotRunError(`The file ${path} is not a trace of ${NAME}; choose another file for --trace.`);
  }
  return { path, isAlways };
}

/** Writes a trace after a command has ended, if it failed or if that is wanted. The exit code does not change. */
export async function saveTrace(
  { err }: Terminal,
  target: TraceTarget | undefined,
  exitCode: number,
  read: () => Promise<string>,
): Promise<void> {
  if (!target || (exitCode === 0 && !target.isAlways)) return;
  const { path } = target;
  try {
    await replaceFile(path, [await read()]);
    err(`${NAME}: The trace is in ${path}; ${NAME} show ${path} prints what happened.`);
  } catch (error) {
    err(`${NAME}: ${explainWriteError(error, path).message}`);
  }
}
