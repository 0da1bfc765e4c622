import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { isatty } from 'node:tty';
import type { Terminal } from './command.ts';
import type { AnyServer } from './commands/connection-variables.ts';
import { openBrowser } from './commands/open-browser.ts';

/** What each key does, in the order in which help lists them. */
const KEYS = { o: 'open the inspector', r: 'reset all data', q: 'end', h: 'show this help' };

const HELP = Object.entries(KEYS)
  .map(([key, help]) => `${key} + Enter: ${help}`)
  .join('\n');

/** Does what a person types while the server runs. The promise resolves when they want to end it. */
export function followTypedCommands({ mailbox, control }: AnyServer, { typedLines, env, out, err }: Terminal) {
  let stop: (() => void) | undefined;
  const ended = new Promise<void>((end) => {
    const commands: { readonly [Key in keyof typeof KEYS]: () => void } = {
      o: () => openBrowser(`${control}/`, env, err),
      r() {
        mailbox.reset();
        out('All data were reset.');
      },
      q: end,
      h: () => out(HELP),
    };
    stop = typedLines?.((line) => {
      const key = line.trim();
      if (Object.hasOwn(commands, key)) commands[key as keyof typeof KEYS]();
      else if (key !== '') out(HELP);
    });
  });
  if (stop) out('Type h and Enter for help.');
  return { ended, [Symbol.dispose]: () => stop?.() };
}

/** Returns the reader of what a person types; `undefined` if stdin is not their terminal. */
export function createTypedLines(): Terminal['typedLines'] {
  if (!isatty(0) || !isInForeground()) return undefined;
  return (receive) => {
    const reader = createInterface({ input: process.stdin });
    reader.on('line', receive);
    return () => reader.close();
  };
}

/** Whether this process may read from its terminal. One that was started with `&` would be stopped if it tried. */
function isInForeground(): boolean {
  if (process.platform !== 'linux') return true;
  const [, , group, , , foregroundGroup] = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return group === foregroundGroup;
}
