import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A running process and what it said first. */
export interface Child {
  readonly child: ChildProcess;
  readonly said: unknown;
}

/** Starts a file of this folder as a process of its own and waits for the first thing that it sends. */
export async function startChild(
  file: string,
  args: readonly string[] = [],
  execArgv: readonly string[] = [],
): Promise<Child> {
  const path = fileURLToPath(new URL(file, import.meta.url));
  // Not the flags of this process: with `--eval` among them, each child would start the whole script again.
  const child = fork(path, args, { execArgv: ['--import', 'tsx', ...execArgv] });
  const died = once(child, 'exit').then(([code]) => {
    throw new Error(`${file} ended with ${code} before it said anything.`);
  });
  const [said] = await Promise.race([once(child, 'message'), died]);
  died.catch(() => undefined);
  return { child, said };
}

/** Runs a file of this folder as a process of its own, and answers the one thing that it sends. */
export async function askChild(file: string, args: readonly string[] = [], execArgv: readonly string[] = []) {
  const { child, said } = await startChild(file, args, execArgv);
  child.kill();
  return said;
}
