import defaults from '../fixtures/default.json' with { type: 'json' };
import type { FixtureInput } from './contract/fixture.ts';

/** The fixture of a mailbox that is given none: the tenants Acme and Globex, with fixed ids, times and keys. Frozen: change a copy. */
export const defaultFixture = freezeDeep(defaults as FixtureInput);

function freezeDeep<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(freezeDeep);
  return Object.freeze(value);
}
