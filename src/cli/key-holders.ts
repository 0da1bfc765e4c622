import type { Tier } from '../contract/tiers.ts';
import type { TenantIds } from '../fixture/fixture-ids.ts';
import type { TenantKeys } from '../fixture/fixture-keys.ts';
import type { MailboxServer } from '../server/start-server.ts';
import type { TenantState } from '../store/state.ts';

/** A server with any fixture. */
export type AnyServer = MailboxServer<
  Readonly<Record<string, string | TenantKeys>>,
  Readonly<Record<string, TenantIds>>
>;

/** A key, and the name of the tenant, workspace or inbox that it belongs to. */
export interface KeyHolder {
  readonly key: string;
  readonly name: string;
}

/** One key of each tier; a tier without a key is left out. */
export type KeyHolders = Partial<Readonly<Record<Tier, KeyHolder>>>;

/** Finds the operator key, and the tenant key and the first workspace and inbox keys of the first tenant. */
export function findKeyHolders({ mailbox }: AnyServer): KeyHolders {
  const operator = { key: String(mailbox.keys.operator), name: 'the platform' };
  const [first] = Object.entries(mailbox.ids);
  if (!first) return { operator };
  const [handle, ids] = first;
  const keys = mailbox.keys[handle] as TenantKeys;
  const tenant = mailbox.snapshot().tenants.find(({ id }) => id === ids.tenant);
  const nameOfWorkspace = (workspace: string) => tenant?.workspaces.find(({ id }) => id === workspace)?.name;
  return {
    operator,
    tenant: { key: keys.tenant, name: String(tenant?.name) },
    ...holderOf('workspace', keys.workspaces, ids.workspaces, nameOfWorkspace),
    ...holderOf('inbox', keys.inboxes, ids.inboxes, (inbox) => addressOf(tenant, inbox)),
  };
}

/** Returns the first key of a tier with the name of its holder. `keys` and `ids` have the same handles. */
function holderOf(
  tier: Tier,
  keys: Readonly<Record<string, string>>,
  ids: Readonly<Record<string, string>>,
  nameOf: (id: string) => string | undefined,
): KeyHolders {
  const [first] = Object.entries(keys);
  if (!first) return {};
  const [handle, key] = first;
  return { [tier]: { key, name: String(nameOf(String(ids[handle]))) } };
}

function addressOf(tenant: TenantState | undefined, inbox: string): string | undefined {
  return tenant?.addresses.find(({ inboxId, isPrimary }) => inboxId === inbox && isPrimary)?.address;
}
