import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync, statSync } from 'node:fs';
import { rename, rm, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { createNameCheck } from '../basics/named-error.ts';
import { clearInterval, setInterval, setTimeout } from '../basics/real-timers.ts';
import { readRegularFileSync } from './regular-file.ts';

/** Thrown when a state file cannot be read or written. */
export class StateFileError extends Error {
  /** Recognises the error by its name, also if it comes from a second copy of this package. */
  static override readonly [Symbol.hasInstance] = createNameCheck('StateFileError');
  override readonly name = 'StateFileError';
}

/** The interval at which the holder of a lock updates the time of the lock file. */
const TOUCH_INTERVAL_MS = 1_000;

/** A holder whose process cannot be looked up counts as ended if the lock file is not updated for this time. */
const STALE_MS = 5_000;

/** The server that has a lock, as the lock file describes it. */
interface Holder {
  /** A text that no other lock has. */
  readonly token: string;
  readonly host: string;
  readonly pid: number;
  /** The running system, and the namespace of process ids to which `pid` belongs. */
  readonly machine: string;
  /** When the process started. A later process with the same id has another start time. */
  readonly startTime: string | undefined;
}

/** A lock that this server has. */
export type FileLock = Awaited<ReturnType<typeof lockFile>>;

/**
 * Locks a file, so that no other server uses it: in this process, on this machine, or on another machine that shares
 * the folder. The lock of a server that has ended is replaced: at once if that server ran on this machine, otherwise
 * when its lock file has not been updated for some seconds.
 *
 * @throws {StateFileError} if another server has the file.
 */
export async function lockFile(file: string) {
  const { pid } = process;
  const own: Holder = { token: randomUUID(), host: hostname(), pid, machine: machineId(), startTime: startTimeOf(pid) };
  const path = `${file}.lock`;
  await takeLock(path, own, file);
  /** Checks that this server still has the lock. @throws {StateFileError} if another server has it. */
  const check = async () => {
    const holder = readHolder(path);
    // There is no holder if, for example, a person has deleted the lock file. This server then locks the file again.
    if (holder === undefined) await takeLock(path, own, file);
    else if (holder.token !== own.token) throw createInUseError(file, holder);
  };
  const touch = () => check().then(() => utimes(path, new Date(), new Date()));
  // An error is not reported here, because the next write fails with the same error and reports it.
  const timer = setInterval(() => Promise.allSettled([touch()]), TOUCH_INTERVAL_MS).unref();
  return {
    check,
    async release() {
      clearInterval(timer);
      if (readHolder(path)?.token === own.token) await rm(path, { force: true });
    },
  };
}

/** Takes a lock that is free or whose holder has ended. @throws {StateFileError} if another server has the lock. */
async function takeLock(path: string, own: Holder, file: string): Promise<void> {
  while (!(await createLockFile(path, own))) {
    const holder = readHolder(path);
    if (holder === undefined) continue;
    if (holder.token === own.token) return;
    if (await isAlive(path, holder)) throw createInUseError(file, holder);
    // Only a server that has this second lock may replace the lock of the ended holder. So, if two servers start at the
    // same time, only one of them gets the lock, and the other server does not replace it.
    const secondLock = `${path}.${holder.token}`;
    await takeLock(secondLock, own, file);
    if (readHolder(path)?.token === holder.token) return rename(secondLock, path);
    await rm(secondLock, { force: true });
  }
}

/** Creates a lock file. Returns `false` if the file exists already. */
async function createLockFile(path: string, own: Holder): Promise<boolean> {
  try {
    await writeFile(path, JSON.stringify(own), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    // If the disk is full, the file was created, but its content could not be written.
    if (syscall === 'write') await rm(path, { force: true });
    throw error;
  }
}

/** Returns the holder of a lock, or `undefined` without a lock. While the file is incomplete, the holder is unknown. */
function readHolder(path: string): Holder | undefined {
  try {
    return JSON.parse(String(readRegularFileSync(path)));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    if (!(error instanceof SyntaxError)) throw error;
    return { token: 'unknown', host: 'unknown', pid: 0, machine: '', startTime: undefined };
  }
}

/** Returns whether a holder is running. If its process cannot be looked up, waits for an update of the lock file. */
async function isAlive(path: string, { token, machine, pid, startTime }: Holder): Promise<boolean> {
  const foundTime = machine === machineId() ? startTimeOf(pid) : undefined;
  if (foundTime !== undefined) return foundTime === startTime;
  const readTouchTime = () => statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  const touchedAt = readTouchTime();
  for (let waitedMs = 0; waitedMs < STALE_MS; waitedMs += TOUCH_INTERVAL_MS / 2) {
    await new Promise((resolve) => setTimeout(resolve, TOUCH_INTERVAL_MS / 2));
    if (readTouchTime() !== touchedAt) return readHolder(path)?.token === token;
  }
  return false;
}

/** Returns a text that identifies this system and its namespace of process ids. It differs between containers. */
function machineId(): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}

/** Returns when a process started: an empty text if it has ended, `undefined` if the system does not show it. */
function startTimeOf(pid: number): string | undefined {
  try {
    process.kill(pid, 0);
    // The file has the name of the program in brackets, and the name may contain brackets, too.
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.replace(/^.*\) /s, '').split(' ');
    // Field 0 is the state, and field 19 the start time. A process in the state Z has ended, but its parent has not
    // read the exit code yet.
    return fields[0] === 'Z' ? '' : fields[19];
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH' ? '' : undefined;
  }
}

function createInUseError(file: string, { pid, host }: Holder): StateFileError {
  return new StateFileError(
    `The state file ${file} is in use by another server, process ${pid} on the host ${host}; end that ` +
      'server, or name another file.',
  );
}
