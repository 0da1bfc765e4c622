import { randomUUID } from 'node:crypto';
import { readdir, readlink, realpath, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { toJsonPieces } from '../basics/json-pieces.ts';
import { messageOf } from '../basics/named-error.ts';
import { createWholeState, type WholeParts, type WholeState, watchChanges } from '../control/state/state-keeper.ts';
import { FixtureError } from '../fixture/fixture-part.ts';
import { type FileLock, lockFile, StateFileError } from './file-lock.ts';
import { fileProblem, openRegularFile, readRegularFile } from './regular-file.ts';
import { replaceFile } from './replace-file.ts';

/** How long changes are collected before they are written, in milliseconds. */
const WRITE_DELAY_MS = 100;

/**
 * Loads the data of a mailbox from a file, if the file exists, and writes the data into the file after each change. No
 * other server can use the file at the same time.
 *
 * @throws {StateFileError} if the file cannot be read or written, or if another server has it.
 */
export async function keepInFile(context: WholeParts, file: string) {
  const state = createWholeState(context);
  // A path that cannot be a state file, such as a folder, is refused before a lock file is created.
  await readExisting(file, async (path) => (await openRegularFile(path)).close());
  const target = await followLinks(file);
  const lock = await lockFile(target).catch((error: unknown) => {
    throw explainWriteError(target, error);
  });
  try {
    const content = await readExisting(file, readRegularFile);
    if (content !== undefined) loadContent(state, file, content as Buffer);
    await removeLeftovers(target);
    return await keepWriting(state, target, lock);
  } catch (error) {
    await lock.release();
    throw error;
  }
}

function* toJsonLine(value: unknown): Generator<string> {
  yield* toJsonPieces(value);
  yield '\n';
}

/** Writes the data now, and after each change. */
async function keepWriting(state: WholeState, target: string, lock: FileLock) {
  let writtenAt = new Date();
  const save = async (fixture: object) => {
    const startedAt = new Date();
    try {
      await lock.check();
      await replaceFile(target, toJsonLine(fixture));
    } catch (error) {
      throw explainWriteError(target, error);
    }
    writtenAt = startedAt;
  };
  // The data are written at the start, so that the start fails if the file cannot be written.
  await save(state.export());
  const onFailure = (error: unknown) =>
    process.emitWarning(`${messageOf(error)}. The write is repeated until it succeeds.`);
  const watcher = watchChanges(state, { delayMs: WRITE_DELAY_MS, save, onFailure });
  return {
    /**
     * Writes the changes that were not written yet, and releases the lock. @throws {StateFileError} if the file cannot
     * be written.
     */
    async close(): Promise<void> {
      try {
        await watcher.end();
      } catch (error) {
        throw new StateFileError(`${messageOf(error)}. All changes since ${writtenAt.toISOString()} are lost.`);
      } finally {
        await lock.release();
      }
    },
  };
}

/** Removes the unfinished files of earlier processes. This server has the lock, so no process still writes them. */
async function removeLeftovers(file: string): Promise<void> {
  const folder = dirname(file);
  for (const name of await readdir(folder).catch(() => [])) {
    if (!name.startsWith(`${basename(file)}.`) || !/\.\d+\.part$/.test(name)) continue;
    await rm(join(folder, name), { force: true });
  }
}

/** Reads a file by the function `read`. Returns `undefined` if the file does not exist. */
async function readExisting(file: string, read: (path: string) => Promise<unknown>): Promise<unknown> {
  try {
    return await read(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new StateFileError(`The state file ${file} cannot be read: ${fileProblem(error)}.`);
  }
}

function explainWriteError(file: string, error: unknown): StateFileError {
  if (error instanceof StateFileError) return error;
  return new StateFileError(`The state file ${file} cannot be written: ${fileProblem(error)}.`);
}

/**
 * Returns the file to which a link leads, even if that file does not exist yet. This file must be written, because a
 * write to the path of the link would replace the link.
 */
async function followLinks(file: string): Promise<string> {
  const target = await readlink(file).catch(() => undefined);
  return target === undefined ? file : followLinks(resolve(await realpath(dirname(file)), target));
}

function loadContent(state: WholeState, file: string, content: Buffer): void {
  try {
    state.restoreData(parseState(content) as never);
  } catch (error) {
    if (error instanceof FixtureError) throw new StateFileError(`The state file ${file}: ${error.message}`);
    throw new StateFileError(`The state file ${file} cannot be loaded: ${messageOf(error)}.`);
  }
}

/** The kinds of rows that contain bytes, each with the name of the field of these bytes. */
const BYTE_FIELDS = Object.entries({ messages: 'raw', attachments: 'content' });

/** A text that is shorter than this is parsed with the rest of the JSON. */
const MIN_LENGTH = 1024;

interface State {
  readonly tenants?: Readonly<Record<string, { readonly rows?: Readonly<Record<string, unknown>> } | null>> | null;
}

/**
 * Parses the JSON of a state. The bytes of mail are first cut out of the JSON and decoded one after another, because
 * the texts of all mails together could need more memory than the heap has.
 */
export function parseState(json: Buffer): unknown {
  const bytesByPlaceholder = new Map<unknown, Uint8Array>();
  const pieces: Buffer[] = [];
  let copiedUntil = 0;
  for (const { start, stop } of findLongFields(json)) {
    const base64 = json.toString('latin1', start, stop);
    if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64) || base64.length % 4 > 0) continue;
    const placeholder = randomUUID();
    bytesByPlaceholder.set(placeholder, new Uint8Array(Buffer.from(base64, 'base64')));
    pieces.push(json.subarray(copiedUntil, start), Buffer.from(placeholder));
    copiedUntil = stop;
  }
  const state: unknown = JSON.parse(Buffer.concat([...pieces, json.subarray(copiedUntil)]).toString());
  restoreBytes(state as State | null, bytesByPlaceholder);
  // If some bytes are left, their placeholder is not in a row. Another object, such as the metadata of an inbox, has a
  // field of the same name. Then the whole JSON is parsed as it is.
  return bytesByPlaceholder.size > 0 ? JSON.parse(json.toString()) : state;
}

/** Finds the positions of long texts in the fields that may contain bytes. They are sorted by their start. */
function findLongFields(json: Buffer): { readonly start: number; readonly stop: number }[] {
  const found: { readonly start: number; readonly stop: number }[] = [];
  for (const [, name] of BYTE_FIELDS) {
    const field = `"${name}":"`;
    for (let index = json.indexOf(field); index >= 0; index = json.indexOf(field, index + 1)) {
      const start = index + field.length;
      const stop = json.indexOf('"', start);
      if (stop - start >= MIN_LENGTH) found.push({ start, stop });
    }
  }
  return found.sort((one, other) => one.start - other.start);
}

/** Replaces each placeholder in the rows by its bytes, and removes the placeholder from `bytesByPlaceholder`. */
function restoreBytes(state: State | null, bytesByPlaceholder: Map<unknown, Uint8Array>): void {
  const tenants = Object.values(state?.tenants ?? {});
  for (const [kind, field] of BYTE_FIELDS) {
    const rows = tenants.flatMap((tenant) => tenant?.rows?.[kind] ?? []) as (Record<string, unknown> | null)[];
    for (const row of rows) {
      const bytes = bytesByPlaceholder.get(row?.[field]);
      if (!row || !bytes) continue;
      bytesByPlaceholder.delete(row[field]);
      row[field] = bytes;
    }
  }
}
