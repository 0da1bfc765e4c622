import { behaviours } from './behaviours.ts';
import type { Command } from './command.ts';
import { init } from './init.ts';
import { receive } from './receive.ts';
import { start } from './start.ts';
import { trigger } from './trigger.ts';
import { validate } from './validate.ts';

/** Every command, by name. */
export const COMMANDS = { start, receive, trigger, init, validate, behaviours } as const satisfies Record<
  string,
  Command
>;

/** The name of a command. */
export type CommandName = keyof typeof COMMANDS;

/** What runs when no command is named. */
export const DEFAULT_COMMAND: CommandName = 'start';
