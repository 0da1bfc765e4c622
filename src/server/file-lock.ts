import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync, statSync } from 'node:fs';
import { rename, rm, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { createNameCheck } from '../basics/named-error.ts';
import { readRegularFile } from './regular-file.ts';

/** Thrown when a state file cannot be read or written. */
export class StateFileError extends Error {
  /** Recognises the error by its name, also if it comes from a second copy of this package. */
  static override readonly [Symbol.hasInstance] = createNameCheck('StateFileError');
  override readonly name = 'StateFileError';
}

/** How often the holder of a lock sets the time of the lock file, in milliseconds. */
const BEAT_MS = 1_000;

/** How long a lock whose holder cannot be looked up has to stay untouched until its holder is taken as ended. */
const STALE_MS = 5_000;

/** Who has a lock. */
interface Holder {
  /** A text that no other lock has. */
  readonly token: string;
  readonly host: string;
  readonly pid: number;
  /** The running system and the space of process ids in which `pid` means something. */
  readonly machine: string;
  /** When the process started, so that another one that got its id later is not taken for it. */
  readonly start: string | undefined;
}

/** A lock that this server has. */
export type FileLock = Awaited<ReturnType<typeof lockFile>>;

/**
 * Locks a file against other servers, in this process, on this machine, and on others that share the folder. What an
 * ended server has left is taken over: at once if it ran here, else when nobody has touched it for some seconds.
 *
 * @throws {StateFileError} if another server has the file.
 */
export async function lockFile(file: string) {
  const { pid } = process;
  const own: Holder = { token: randomUUID(), host: hostname(), pid, machine: thisMachine(), start: startOf(pid) };
  const path = `${file}.lock`;
  await take(path, own, file);
  /** Checks that nobody has taken the lock over. @throws {StateFileError} if somebody has. */
  const check = async () => {
    const holder = await readHolder(path);
    // Somebody may have tidied up the folder.
    if (holder === undefined) await take(path, own, file);
    else if (holder.token !== own.token) throw takenError(file, holder);
  };
  const beat = async () => {
    await check();
    await utimes(path, new Date(), new Date());
  };
  // What fails here fails again at the next write, which reports it.
  const timer = setInterval(() => Promise.allSettled([beat()]), BEAT_MS).unref();
  return {
    check,
    async release() {
      clearInterval(timer);
      if ((await readHolder(path))?.token === own.token) await rm(path, { force: true });
    },
  };
}

/** Takes a lock, also that of an ended holder. @throws {StateFileError} if another server has it. */
async function take(path: string, own: Holder, file: string): Promise<void> {
  while (!(await create(path, own))) {
    const holder = await readHolder(path);
    if (holder === undefined) continue;
    if (holder.token === own.token) return;
    if (await isAlive(path, holder)) throw takenError(file, holder);
    // Only the one that has this further lock replaces that of the ended holder. So of two servers that start at the
    // same instant one gets it, and neither takes the lock of the other for that of the ended holder.
    const further = `${path}.${holder.token}`;
    await take(further, own, file);
    if ((await readHolder(path))?.token === holder.token) return rename(further, path);
    await rm(further, { force: true });
  }
}

/** Returns whether the file did not exist and has been created. */
async function create(path: string, own: Holder): Promise<boolean> {
  try {
    await writeFile(path, JSON.stringify(own), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    // On a full disk the file exists and is empty.
    if (syscall === 'write') await rm(path, { force: true });
    throw error;
  }
}

/** Returns who has a lock; `undefined` if nobody has. What is not yet complete is nobody that could be looked up. */
async function readHolder(path: string): Promise<Holder | undefined> {
  try {
    return JSON.parse(String(await readRegularFile(path)));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    if (!(error instanceof SyntaxError)) throw error;
    return { token: 'unknown', host: 'unknown', pid: 0, machine: '', start: undefined };
  }
}

/** Returns whether a holder runs. If it cannot be looked up, its lock is watched for a while. */
async function isAlive(path: string, { token, machine, pid, start }: Holder): Promise<boolean> {
  const found = machine === thisMachine() ? startOf(pid) : undefined;
  if (found !== undefined) return found === start;
  const timeOf = () => statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  const touchedAt = timeOf();
  for (let waited = 0; waited < STALE_MS; waited += BEAT_MS / 2) {
    await setTimeout(BEAT_MS / 2);
    if (timeOf() !== touchedAt) return (await readHolder(path))?.token === token;
  }
  return false;
}

/** Returns what tells this system and its space of process ids from all others: two containers have different ones. */
function thisMachine(): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}

/** Returns the start of a process, an empty text if it has ended, and `undefined` if that cannot be known. */
function startOf(pid: number): string | undefined {
  try {
    process.kill(pid, 0);
    // The name of the program is in brackets, and may contain brackets itself.
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.replace(/^.*\) /s, '').split(' ');
    // One in the state Z has ended, and its parent did not notice that yet.
    return fields[0] === 'Z' ? '' : fields[19];
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH' ? '' : undefined;
  }
}

function takenError(file: string, { pid, host }: Holder): StateFileError {
  return new StateFileError(
    `The state file ${file} is in use by another server, process ${pid} on the host ${host}; end that one, or name ` +
      'another file.',
  );
}
