import { spawn } from 'node:child_process';

/** The programs that open a URL, by platform; another platform has `xdg-open`. */
const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  // Unlike `start`, this needs no shell, in which a URL could be a command.
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Opens a URL in the browser that `BROWSER` names, or else in the default browser. `say` is told if that fails. */
export function openBrowser(url: string, env: NodeJS.ProcessEnv, say: (line: string) => void): void {
  const [program, ...args] = env.BROWSER ? [env.BROWSER] : (OPENERS[process.platform] ?? ['xdg-open']);
  const child = spawn(program, [...args, url], { detached: true, stdio: 'ignore', env });
  child.once('error', () => say(`No browser could be started; open ${url} yourself.`));
  child.once('exit', (code) => code && say(`The browser ended with the exit code ${code}; open ${url} yourself.`));
  child.unref();
}
