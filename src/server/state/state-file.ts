import { readdir, readFile, readlink, realpath, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { messageOf } from '../../delivery/delivery.ts';
import { FixtureError } from '../../fixture/fixture-error.ts';
import type { FixtureInput } from '../../fixture/parse-fixture.ts';
import type { StateKeeper } from '../../state/state-keeper.ts';
import { watchChanges } from '../../state/watch-changes.ts';
import { fileProblem } from '../file-problem.ts';
import { replaceFile } from './replace-file.ts';
import { StateFileError } from './state-file-error.ts';

/** How long changes are collected before they are written, in milliseconds. */
const WRITE_DELAY_MS = 100;

/** A file that keeps the data of a mailbox. */
export interface StateFile {
  /** Writes what has changed, and waits until it is written. @throws {StateFileError} if it cannot be written. */
  close(): Promise<void>;
}

/**
 * Loads the data of a mailbox from a file, if it exists, and writes them into it after each change.
 *
 * @throws {StateFileError} if the file cannot be read or written.
 */
export async function keepInFile(state: StateKeeper, file: string): Promise<StateFile> {
  const content = await readExisting(file);
  if (content !== undefined) loadContent(state, file, content);
  const target = await followLinks(file);
  await removeLeftovers(target);
  const writer = new Writer(target);
  // The first write shows at the start, and not at the first change, that the file cannot be written.
  await writer.write(state.export());
  const save = (fixture: FixtureInput) =>
    void writer.write(fixture).catch(({ message }) => process.emitWarning(message));
  const watcher = watchChanges(state, { delayMs: WRITE_DELAY_MS, save });
  return {
    async close() {
      watcher.flush();
      await writer.finish();
    },
  };
}

/** Removes files that an earlier process did not finish, if it does not run any more. */
async function removeLeftovers(file: string): Promise<void> {
  const folder = dirname(file);
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    const [, pid] = name.startsWith(`${basename(file)}.`) ? (/\.(\d+)\.part$/.exec(name) ?? []) : [];
    if (pid !== undefined && !isRunning(Number(pid))) await rm(join(folder, name), { force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

async function readExisting(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new StateFileError(`The state file ${file} cannot be read: ${fileProblem(error)}.`);
  }
}

/** Returns the file that a link leads to, which may not exist yet. A link itself would be replaced by a file. */
async function followLinks(file: string): Promise<string> {
  const target = await readlink(file).catch(() => undefined);
  return target === undefined ? file : followLinks(resolve(await realpath(dirname(file)), target));
}

function loadContent(state: StateKeeper, file: string, content: string): void {
  try {
    state.restoreData(JSON.parse(content));
  } catch (error) {
    if (error instanceof FixtureError) throw new StateFileError(`The state file ${file}: ${error.message}`);
    throw new StateFileError(`The state file ${file} cannot be loaded: ${messageOf(error)}.`);
  }
}

/** Writes one content after another; of those that wait, only the latest. */
class Writer {
  readonly #file: string;
  #waiting: FixtureInput | undefined;
  #running: Promise<void> | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  /** Resolves when this content or a later one is in the file. */
  write(fixture: FixtureInput): Promise<void> {
    this.#waiting = fixture;
    this.#running ??= this.#writeAll();
    return this.#running;
  }

  /** Resolves when everything is written. */
  async finish(): Promise<void> {
    await this.#running;
  }

  async #writeAll(): Promise<void> {
    try {
      while (this.#waiting) {
        const content = `${JSON.stringify(this.#waiting)}\n`;
        this.#waiting = undefined;
        await replaceFile(this.#file, content);
      }
    } catch (error) {
      throw new StateFileError(`The state file ${this.#file} cannot be written: ${fileProblem(error)}.`);
    } finally {
      this.#running = undefined;
    }
  }
}
