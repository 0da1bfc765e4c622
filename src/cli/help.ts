import { NAME } from '../version.ts';
import { FLAG_ROWS, variableOf } from './flags.ts';

/** The text of `--help`. */
export function helpText(): string {
  const rows = FLAG_ROWS.map(([name, { short, value, help }]) => ({
    flag: `${short ? `-${short}, ` : '    '}--${name}${value ? ` ${value}` : ''}`,
    help,
  }));
  const width = Math.max(...rows.map(({ flag }) => flag.length));
  return [
    `Usage: ${NAME} [start] [flags]`,
    '',
    'Runs a local emulator of an Agent Mailbox Service and prints its URL and keys.',
    '',
    'Flags:',
    ...rows.map(({ flag, help }) => `  ${flag.padEnd(width)}  ${help}`),
    '',
    `Each flag can also be set as ${variableOf('<flag>')}, such as ${variableOf('port')}, with commas in lists.`,
    'On an address that other machines can reach, the control plane asks for a token that is printed.',
    '',
    'Exit codes: 0 after SIGINT or SIGTERM, 1 when it cannot run, 2 for wrong usage.',
  ].join('\n');
}
