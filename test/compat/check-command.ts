import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';

/** The time within which the command must be ready and, after a signal, have ended, in milliseconds. */
const LIMIT_MS = 15_000;

/** Starts the command of the installed package in a runtime, calls it and ends it; returns what is wrong. */
export async function checkCommand(runtime: readonly string[], project: string): Promise<string | undefined> {
  const installed = join(project, 'node_modules/agent-mailbox-mock');
  const { bin } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));
  const command = [...runtime, join(installed, bin['agent-mailbox-mock']), '--port', '0', '--json'];
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const problem = await findProblem(command, project, signal);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

async function findProblem(
  [file = '', ...args]: readonly string[],
  cwd: string,
  signal: NodeJS.Signals,
): Promise<string | undefined> {
  const child = spawn(file, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const timer = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
  try {
    const { url } = JSON.parse(await readFirstLine(child));
    const { status } = await fetch(`${url}/health`);
    child.kill(signal);
    const [code] = await once(child, 'exit');
    if (status === 200 && code === 0) return undefined;
    return `The command answered /health with ${status}, and ended with ${code} on ${signal}; 200 and 0 are right.`;
  } finally {
    clearTimeout(timer);
    child.kill('SIGKILL');
  }
}

async function readFirstLine({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) return '';
  for await (const line of createInterface(stdout)) return line;
  return '';
}
