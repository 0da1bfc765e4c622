import { NAME } from '../basics/version.ts';
import type { Command, Flag } from './command.ts';
import { COMMANDS, type CommandName, DEFAULT_COMMAND } from './commands.ts';
import { COMMON_FLAGS, type FlagRow, variableOf } from './flags.ts';
import { type Entry, toList, WIDTH, wrap } from './layout.ts';

/** Returns the text of `--help`: for one command, or the overview. */
export function helpText(topic?: CommandName): string {
  return (topic === undefined ? overview() : commandHelp(topic)).join('\n');
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
      ...commands.map(([name, command]): Entry => [usageOf(name, command), command.help]),
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
    ...wrap('If other machines can reach the emulator, control calls need the token that it prints.', WIDTH),
    '',
    ...wrap(
      'Exit codes: 0 for success, or after SIGINT or SIGTERM; 1 for a failure; 2 for wrong usage; ' +
        'that of the other command for exec.',
      WIDTH,
    ),
  ];
}

const ABOUT_VARIABLES = wrap(
  `Environment variables can set flags too: ${variableOf('port')} sets --port. Put commas between the items of a list.`,
  WIDTH,
);

function commandHelp(name: CommandName): string[] {
  const command: Command = COMMANDS[name];
  return [
    `Usage: ${NAME} ${usageOf(name, command, ' [flags]')}`,
    '',
    ...wrap(`${command.help}.`, WIDTH),
    '',
    'Flags:',
    ...listFlags({ ...command.flags, ...COMMON_FLAGS }),
    '',
    ...ABOUT_VARIABLES,
  ];
}

/** Returns a command with its argument, its flags if given, and the command that it runs. */
export function usageOf(name: string, { argument, runsAnother }: Command, flags = ''): string {
  return `${name}${argument ? ` ${argument}` : ''}${flags}${runsAnother ? ' -- <command>' : ''}`;
}

function listFlags(flags: Readonly<Record<string, Flag>>): string[] {
  return toList(Object.entries(flags).map(toEntry));
}

function toEntry([name, { short, value, help }]: FlagRow): Entry {
  return [`${short ? `-${short}, ` : '    '}--${name}${value ? ` ${value}` : ''}`, help];
}
