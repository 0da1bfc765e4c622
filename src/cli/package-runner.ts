import { parentOf, readProcFile } from '../server/process-table.ts';

/** The interval between two checks whether the package runner is still running. */
const POLL_MS = 250;

/** The process id of init, which becomes the parent of orphaned processes. */
const INIT_PID = 1;

/** Matches the command line of a package runner: npm shows `npm exec …`, others show `node …/pnpm.cjs …`. */
const RUNNER =
  /^(?:\S*\bnode(?:\.exe)? )?(?:\S*\/)?(?:(?:p?np[mx]|yarn)(?:-cli)?(?:-[\d.]+)?(?:\.[cm]?js)?|bunx|bun x)(?: |$)/;

const SHELL = /^(?:\S*\/)?(?:ba|da|a|z|k)?sh(?: |$)/;

/** An `&` that starts a command in the background, unlike `&&` and `2>&1`. */
const BACKGROUND = /(?<![&>])&(?![&>])/;

/** The parent and the command line of a running process. */
type ProcessInfo = { readonly parent: number; readonly command: string };

/** The ids of our parent process and, if the parent is a shell, of the package runner that started the shell. */
type RunnerProcesses = readonly [parent: number, runner?: number];

/**
 * Finds the package runner that started this process (`npx`, `npm exec`, `npm run`, `pnpm dlx`, `bunx`) and waits for
 * its end, because a runner that is ended by a signal does not always pass the signal on. The promise `ended` resolves
 * when the runner has ended. It never resolves for a process that was started directly or in the background.
 */
export async function watchRunner(env: NodeJS.ProcessEnv): Promise<{ readonly ended: Promise<void> }> {
  const { npm_execpath: runner, npm_lifecycle_script: script = '' } = env;
  const mayHaveRunner = runner && process.platform !== 'win32' && !BACKGROUND.test(script);
  const found = mayHaveRunner ? await findRunner(script) : 'none';
  if (found === 'none') return { ended: new Promise(() => {}) };
  return { ended: found === 'gone' ? Promise.resolve() : waitForEnd(found) };
}

/** Waits until one of the processes has ended. */
async function waitForEnd(processes: RunnerProcesses): Promise<void> {
  while (await areAllRunning(processes)) await new Promise((resolve) => setTimeout(resolve, POLL_MS).unref());
}

async function findRunner(script: string): Promise<RunnerProcesses | 'gone' | 'none'> {
  const parent = process.ppid;
  const info = await findProcess(parent);
  if (info && RUNNER.test(info.command)) return [parent];
  const grandparent = info && SHELL.test(info.command) ? await findProcess(info.parent) : undefined;
  if (info && grandparent && RUNNER.test(grandparent.command)) return [parent, info.parent];
  // If the script is our own command, a runner has started it. If init is now the parent of this process or of its
  // shell, the runner has already ended.
  const isOrphan = parent === INIT_PID || (grandparent !== undefined && info?.parent === INIT_PID);
  return isOrphan && /\bagent-mailbox-mock\b/.test(script) ? 'gone' : 'none';
}

/** Returns whether none of the processes has ended: each is then still the parent of the next one. */
async function areAllRunning([parent, runner]: RunnerProcesses): Promise<boolean> {
  if (process.ppid !== parent) return false;
  return runner === undefined || (await findProcess(parent))?.parent === runner;
}

async function findProcess(pid: number): Promise<ProcessInfo | undefined> {
  return process.platform === 'linux' ? readProc(pid) : askPs(pid);
}

function readProc(pid: number): ProcessInfo | undefined {
  const [parent, command] = [parentOf(pid), readProcFile(pid, 'cmdline')];
  return parent && command ? { parent, command: command.replaceAll('\0', ' ') } : undefined;
}

/** Asks `ps` for a process. The modules of Node are imported here, because they are not needed on Linux. */
async function askPs(pid: number): Promise<ProcessInfo | undefined> {
  const [{ execFile }, { promisify }] = await Promise.all([import('node:child_process'), import('node:util')]);
  const printed = await promisify(execFile)('ps', ['-o', 'ppid=,command=', '-p', String(pid)]).catch(() => undefined);
  const [, parent, command = ''] = printed?.stdout.match(/^\s*(\d+) (.*)/) ?? [];
  return parent === undefined ? undefined : { parent: Number(parent), command };
}
