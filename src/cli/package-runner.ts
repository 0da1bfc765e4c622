import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';

/** The interval between two checks whether the package runner is still running. */
const POLL_MS = 250;

/** The process id of init, which becomes the parent of orphaned processes. */
const INIT = 1;

/** npm changes its process title, so its command line is `npm exec …`; others run as `node …/pnpm.cjs …`. */
const RUNNER =
  /^(?:\S*\bnode(?:\.exe)? )?(?:\S*\/)?(?:(?:npm|npx|pnpm|pnpx|yarn)(?:-cli)?(?:-[\d.]+)?(?:\.[cm]?js)?|bunx|bun x)(?: |$)/;

const SHELL = /^(?:\S*\/)?(?:ba|da|a|z|k)?sh(?: |$)/;

/** An `&` that starts a command in the background, unlike `&&` and `2>&1`. */
const BACKGROUND = /(?<![&>])&(?![&>])/;

/** The parent and the command line of a running process. */
interface ProcessInfo {
  readonly parent: number;
  readonly command: string;
}

/** The ids of our parent process and, if that is a shell, of the package runner that started the shell. */
type Chain = readonly [parent: number, runner?: number];

/**
 * Resolves when the package runner that started this process (`npx`, `npm exec`, `npm run`, `pnpm dlx`, `bunx`) has
 * ended, because a runner does not always pass on the signal that ends it. It never resolves for a process that was
 * started directly or in the background.
 */
export async function untilRunnerEnds(env: NodeJS.ProcessEnv): Promise<void> {
  const { npm_execpath: runner, npm_lifecycle_script: script = '' } = env;
  if (!runner || process.platform === 'win32' || BACKGROUND.test(script)) return never();
  const chain = await findChain(script);
  if (chain === 'gone') return;
  if (chain === 'none') return never();
  while (await isIntact(chain)) await setTimeout(POLL_MS, undefined, { ref: false });
}

function never(): Promise<void> {
  return new Promise(() => {});
}

async function findChain(script: string): Promise<Chain | 'gone' | 'none'> {
  const parent = process.ppid;
  const first = await findProcess(parent);
  if (first && RUNNER.test(first.command)) return [parent];
  const second = first && SHELL.test(first.command) ? await findProcess(first.parent) : undefined;
  if (first && second && RUNNER.test(second.command)) return [parent, first.parent];
  // If the script is our own command, a runner started us. It has ended already if we or its shell are orphans.
  const isOrphan = parent === INIT || (second !== undefined && first?.parent === INIT);
  return isOrphan && /\bagent-mailbox-mock\b/.test(script) ? 'gone' : 'none';
}

/** Returns whether each process of the chain is still the parent of the next, so none of them has ended. */
async function isIntact([parent, runner]: Chain): Promise<boolean> {
  if (process.ppid !== parent) return false;
  return runner === undefined || (await findProcess(parent))?.parent === runner;
}

async function findProcess(pid: number): Promise<ProcessInfo | undefined> {
  return process.platform === 'linux' ? readProc(pid) : askPs(pid);
}

async function readProc(pid: number): Promise<ProcessInfo | undefined> {
  const texts = await Promise.all([
    readFile(`/proc/${pid}/stat`, 'utf8'),
    readFile(`/proc/${pid}/cmdline`, 'utf8'),
  ]).catch(() => undefined);
  // The program name is in brackets before the state and the parent, and may contain brackets itself.
  const parent = texts?.[0].match(/.*\) \S (\d+)/s)?.[1];
  return texts && { parent: Number(parent), command: texts[1].replaceAll('\0', ' ') };
}

async function askPs(pid: number): Promise<ProcessInfo | undefined> {
  const shown = await promisify(execFile)('ps', ['-o', 'ppid=,command=', '-p', String(pid)]).catch(() => undefined);
  const [, parent, command = ''] = shown?.stdout.match(/^\s*(\d+) (.*)/) ?? [];
  return parent === undefined ? undefined : { parent: Number(parent), command };
}
