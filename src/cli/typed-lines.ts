import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { isatty } from 'node:tty';
import type { Terminal } from './command.ts';

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
