import { existsSync } from 'node:fs';

/** The fixture that `init` writes and `start` uses if it is in the working folder. */
export const DEFAULT_FIXTURE_FILE = 'mailbox.jsonc';

/** The fixture file of the working folder, if there is one. */
export function findFixtureFile(): string | undefined {
  return existsSync(DEFAULT_FIXTURE_FILE) ? DEFAULT_FIXTURE_FILE : undefined;
}
