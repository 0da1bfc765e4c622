import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** A process of this machine. */
export interface SystemProcess {
  readonly pid: number;
  /** The id of its parent: 1, or that of another process which adopts orphans, if the parent has ended. */
  readonly parent: number;
  /** The id of its process group, which is the id of the process that has created the group. */
  readonly group: number;
  /** The id of its session, likewise; 0 if the system does not show it. */
  readonly session: number;
  /**
   * When it started; it is greater for a later process, and differs for two processes that have the same id one after the
   * other. In ticks since the start of the system on Linux, in milliseconds elsewhere.
   */
  readonly startTime: number;
  /** Whether it has ended, and only its parent has not read its exit code yet. */
  readonly hasEnded: boolean;
  /** Whether a signal such as SIGSTOP has stopped it. */
  readonly isStopped: boolean;
  /** What `ps` shows of it: its command line and, on macOS, its environment variables; undefined on Linux. */
  readonly shown?: string;
}

/** Where the fields of `/proc/<pid>/stat` are after the name of the program: the state is the first of them. */
const STAT = { state: 0, parent: 1, group: 2, session: 3, threads: 17, startTime: 19 } as const;

/** Returns a process of a Linux system; undefined if there is none with this id. */
function readProcess(pid: number): SystemProcess | undefined {
  // The name of the program is in brackets, and may contain brackets, too.
  const text = readProcFile(pid, 'stat').replace(/^.*\) /s, '');
  if (text === '') return undefined;
  const fields = text.split(' ');
  const state = fields[STAT.state];
  const numberOf = (name: keyof typeof STAT) => Number(fields[STAT[name]]);
  return {
    pid,
    parent: numberOf('parent'),
    group: numberOf('group'),
    session: numberOf('session'),
    startTime: numberOf('startTime'),
    // If only the first of several threads has ended, the state is Z, too.
    hasEnded: state === 'X' || (state === 'Z' && numberOf('threads') <= 1),
    isStopped: state === 'T',
  };
}

/** Returns the parent of a process on Linux; `undefined` if the process has ended. */
export function parentOf(pid: number): number | undefined {
  return readProcess(pid)?.parent;
}

/** Reads a file of a process on Linux. If the process has ended or the file may not be read, the text is empty. */
export function readProcFile(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}

/** Lists all processes, the latest first; the list is empty if neither `/proc` nor `ps` exists. */
export function listProcesses(): SystemProcess[] {
  return [...new ProcessScan().next()];
}

/** How many ids are looked up one by one; if more were given since the last list, all processes are listed. */
const MAX_NEW_IDS = 1_000;

/** Lists the processes again and again: first all, then those that have started since the list before. */
export class ProcessScan {
  /**
   * Whether processes may have started of which no list so far knows. On Linux, this is so if a process had ended before
   * its turn in the last list, because it can have started another one. Elsewhere, only two lists show what is new.
   */
  mayMiss = true;
  readonly #seen = new Set<number>();
  /** The latest id that the system had given before the last list. */
  #latestId = 0;

  /**
   * Reads one process after the other, the latest first, so that a signal for one of them need not wait for the others.
   * `mayMiss` is known when the last one was read.
   */
  *next(): Generator<SystemProcess> {
    if (process.platform === 'linux') yield* this.#readProc();
    else yield* this.#readPs();
  }

  *#readProc(): Generator<SystemProcess> {
    const firstNew = this.#latestId + 1;
    const latest = latestIdOfLinux();
    this.#latestId = latest;
    const hasFew = firstNew > 1 && latest + 1 >= firstNew && latest - firstNew < MAX_NEW_IDS;
    const ids = hasFew
      ? Array.from({ length: latest + 1 - firstNew }, (_, index) => latest - index)
      : listFolder('/proc').flatMap((name) => (/^\d+$/.test(name) ? Number(name) : []));
    let mayMiss = false;
    for (const pid of hasFew ? ids : ids.sort((a, b) => b - a)) {
      if (this.#seen.has(pid)) continue;
      this.#seen.add(pid);
      const found = readProcess(pid);
      if (!found || found.hasEnded) mayMiss = true;
      // The ids of threads are given from the same numbers.
      else if (!hasFew || isFirstThread(pid)) yield found;
    }
    this.mayMiss = mayMiss;
  }

  *#readPs(): Generator<SystemProcess> {
    this.mayMiss = this.#seen.size === 0;
    const rows = parsePs(runPs(['-A', '-E', '-ww']) || runPs(['-A', '-ww']));
    for (const row of rows.filter(({ pid }) => !this.#seen.has(pid)).sort((a, b) => b.pid - a.pid)) {
      this.#seen.add(row.pid);
      yield row;
    }
  }
}

/** Returns the id that Linux has given last to a process or a thread; 0 if it does not show it. */
function latestIdOfLinux(): number {
  try {
    return Number(readFileSync('/proc/loadavg', 'utf8').trim().split(' ').at(-1)) || 0;
  } catch {
    // The system does not have it.
    return 0;
  }
}

function isFirstThread(id: number): boolean {
  return Number(/^Tgid:\s*(\d+)/m.exec(readProcFile(id, 'status'))?.[1]) === id;
}

/** Returns a process; undefined if there is none with this id. */
export function findProcess(pid: number): SystemProcess | undefined {
  return process.platform === 'linux' ? readProcess(pid) : listProcesses().find((each) => each.pid === pid);
}

/** Returns the command line of a process; it is empty if the process has ended or its command line is not shown. */
export function commandLineOf({ pid, shown }: SystemProcess): string {
  return (shown ?? readProcFile(pid, 'cmdline').replaceAll('\0', ' ')).trim();
}

/** Returns a text with the environment variables with which a process was started; empty if they are not shown. */
export function environmentOf({ pid, shown }: SystemProcess): string {
  return shown ?? readProcFile(pid, 'environ');
}

/** What `ps` prints of a process. The start has five words, such as `Sat Nov 28 10:15:05 2026`. */
const PS_LINE = /^ *(\d+) +(\d+) +(\d+) +(\S+) +(\S+ +\S+ +\S+ +\S+ +\d{4})(?: (.*))?$/gm;

/** Reads the list of processes that `ps` has printed. */
export function parsePs(printed: string): SystemProcess[] {
  const processes = [...printed.matchAll(PS_LINE)].map(
    ([, pid, parent, group, state = '', start = '', shown = '']): SystemProcess => ({
      pid: Number(pid),
      parent: Number(parent),
      group: Number(group),
      session: 0,
      startTime: Date.parse(`${start} UTC`),
      hasEnded: state.startsWith('Z'),
      isStopped: state.startsWith('T'),
      shown,
    }),
  );
  return processes;
}

function runPs(flags: readonly string[]): string {
  try {
    const columns = 'pid=,ppid=,pgid=,stat=,lstart=,command=';
    const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' };
    const options = { env, maxBuffer: 64 * 1024 * 1024, stdio: ['ignore', 'pipe', 'ignore'] } as const;
    return String(execFileSync('ps', [...flags, '-o', columns], options as never));
  } catch {
    // There is no `ps`, or it does not know a flag.
    return '';
  }
}

function listFolder(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    // The system does not have it.
    return [];
  }
}
