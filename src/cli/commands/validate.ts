import type { NamedFixture } from '../../fixture/keys-and-ids.ts';
import { buildMailbox } from '../../mailbox/mailbox.ts';
import type { MailboxState, TenantState } from '../../mailbox/without-msw.ts';
import type { RunCommand } from '../command.ts';
import { explainFixtureError } from '../files.ts';
import { readFixture } from '../read-fixture.ts';

/** Checks a fixture file. */
export const validate: RunCommand = async (terminal, _, file = '') => {
  terminal.out(`${file} is a valid fixture: ${describe(load(await readFixture(file, terminal.err), file))}.`);
};

/** Loads the fixture in the same way as `start`, so that `start` accepts each fixture that is valid here. */
function load(fixtures: unknown, file: string): MailboxState {
  try {
    return buildMailbox({ fixtures: fixtures as NamedFixture }).mailbox.snapshot();
  } catch (error) {
    throw explainFixtureError(error, file);
  }
}

/** The collections that are counted, each with its singular noun. */
const COUNTED = {
  workspaces: 'workspace',
  inboxes: 'inbox',
  messages: 'message',
  attachments: 'attachment',
  drafts: 'draft',
  lists: 'list',
  domains: 'domain',
  webhooks: 'webhook',
} as const satisfies Partial<Record<keyof TenantState, string>>;

function describe({ tenants }: MailboxState): string {
  const counts = Object.entries(COUNTED).map(([kind, noun]) => {
    const count = tenants.reduce((sum, tenant) => sum + tenant[kind as keyof typeof COUNTED].length, 0);
    return { noun, kind, count };
  });
  const present = counts.filter(({ count }) => count > 0);
  return [{ noun: 'tenant', kind: 'tenants', count: tenants.length }, ...present]
    .map(({ noun, kind, count }) => `${count} ${count === 1 ? noun : kind}`)
    .join(', ');
}
