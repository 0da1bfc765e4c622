import type { MailboxOptions } from './mailbox.ts';

const SHARED_OPTIONS: Readonly<Record<Exclude<keyof MailboxOptions, 'baseUrl' | 'persist'>, true>> = {
  fixtures: true,
  behaviours: true,
  maxMailBytes: true,
  faults: true,
  journalSize: true,
  loopLimit: true,
  seed: true,
  environment: true,
};

/** The names of the options that every mailbox has, also that of a server. */
export const SHARED_OPTION_NAMES: readonly string[] = Object.keys(SHARED_OPTIONS);
