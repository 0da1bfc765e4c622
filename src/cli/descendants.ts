import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** The variable that marks what a command has started, also after its parents have ended. */
export const MARK = 'MAILBOX_EXEC_ID';

/** The id of a process, that of its parent, and whether it is marked. */
type ProcessRow = readonly [pid: number, parent: number, isMarked: boolean];

/**
 * Returns a process and all that it has started: its children, theirs, and so on. On Linux these are also the processes
 * whose parents have ended, if they have the variable `MARK` with the value `mark`.
 */
export function findDescendants(root: number, mark: string): ReadonlySet<number> {
  const found = new Set([root]);
  const all = listProcesses(`${MARK}=${mark}`);
  for (let known = 0; known < found.size; ) {
    known = found.size;
    for (const [pid, parent, isMarked] of all) if (isMarked || found.has(parent)) found.add(pid);
  }
  return found;
}

/** Returns nothing where neither /proc nor `ps` exists. */
function listProcesses(variable: string): readonly ProcessRow[] {
  try {
    return process.platform === 'linux' ? readProcesses(variable) : askPs();
  } catch {
    return [];
  }
}

function readProcesses(variable: string): ProcessRow[] {
  const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return ids.map((id) => {
    // The name of the program is in brackets before the state and the parent, and may contain brackets itself.
    const parent = readIfPossible(`/proc/${id}/stat`).match(/^.*\) \S (\d+)/s)?.[1];
    return [Number(id), Number(parent), readIfPossible(`/proc/${id}/environ`).split('\0').includes(variable)];
  });
}

/** Returns nothing for a process that has ended, and for what only another user may read. */
function readIfPossible(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function askPs(): ProcessRow[] {
  const shown = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' });
  return [...shown.matchAll(/(?<!\d)(\d+) +(\d+)/g)].map(([, pid, parent]) => [Number(pid), Number(parent), false]);
}
