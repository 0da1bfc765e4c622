import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { isatty } from 'node:tty';
import type { Terminal } from './command.ts';
import type { AnyServer } from './commands/connection-variables.ts';
import { openBrowser } from './commands/open-browser.ts';

interface TypedCommand {
  readonly help: string;
  run(): void;
}

/** Does what a person types while the server runs. The promise resolves when they want to end it. */
export function followTypedCommands({ mailbox, control }: AnyServer, terminal: Terminal) {
  const inspector = `${control}/`;
  const { promise: ended, resolve: end } = createPromise();
  const commands: Readonly<Record<string, TypedCommand>> = {
    o: { help: 'open the inspector', run: () => openBrowser(inspector, terminal.env, terminal.err) },
    r: {
      help: 'reset all data',
      run() {
        mailbox.reset();
        terminal.out('All data were reset.');
      },
    },
    q: { help: 'end', run: end },
    h: { help: 'show this help', run: () => terminal.out(help) },
  };
  const help = Object.entries(commands)
    .map(([key, command]) => `${key} + Enter: ${command.help}`)
    .join('\n');
  const stop = terminal.typedLines?.((line) => {
    const key = line.trim();
    const command = Object.hasOwn(commands, key) ? commands[key] : undefined;
    if (command) command.run();
    else if (key !== '') terminal.out(help);
  });
  if (stop) terminal.out('Type h and Enter for help.');
  return { ended, [Symbol.dispose]: () => stop?.() };
}

function createPromise() {
  let resolve = () => {};
  const promise = new Promise<void>((resolvePromise) => {
    resolve = resolvePromise;
  });
  return { promise, resolve };
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
