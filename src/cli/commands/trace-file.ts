import { NAME } from '../../basics/version.ts';
import { type GivenFlags, readText, type Terminal, UsageError } from '../command.ts';
import { checkOutput, OUTPUT_KINDS, type OutputOptions, readForce, writeOutput } from '../output-file.ts';

/** Where `exec` writes a trace, and whether it does so also after a success. */
export interface TraceTarget extends OutputOptions {
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
  const { force } = readForce(flags);
  await checkOutput(path, OUTPUT_KINDS.trace, { force });
  return { path, isAlways, force };
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
    await writeOutput(path, OUTPUT_KINDS.trace, [await read()], target);
    err(`${NAME}: The trace is in ${path}; npx ${NAME} show ${path} prints what happened.`);
  } catch (error) {
    err(`${NAME}: ${(error as Error).message}`);
  }
}
