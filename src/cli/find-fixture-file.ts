import { existsSync } from 'node:fs';

/** The default file of `init`; `start` loads it if it is in the working folder. */
export const DEFAULT_FIXTURE_FILE = 'mailbox.jsonc';

/** Returns the fixture file of the working folder, if there is one. */
export function findFixtureFile(): string | undefined {
  return existsSync(DEFAULT_FIXTURE_FILE) ? DEFAULT_FIXTURE_FILE : undefined;
}
