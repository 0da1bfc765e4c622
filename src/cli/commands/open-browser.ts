import { spawn } from 'node:child_process';

/** The programs that open a URL, by platform. The other platforms have `xdg-open`. */
const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  // Unlike the Windows command `start`, `rundll32` needs no shell, which could run a part of the URL as a command.
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Opens a URL in the browser that the environment variable `BROWSER` names, or in the default browser. Prints a note on failure. */
export function openBrowser(url: string, env: NodeJS.ProcessEnv, print: (line: string) => void): void {
  const [program, ...args] = env.BROWSER ? [env.BROWSER] : (OPENERS[process.platform] ?? ['xdg-open']);
  const child = spawn(program, [...args, url], { detached: true, stdio: 'ignore', env });
  child.once('error', () => print(`No browser could be started; open ${url} yourself.`));
  child.once('exit', (code) => code && print(`${program} ended with the exit code ${code}; open ${url} yourself.`));
  child.unref();
}
