import { NAME } from '../version.ts';
import type { Command, Flag } from './command.ts';
import { COMMANDS, type CommandName, DEFAULT_COMMAND } from './commands.ts';
import { COMMON_FLAGS, type FlagRow, variableOf } from './flags.ts';
import { type Entry, toList, WIDTH, wrap } from './layout.ts';

/** The text of `--help`: of one command alone, or of what there is. */
export function helpText(about?: CommandName): string {
  return (about === undefined ? overview() : aboutCommand(about)).join('\n');
}

function overview(): string[] {
  const commands: [name: string, command: Command][] = Object.entries(COMMANDS);
  return [
    `Usage: ${NAME} [command] [flags]`,
    '',
    'A local emulator of an Agent Mailbox Service.',
    '',
    'Commands:',
    ...toList([
      ...commands.map(([name, command]): Entry => [withArgument(name, command), command.help]),
      ['help [command]', 'Show the flags of a command'],
    ]),
    '',
    `Flags of ${DEFAULT_COMMAND}:`,
    ...listFlags(COMMANDS[DEFAULT_COMMAND].flags),
    '',
    'Flags of every command:',
    ...listFlags(COMMON_FLAGS),
    '',
    ...ABOUT_VARIABLES,
    '',
    ...wrap('On an address that other machines can reach, the control plane asks for a token that is printed.', WIDTH),
    '',
    ...wrap('Exit codes: 0 when done, or after SIGINT or SIGTERM; 1 when it cannot be done; 2 for wrong usage.', WIDTH),
  ];
}

const ABOUT_VARIABLES = wrap(
  `Each flag can also be set as ${variableOf('<flag>')}, such as ${variableOf('port')}, with commas in lists.`,
  WIDTH,
);

function aboutCommand(name: CommandName): string[] {
  const command: Command = COMMANDS[name];
  return [
    `Usage: ${NAME} ${withArgument(name, command)} [flags]`,
    '',
    ...wrap(`${command.help}.`, WIDTH),
    '',
    'Flags:',
    ...listFlags({ ...command.flags, ...COMMON_FLAGS }),
    '',
    ...ABOUT_VARIABLES,
  ];
}

function withArgument(name: string, { argument }: Command): string {
  return argument ? `${name} ${argument}` : name;
}

function listFlags(flags: Readonly<Record<string, Flag>>): string[] {
  return toList(Object.entries(flags).map(toEntry));
}

function toEntry([name, { short, value, help }]: FlagRow): Entry {
  return [`${short ? `-${short}, ` : '    '}--${name}${value ? ` ${value}` : ''}`, help];
}
