import type { NamedFixture } from '../../fixture/keys-and-ids.ts';
import { buildMailbox } from '../../mailbox/mailbox.ts';
import type { RunCommand } from '../command.ts';
import { explainFixtureError } from '../files.ts';
import { readFixture } from '../read-fixture.ts';
import { describeCounts } from './banner.ts';

/** Checks a fixture file. */
export const validate: RunCommand = async (terminal, _, file = '') => {
  const fixtures = (await readFixture(file, terminal.err)) as NamedFixture;
  try {
    // The fixture is loaded in the same way as by `start`, so that `start` accepts each fixture that is valid here.
    const state = buildMailbox({ fixtures }).mailbox.snapshot();
    terminal.out(`${file} is a valid fixture: ${describeCounts(state)}.`);
  } catch (error) {
    throw explainFixtureError(error, file);
  }
};
