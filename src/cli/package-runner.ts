import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';

/** How often to look whether the package runner is still there. */
const POLL_MS = 250;

/** The process with the id 1, to which the children of a process that ends are given. */
const INIT = 1;

/** npm sets its process title, so its command line reads `npm exec …`; others run as `node …/pnpm.cjs …`. */
const RUNNER =
  /^(?:\S*\bnode(?:\.exe)? )?(?:\S*\/)?(?:(?:npm|npx|pnpm|pnpx|yarn)(?:-cli)?(?:-[\d.]+)?(?:\.[cm]?js)?|bunx|bun x)(?: |$)/;

const SHELL = /^(?:\S*\/)?(?:ba|da|a|z|k)?sh(?: |$)/;

/** An `&` that puts a command into the background, unlike `&&` and `2>&1`. */
const BACKGROUND = /(?<![&>])&(?![&>])/;

/** A running process, as far as it matters who started it. */
interface ProcessInfo {
  readonly parent: number;
  readonly command: string;
}

/** The processes from the package runner down to the one that started us: the runner, and the shell it may use. */
type Chain = readonly [pid: number, ...more: number[]];

/**
 * Resolves when the package runner that started this process (`npx`, `npm exec`, `npm run`, `pnpm dlx`, `bunx`) has
 * ended: it does not pass on the signal that ends it, and nobody else knows that we are here. It never resolves for a
 * process that was started directly or put into the background.
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
  // Where the script is our own command, a runner started us; it has ended already if we or its shell are orphans.
  const isOrphan = parent === INIT || (second !== undefined && first?.parent === INIT);
  return isOrphan && /\bagent-mailbox-mock\b/.test(script) ? 'gone' : 'none';
}

/** Says whether each process of the chain is still the parent of the next. A process that has ended is nobody's. */
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
  // The name of the program stands in brackets before the state and the parent, and may have brackets itself.
  const parent = texts?.[0].match(/.*\) \S (\d+)/s)?.[1];
  return texts && { parent: Number(parent), command: texts[1].replaceAll('\0', ' ') };
}

async function askPs(pid: number): Promise<ProcessInfo | undefined> {
  const shown = await promisify(execFile)('ps', ['-o', 'ppid=,command=', '-p', String(pid)]).catch(() => undefined);
  const [, parent, command = ''] = shown?.stdout.match(/^\s*(\d+) (.*)/) ?? [];
  return parent === undefined ? undefined : { parent: Number(parent), command };
}
