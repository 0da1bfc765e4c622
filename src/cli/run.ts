import { NAME, VERSION } from '../version.ts';
import { type Command, type Terminal, UsageError } from './command.ts';
import { type CommandLine, parseCommandLine } from './command-line.ts';
import { COMMANDS } from './commands.ts';
import { helpText } from './help.ts';

/** Runs a command to its end and returns its exit code. */
export async function run(terminal: Terminal): Promise<0 | 1 | 2> {
  try {
    await runCommand(terminal, parseCommandLine(terminal.args, terminal.env));
    return 0;
  } catch (error) {
    terminal.err(`${NAME}: ${(error as Error).message}`);
    return error instanceof UsageError ? 2 : 1;
  }
}

async function runCommand(terminal: Terminal, line: CommandLine): Promise<void> {
  if (line.action === 'help') return terminal.out(helpText(line.topic));
  if (line.action === 'version') return terminal.out(VERSION);
  const command: Command = COMMANDS[line.action];
  const runLoaded = await command.load();
  await runLoaded(terminal, line.flags, line.argument);
}
