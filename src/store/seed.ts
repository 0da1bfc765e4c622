import { MailLimitError, showSize } from '../contract/size.ts';
import { checkedDefaultFixture } from '../fixture/checked-default-fixture.ts';
import type { Fixture } from '../fixture/parse-fixture.ts';
import { defaultRows } from './default-rows.ts';
import { insertFixture } from './insert-fixture.ts';
import type { WorldsSnapshot } from './world.ts';
import type { Worlds } from './worlds.ts';

/** The rows of each frozen fixture that was seeded before; mailboxes share them, because rows are frozen too. */
const SEEDED = new WeakMap<Fixture, WorldsSnapshot>([[checkedDefaultFixture, defaultRows]]);

/** Fills empty worlds with a validated fixture. @throws {MailLimitError} if its mail is larger than the limit. */
export function seedWithinLimit(worlds: Worlds, fixture: Fixture): void {
  seed(worlds, fixture);
  const [used, limit] = [worlds.countMailBytes(), worlds.maxMailBytes];
  if (used <= limit) return;
  throw new MailLimitError(
    `The fixture has ${showSize(used)} of mail, and ${showSize(limit)} may be stored; ${worlds.moreMail}.`,
  );
}

/** Fills empty worlds with a validated fixture. */
export function seed(worlds: Worlds, fixture: Fixture): void {
  const seeded = SEEDED.get(fixture);
  if (seeded) worlds.restore(seeded);
  else insertFixture(worlds, fixture);
  if (Object.isFrozen(fixture)) SEEDED.set(fixture, seeded ?? worlds.snapshot());
}
