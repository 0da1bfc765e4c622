import { NAME } from '../version.ts';
import type { Command, Flag } from './command.ts';
import { COMMANDS } from './commands.ts';
import { COMMON_FLAGS, type FlagRow, variableOf } from './flags.ts';

type Line = readonly [term: string, help: string];

/** The text of `--help`. */
export function helpText(): string {
  const commands: [name: string, command: Command][] = Object.entries(COMMANDS);
  const withFlags = commands.filter(([, { flags }]) => Object.keys(flags).length > 0);
  return [
    `Usage: ${NAME} [command] [flags]`,
    '',
    'A local emulator of an Agent Mailbox Service.',
    '',
    'Commands:',
    ...toList(commands.map(([name, { argument, help }]) => [argument ? `${name} ${argument}` : name, help])),
    '',
    ...withFlags.flatMap(([name, { flags }]) => [`Flags of ${name}:`, ...listFlags(flags), '']),
    'Flags of every command:',
    ...listFlags(COMMON_FLAGS),
    '',
    `Each flag can also be set as ${variableOf('<flag>')}, such as ${variableOf('port')}, with commas in lists.`,
    'On an address that other machines can reach, the control plane asks for a token that is printed.',
    '',
    'Exit codes: 0 when done, or after SIGINT or SIGTERM; 1 when it cannot be done; 2 for wrong usage.',
  ].join('\n');
}

function listFlags(flags: Readonly<Record<string, Flag>>): string[] {
  return toList(Object.entries(flags).map(toLine));
}

function toLine([name, { short, value, help }]: FlagRow): Line {
  return [`${short ? `-${short}, ` : '    '}--${name}${value ? ` ${value}` : ''}`, help];
}

/** One line each, with what helps in a column of its own. */
function toList(lines: readonly Line[]): string[] {
  const width = Math.max(...lines.map(([term]) => term.length));
  return lines.map(([term, help]) => `  ${term.padEnd(width)}  ${help}`);
}
