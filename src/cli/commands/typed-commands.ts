import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { isatty } from 'node:tty';
import type { Terminal } from '../command.ts';
import type { AnyServer } from './connection-variables.ts';
import { openBrowser } from './open-browser.ts';

/** What each letter does. The help lists the letters in this order. */
const LETTERS = { o: 'open the inspector', r: 'reset all data', q: 'end', h: 'show this help' };

const HELP = Object.entries(LETTERS)
  .map(([letter, help]) => `${letter} + Enter: ${help}`)
  .join('\n');

/** Runs the commands that a person types while the server runs. `ended` resolves when the person types `q`. */
export function runTypedCommands({ mailbox, control }: AnyServer, { readTypedLines, env, out, err }: Terminal) {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const commands: { readonly [Letter in keyof typeof LETTERS]: () => void } = {
    o: () => openBrowser(`${control}/`, env, err),
    r() {
      mailbox.reset();
      out('All data were reset.');
    },
    q: end,
    h: () => out(HELP),
  };
  const stop = readTypedLines?.((line) => {
    const letter = line.trim();
    if (Object.hasOwn(commands, letter)) commands[letter as keyof typeof LETTERS]();
    else if (letter !== '') out(HELP);
  });
  if (stop) out('Type h and Enter for help.');
  return { ended, [Symbol.dispose]: () => stop?.() };
}

/** Returns a function that reads what a person types; `undefined` if this process cannot read from a terminal. */
export function createLineReader(): Terminal['readTypedLines'] {
  if (!isatty(0) || !isInForeground()) return undefined;
  return (receive) => {
    const reader = createInterface({ input: process.stdin });
    reader.on('line', receive);
    return () => reader.close();
  };
}

/** Returns whether this process may read from its terminal. The system stops a reader that was started with `&`. */
function isInForeground(): boolean {
  if (process.platform !== 'linux') return true;
  // After the name of the program, which is in brackets, come: state, parent, group, session, terminal, and the group
  // in the foreground of the terminal.
  const [, , group, , , foregroundGroup] = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return group === foregroundGroup;
}
