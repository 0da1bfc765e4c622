import { spawn } from 'node:child_process';

/** How to run a program. */
interface RunOptions {
  readonly cwd: string;
  /** The time after which the program and everything that it started is killed, in milliseconds. */
  readonly timeoutMs: number;
  readonly env?: NodeJS.ProcessEnv | undefined;
}

/** Runs a program to its end and returns its exit code, null if it was killed, and what it wrote. */
export function runToEnd(
  [file = '', ...args]: readonly string[],
  { cwd, timeoutMs, env }: RunOptions,
): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      cwd,
      env: { ...process.env, ...env },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    const collect = (chunk: Buffer) => {
      output += chunk;
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    const timer = setTimeout(() => {
      output += `\nIt did not end within ${timeoutMs / 1000} s.`;
      if (child.pid) process.kill(-child.pid, 'SIGKILL');
    }, timeoutMs);
    child.once('error', reject).once('close', (code) => {
      clearTimeout(timer);
      resolve({ code, output });
    });
  });
}
