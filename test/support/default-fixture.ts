import { defaultFixture } from 'agent-mailbox-mock';
import { parseFixture } from '../../src/fixture/parse-fixture.ts';

/** Computes the file that a start reads in place of checking the default fixture, by its path. */
export function computeDefaultFiles(): Readonly<Record<string, string>> {
  return { 'src/fixture/checked-default-fixture.json': `${JSON.stringify(parseFixture(defaultFixture), null, 1)}\n` };
}
