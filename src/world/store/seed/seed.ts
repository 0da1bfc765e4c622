import { fromBase64 } from '../../../basics/base64.ts';
import { freezeDeep } from '../../../basics/freeze-deep.ts';
import { MailLimitError, showSize } from '../../../basics/size.ts';
import { checkedDefaultFixture } from '../../../fixture/default-fixture.ts';
import type { Fixture } from '../../../fixture/parse-fixture.ts';
import type { WorldsSnapshot } from '../world.ts';
import type { Worlds } from '../worlds.ts';
import rows from './default-rows.json' with { type: 'json' };
import { insertFixture } from './insert-fixture.ts';

const tenants = rows.tenants.map(({ attachments, ...others }) => ({
  ...others,
  attachments: attachments.map(({ content, ...row }) => ({ ...row, content: fromBase64(content) })),
}));

/** The rows of the default fixture. `npm run docs` computes them, because that takes longer than reading them. */
const defaultRows = freezeDeep({ ...rows, tenants } as unknown as WorldsSnapshot);

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
