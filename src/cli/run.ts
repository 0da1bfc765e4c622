import { checkNodeVersion, NAME, VERSION } from '../basics/version.ts';
import type { Command, Terminal } from './command.ts';
import { type CommandLine, parseCommandLine } from './command-line.ts';
import { COMMANDS } from './commands.ts';
import { helpText } from './help.ts';

/** Runs a command to its end and returns its exit code. */
export async function run(terminal: Terminal): Promise<number> {
  try {
    checkNodeVersion();
    const code = await runCommand(terminal, parseCommandLine(terminal.args, terminal.env));
    return code ?? 0;
  } catch (error) {
    const { message, exitCode = 1 } = error as Error & { readonly exitCode?: number };
    terminal.err(`${NAME}: ${message}`);
    return exitCode;
  }
}

async function runCommand(terminal: Terminal, line: CommandLine): Promise<number | undefined> {
  if (line.action === 'help') return void terminal.out(helpText(line.topic));
  if (line.action === 'version') return void terminal.out(VERSION);
  const command: Command = COMMANDS[line.action];
  const runLoaded = await command.load();
  const code = await runLoaded(terminal, line.flags, line.argument, line.other ?? []);
  return typeof code === 'number' ? code : undefined;
}
