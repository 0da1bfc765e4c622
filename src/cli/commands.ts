import type { Command } from './command.ts';
import { DEFAULT_FIXTURE_FILE } from './find-fixture-file.ts';
import { BEHAVIOURS_FLAGS, RECEIVE_FLAGS, START_FLAGS, TRIGGER_FLAGS } from './flags.ts';

/** Every command, by name. The code of a command is loaded when it runs, so that help does not wait for a server. */
export const COMMANDS = {
  start: {
    help: 'Run the emulator; this is what runs without a command',
    flags: START_FLAGS,
    load: async () => (await import('./start.ts')).start,
  },
  receive: {
    help: 'Deliver an inbound message to a running emulator',
    flags: RECEIVE_FLAGS,
    load: async () => (await import('./receive.ts')).receive,
  },
  trigger: {
    help: 'Fire an event by hand in a running emulator',
    argument: '<event>',
    flags: TRIGGER_FLAGS,
    load: async () => (await import('./trigger.ts')).trigger,
  },
  init: {
    help: `Write a commented fixture to begin with (default ${DEFAULT_FIXTURE_FILE})`,
    argument: '[file]',
    flags: {},
    load: async () => (await import('./init.ts')).init,
  },
  validate: {
    help: 'Check a fixture and name each problem with its path',
    argument: '<file>',
    flags: {},
    load: async () => (await import('./validate.ts')).validate,
  },
  behaviours: {
    help: 'List what the service document leaves open, or explain one entry',
    argument: '[id]',
    flags: BEHAVIOURS_FLAGS,
    load: async () => (await import('./behaviours.ts')).behaviours,
  },
} as const satisfies Record<string, Command>;

/** The name of a command. */
export type CommandName = keyof typeof COMMANDS;

/** What runs when no command is named. */
export const DEFAULT_COMMAND: CommandName = 'start';
