import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { randomInt, randomUUID } from 'node:crypto';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { lazy } from '../basics/lazy-schema.ts';
import { clearInterval, performance, setInterval, setTimeout } from '../basics/real-timers.ts';
import {
  commandLineOf,
  environmentOf,
  findProcess,
  listProcesses,
  ProcessScan,
  readProcFile,
  type SystemProcess,
} from './process-table.ts';

/** The environment variable with the ids of the trees to which a process belongs: a tree can be inside another one. */
export const TREE_VARIABLE = 'MAILBOX_EXEC_ID';

const IS_WINDOWS = process.platform === 'win32';

/** The time between two lists of the processes while trees run, in milliseconds: `ps` takes longer than `/proc`. */
const LOOK_MS = process.platform === 'linux' ? 250 : 1_000;

/** The first and the longest time between two lists while a tree is ended, in milliseconds; each is twice the one before. */
const [FIRST_CHECK_MS, LAST_CHECK_MS] = [10, 80];

/** How long the processes have to end after SIGTERM, in milliseconds, before they are killed. */
const GRACE_MS = 1_000;

/** When `end` gives up, in milliseconds after its start. */
const GIVE_UP_MS = 2_900;

/** How many lists are made without a pause. */
const MAX_LISTS = 200;

/** Where the limits of memory begin, and how many there are: more than any memory, and exact as numbers of JavaScript. */
const [LEAST_LIMIT, LIMIT_COUNT] = [2 ** 52, 2 ** 47];

/** Starts processes, and finds out what they start. One list of the processes of the machine serves all trees. */
export class ProcessTrees {
  readonly #trees = new Set<ProcessTree>();
  #timer: ReturnType<typeof setInterval> | undefined;

  /** Starts a process as `spawn` does, with the mark of a new tree. @throws what `spawn` throws. */
  start(file: string, args: readonly string[], options: SpawnOptions): ProcessTree {
    const id = randomUUID();
    const outer = options.env?.[TREE_VARIABLE];
    const env: NodeJS.ProcessEnv = { ...options.env, [TREE_VARIABLE]: outer === undefined ? id : `${outer} ${id}` };
    // If the command cannot be run, `spawn` must say so, not the program that sets the limit.
    const prlimit = options.shell !== true && isProgram(file, env.PATH, options.cwd) ? findPrlimit() : '';
    const limit = prlimit === '' ? undefined : String(LEAST_LIMIT + randomInt(LIMIT_COUNT));
    const child =
      limit === undefined
        ? spawn(file, args, { ...options, env })
        : spawn(prlimit, [`--rss=${limit}:`, '--', file, ...args], { ...options, env });
    const tree = new ProcessTree(child, { id, limit }, () => this.#remove(tree));
    this.#trees.add(tree);
    if (!IS_WINDOWS) this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref();
    return tree;
  }

  #look(): void {
    const all = listProcesses();
    for (const tree of this.#trees) tree.update(all);
  }

  #remove(tree: ProcessTree): void {
    this.#trees.delete(tree);
    if (this.#trees.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

/** What every process of a tree inherits from its parent. */
interface TreeMark {
  /** A text that is in the environment variable. */
  readonly id: string;
  /** The soft limit of resident memory, in bytes; undefined if it cannot be set. */
  readonly limit: string | undefined;
}

/**
 * A process that was started here, with everything that it has started. A process belongs to the tree if one of these is
 * true, and it did not start before the root:
 *
 * - It is a child of a process of the tree. The tree is updated while it runs, so that this is also known of a process
 *   whose parent has ended.
 * - Its process group or its session was created by a process of the tree.
 * - It has the mark of the tree: an environment variable and, on Linux, a limit of resident memory, which Linux does not
 *   enforce. A process loses the variable by `env -i`, but the limit only on purpose.
 *
 * A process is known by its id and its start time, because the system uses ids again. On Windows, `taskkill` finds the
 * children.
 */
export class ProcessTree {
  /** The process at the root. */
  readonly child: ChildProcess;
  readonly #mark: TreeMark;
  readonly #root: SystemProcess | undefined;
  readonly #onEnd: () => void;
  readonly #exited: Promise<unknown>;
  /** The start time of each process of the tree, by its id; also of those that have ended, while their group goes on. */
  #known = new Map<number, number>();

  constructor(child: ChildProcess, mark: TreeMark, onEnd: () => void) {
    this.child = child;
    this.#mark = mark;
    this.#onEnd = onEnd;
    this.#exited = new Promise((resolve) => void child.once('exit', resolve));
    const { pid } = child;
    this.#root = pid === undefined || IS_WINDOWS ? undefined : findProcess(pid);
    if (this.#root) this.#known.set(this.#root.pid, this.#root.startTime);
  }

  /** Sends a signal to every process of the tree. */
  signal(signal: NodeJS.Signals): void {
    if (IS_WINDOWS) {
      this.child.kill(signal);
      return;
    }
    this.#forEachRunning((each) => sendTo(each, signal));
  }

  /**
   * Ends every process of the tree within three seconds: by SIGTERM and, if that is not enough, by SIGKILL. Lets go of the
   * output of the root, which a process may still keep open. Returns a sentence that names the processes which could not
   * be ended; undefined if there are none.
   */
  async end(): Promise<string | undefined> {
    this.stopFollowing();
    const left = IS_WINDOWS ? await this.#endByTaskkill() : await this.#endBySignals();
    // The process has ended, but its exit code may not be here yet.
    if (this.#root && !left.some(({ pid }) => pid === this.#root?.pid)) await this.#exited;
    for (const stream of this.child.stdio) stream?.destroy();
    // A process that could not be ended must not keep this one.
    this.child.unref();
    return left.length === 0 ? undefined : describeLeft(left);
  }

  /** Stops to find out what the process starts. */
  stopFollowing(): void {
    this.#onEnd();
  }

  /** Finds the processes of the tree in a list of all processes, and returns those that have not ended. */
  update(all: readonly SystemProcess[]): SystemProcess[] {
    const root = this.#root;
    if (!root) return [];
    const known = this.#known;
    const candidates = all.filter(({ startTime }) => startTime >= root.startTime);
    for (const { pid, startTime } of candidates) {
      // Another process has the id now.
      if (known.has(pid) && known.get(pid) !== startTime) known.delete(pid);
    }
    // Each round finds the children of those that the round before has found.
    for (let count = 0; count !== known.size; ) {
      count = known.size;
      for (const each of candidates) if (this.#isInGroup(each)) known.set(each.pid, each.startTime);
    }
    const running = candidates.filter(({ pid, hasEnded }) => known.has(pid) && !hasEnded);
    // The id of a process that has ended is not used again while its group or session goes on. After that, it may be.
    const kept = new Set([root.pid, ...running.flatMap(({ pid, group, session }) => [pid, group, session])]);
    this.#known = new Map([...known].filter(([pid]) => kept.has(pid)));
    return running;
  }

  /** Returns whether a process of the tree is the parent of a process, or has created its group or session. */
  #isInGroup({ parent, group, session }: SystemProcess): boolean {
    return [parent, group, session].some((id) => this.#known.has(id));
  }

  #hasMark(found: SystemProcess): boolean {
    const { id, limit } = this.#mark;
    return (limit !== undefined && limitOf(found.pid) === limit) || environmentOf(found).includes(id);
  }

  async #endBySignals(): Promise<readonly SystemProcess[]> {
    const startedMs = performance.now();
    const asked = new Set<string>();
    for (let pauseMs = FIRST_CHECK_MS; ; pauseMs = Math.min(LAST_CHECK_MS, pauseMs * 2)) {
      const waitedMs = performance.now() - startedMs;
      const isKilling = waitedMs >= GRACE_MS;
      const found = this.#forEachRunning((each) => {
        const key = `${each.pid} ${each.startTime}`;
        if (isKilling) sendTo(each, 'SIGKILL');
        else if (!asked.has(key)) sendTo(each, 'SIGTERM');
        asked.add(key);
      });
      if (found.length === 0) return [];
      if (waitedMs >= GIVE_UP_MS) return found.filter(isRunning);
      await new Promise((done) => void setTimeout(done, isKilling ? FIRST_CHECK_MS : pauseMs));
    }
  }

  /**
   * Calls a function with each process of the tree that has not ended, as soon as it is found, and returns them. A process
   * that starts another one and ends is there only for a moment, and can be missing in a list. So the new processes are
   * listed again and again, until no list can lack one of the tree.
   */
  #forEachRunning(use: (found: SystemProcess) => void): SystemProcess[] {
    const [all, running]: [SystemProcess[], Set<SystemProcess>] = [[], new Set()];
    const isOurs = (each: SystemProcess) => {
      if (this.#root === undefined || each.hasEnded || each.startTime < this.#root.startTime) return false;
      return this.#known.get(each.pid) === each.startTime || this.#isInGroup(each) || this.#hasMark(each);
    };
    const scan = new ProcessScan();
    let hasNew = true;
    for (let lists = 0; lists < MAX_LISTS && (hasNew || scan.mayMiss); lists += 1) {
      hasNew = false;
      for (const each of scan.next()) {
        all.push(each);
        if (!isOurs(each)) continue;
        this.#known.set(each.pid, each.startTime);
        running.add(each);
        use(each);
        hasNew = true;
      }
    }
    for (const each of this.update(all)) {
      if (!running.has(each)) use(each);
      running.add(each);
    }
    return [...running];
  }

  async #endByTaskkill(): Promise<readonly SystemProcess[]> {
    const { child } = this;
    if (child.pid === undefined || child.exitCode !== null) return [];
    spawnSync('taskkill', ['/pid', String(child.pid), '/T', '/F'], { stdio: 'ignore' });
    await Promise.race([this.#exited, new Promise((done) => void setTimeout(done, GRACE_MS))]);
    return [];
  }
}

function describeLeft(left: readonly SystemProcess[]): string {
  const names = left.map((each) => `${each.pid} (${JSON.stringify(commandLineOf(each))})`);
  const subject = left.length === 1 ? 'The process' : 'The processes';
  return `${subject} ${names.join(', ')} could not be ended.`;
}

function isRunning({ pid, startTime }: SystemProcess): boolean {
  const now = findProcess(pid);
  return now?.startTime === startTime && !now.hasEnded;
}

/** Sends a signal, and lets a process that is stopped go on, so that it can end. */
function sendTo({ pid, isStopped }: SystemProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
    if (isStopped && signal !== 'SIGKILL') process.kill(pid, 'SIGCONT');
  } catch (error) {
    // It has ended, or belongs to another user; `end` then names it.
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!['ESRCH', 'EPERM'].includes(code)) throw error;
  }
}

/** Returns the soft limit of resident memory of a process on Linux, as it is written there. */
function limitOf(pid: number): string | undefined {
  return readProcFile(pid, 'limits').match(/^Max resident set +(\S+)/m)?.[1];
}

/** Returns the path of `prlimit`, if it can set the limit of resident memory; otherwise an empty text. */
const findPrlimit = lazy(() => {
  if (process.platform !== 'linux') return '';
  const folders = (process.env.PATH ?? '').split(delimiter);
  const file = folders.map((folder) => join(folder, 'prlimit')).find((path) => isProgram(path));
  if (file === undefined) return '';
  const { status } = spawnSync(file, [`--rss=${LEAST_LIMIT}:`, '--', file, '--version'], { stdio: 'ignore' });
  return status === 0 ? file : '';
});

/** Returns whether a command is a file that may be run, or the name of one in the folders of PATH. */
function isProgram(command: string, path = '', cwd: SpawnOptions['cwd'] = process.cwd()): boolean {
  const folders = command.includes('/') ? [''] : path.split(delimiter);
  return folders.some((folder) => {
    const file = resolve(String(cwd), folder, command);
    try {
      accessSync(file, constants.X_OK);
      return statSync(file).isFile();
    } catch {
      // There is no such file, or it may not be run.
      return false;
    }
  });
}
