import type { NamedFixture } from '../../fixture/keys-and-ids.ts';
import { buildMailbox } from '../../mailbox/mailbox.ts';
import type { MailboxState } from '../../mailbox/without-msw.ts';
import type { RunCommand } from '../command.ts';
import { explainFixtureError } from '../files.ts';
import { readFixture } from '../read-fixture.ts';
import { describeCounts } from './banner.ts';

/** Checks a fixture file. */
export const validate: RunCommand = async (terminal, _, file = '') => {
  terminal.out(`${file} is a valid fixture: ${describeCounts(load(await readFixture(file, terminal.err), file))}.`);
};

/** Loads the fixture in the same way as `start`, so that `start` accepts each fixture that is valid here. */
function load(fixtures: unknown, file: string): MailboxState {
  try {
    return buildMailbox({ fixtures: fixtures as NamedFixture }).mailbox.snapshot();
  } catch (error) {
    throw explainFixtureError(error, file);
  }
}
