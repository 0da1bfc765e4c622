import type { FileHandle } from 'node:fs/promises';
import { parseForeignJson } from '../../basics/foreign-json.ts';
import { NAME } from '../../basics/version.ts';
import { TRACE_VERSION, type TraceLine, traceLine } from '../../control/trace.ts';
import { openRegularFile } from '../../server/regular-file.ts';
import { CannotRunError } from '../command.ts';

/**
 * Reads a trace, many lines at a time, because it may be long. The first line of the first part is the header. Lines of a
 * type that this version does not know are left out.
 *
 * @throws {CannotRunError} if the file cannot be read, or is no trace of this format.
 */
export async function* readTrace(file: string): AsyncGenerator<TraceLine[], void> {
  const handle = await openTrace(file);
  try {
    let number = 0;
    let hasHeader = false;
    for await (const text of readWholeLines(handle, file)) {
      const lines: TraceLine[] = [];
      for (const each of text.split('\n')) {
        number += 1;
        const line = each.trim() === '' ? undefined : parseLine(each, number, file);
        if (!line) continue;
        if (!hasHeader && line.type !== 'trace') throw withoutHeader(file);
        hasHeader = true;
        lines.push(line);
      }
      // A text ends with a line break, unless it is the last one.
      if (text.endsWith('\n')) number -= 1;
      yield lines;
    }
    if (!hasHeader) throw withoutHeader(file);
  } finally {
    await handle.close();
  }
}

/** Opens the file of a trace. @throws {CannotRunError} if it cannot be opened. */
async function openTrace(file: string): Promise<FileHandle> {
  return openRegularFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new CannotRunError(`The trace ${file} cannot be read: ${error.message}.`);
  });
}

function withoutHeader(file: string): CannotRunError {
  return new CannotRunError(`The file ${file} is not a trace of ${NAME}: its first line must have the type "trace".`);
}

/** How many bytes are read at a time. */
const READ_BYTES = 1024 * 1024;

/** A longer line is refused. A trace with the bytes of a mail of the largest size has shorter ones. */
const MAX_LINE_BYTES = 256 * 1024 * 1024;

/** Reads a file as texts, each of which ends with a line break, except perhaps the last. */
async function* readWholeLines(handle: FileHandle, file: string): AsyncGenerator<string, void> {
  let start: Buffer[] = [];
  let startBytes = 0;
  for (;;) {
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(READ_BYTES), 0, READ_BYTES);
    if (bytesRead === 0) break;
    const read = buffer.subarray(0, bytesRead);
    const end = read.lastIndexOf('\n') + 1;
    if (end > 0) {
      yield Buffer.concat([...start, read.subarray(0, end)]).toString();
      start = [];
      startBytes = 0;
    }
    start.push(read.subarray(end));
    startBytes += bytesRead - end;
    if (startBytes > MAX_LINE_BYTES) {
      const limit = MAX_LINE_BYTES / 1024 / 1024;
      throw new CannotRunError(`The file ${file} is not a trace of ${NAME}: it has a line of more than ${limit} MiB.`);
    }
  }
  if (startBytes > 0) yield Buffer.concat(start).toString();
}

/** Parses a line. A line of a type that this version does not know is skipped. */
function parseLine(line: string, number: number, file: string): TraceLine | undefined {
  let value: unknown;
  try {
    value = parseForeignJson(line);
  } catch {
    throw new CannotRunError(`The file ${file} is not a trace of ${NAME}: line ${number} is not JSON.`);
  }
  const { type, version } = Object(value) as { readonly type?: unknown; readonly version?: unknown };
  if (type === 'trace' && Number(version) > TRACE_VERSION) {
    throw new CannotRunError(
      `The trace ${file} has the version ${version}, and this ${NAME} reads up to ${TRACE_VERSION}; use a newer one.`,
    );
  }
  const isKnown = traceLine().options.some(({ shape }) => shape.type.value === type);
  if (typeof type === 'string' && !isKnown) return undefined;
  const parsed = traceLine().safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path.join('.') || 'it';
  throw new CannotRunError(`The file ${file} is not a trace of ${NAME}: line ${number}: ${path}: ${issue?.message}.`);
}
