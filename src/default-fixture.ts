import defaults from '../fixtures/default.json' with { type: 'json' };
import type { FixtureInput } from './contract/fixture.ts';

/** The fixture of a mailbox that is given none: the tenants Acme and Globex, with fixed ids, times and keys. */
export const defaultFixture = defaults as FixtureInput;
