import { parseBehaviours } from '../contract/behaviours.ts';
import { checkedDefaultFixture } from '../fixture/default-fixture.ts';
import { type Fixture, type FixtureInput, parseFixture } from '../fixture/parse-fixture.ts';
import type { BehaviourChanges } from '../mailbox/without-msw.ts';
import { replaceMailFiles } from '../server/mail-files.ts';
import { createEnvironment, newKey, newPassword } from '../world/environment.ts';

/** The fields of a fixture, and of its rows, that hold secrets, with what creates a new one. */
const SECRET_FIELDS: Readonly<Record<string, (secret: string) => string>> = {
  key: (secret) => newKey(createEnvironment(), secret.slice(0, 3)),
  imapPassword: () => newPassword(createEnvironment()),
};

/**
 * Returns the fixture of an emulator in which trials run. Without a fixture, it is the default one with empty inboxes, so
 * that an agent has nothing to do but what the scenario says.
 *
 * @param hasNewSecrets - Whether each key and each password is replaced by a new one that nobody can know, so that an agent
 *   that knows the fixture cannot act in place of somebody else.
 * @throws {FixtureError} if the fixture is not valid.
 */
export async function createTrialFixture(
  fixtures: FixtureInput | undefined,
  behaviours: BehaviourChanges,
  hasNewSecrets: boolean,
): Promise<FixtureInput> {
  const fixture: Fixture =
    fixtures === undefined
      ? withEmptyInboxes(checkedDefaultFixture)
      : parseFixture(await replaceMailFiles(fixtures, process.cwd()), parseBehaviours(behaviours));
  return (hasNewSecrets ? replaceSecrets(fixture) : fixture) as FixtureInput;
}

function withEmptyInboxes(fixture: Fixture): Fixture {
  const copy = structuredClone(fixture) as { readonly tenants: Fixture['tenants'] };
  for (const { workspaces } of Object.values(copy.tenants)) {
    for (const { inboxes } of Object.values(workspaces)) {
      for (const inbox of Object.values(inboxes)) Object.assign(inbox, { messages: [], drafts: [] });
    }
  }
  return copy as Fixture;
}

/** Returns a copy of a part of a fixture in which each secret is a new one. */
function replaceSecrets(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(replaceSecrets);
  if (typeof part !== 'object' || part === null || part instanceof Uint8Array) return part;
  const fields = Object.entries(part).map(([name, value]) => {
    const create = Object.hasOwn(SECRET_FIELDS, name) ? SECRET_FIELDS[name] : undefined;
    return [name, create && typeof value === 'string' ? create(value) : replaceSecrets(value)];
  });
  return Object.fromEntries(fields);
}
