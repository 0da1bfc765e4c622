import type { Tier } from '../contract/tiers.ts';
import type { TenantIds } from '../fixture/fixture-ids.ts';
import type { TenantKeys } from '../fixture/fixture-keys.ts';
import type { MailboxServer } from '../server/start-server.ts';
import type { TenantState } from '../store/state.ts';

/** A server whose fixture is whatever the user gave. */
export type AnyServer = MailboxServer<
  Readonly<Record<string, string | TenantKeys>>,
  Readonly<Record<string, TenantIds>>
>;

/** A key and who it speaks for. */
export interface KeyHolder {
  readonly key: string;
  readonly who: string;
}

/** One key of each tier that there is. */
export type KeyHolders = Partial<Readonly<Record<Tier, KeyHolder>>>;

/** One key of each tier that the fixture has: the operator's, and the first tenant's with its first of each. */
export function findKeyHolders({ mailbox }: AnyServer): KeyHolders {
  const operator = { key: String(mailbox.keys.operator), who: 'the platform' };
  const [first] = Object.entries(mailbox.ids);
  if (!first) return { operator };
  const [handle, ids] = first;
  const keys = mailbox.keys[handle] as TenantKeys;
  const tenant = mailbox.snapshot().tenants.find(({ id }) => id === ids.tenant);
  const nameOfWorkspace = (workspace: string) => tenant?.workspaces.find(({ id }) => id === workspace)?.name;
  return {
    operator,
    tenant: { key: keys.tenant, who: String(tenant?.name) },
    ...holderOf('workspace', keys.workspaces, ids.workspaces, nameOfWorkspace),
    ...holderOf('inbox', keys.inboxes, ids.inboxes, (inbox) => addressOf(tenant, inbox)),
  };
}

/** The first of the keys that stand by handle, with the name of what the same handle has as its id. */
function holderOf(
  tier: Tier,
  keys: Readonly<Record<string, string>>,
  ids: Readonly<Record<string, string>>,
  nameOf: (id: string) => string | undefined,
): KeyHolders {
  const [first] = Object.entries(keys);
  if (!first) return {};
  const [handle, key] = first;
  return { [tier]: { key, who: String(nameOf(String(ids[handle]))) } };
}

function addressOf(tenant: TenantState | undefined, inbox: string): string | undefined {
  return tenant?.addresses.find(({ inboxId, isPrimary }) => inboxId === inbox && isPrimary)?.address;
}
