import type { Tier } from '../contract/tiers.ts';
import type { TenantKeys } from '../fixture/fixture-keys.ts';
import type { TenantState } from '../store/state.ts';
import type { AnyServer } from './any-server.ts';

/** A key, and the tenant, workspace or inbox that it belongs to. */
export interface ExampleKey {
  readonly key: string;
  readonly name: string;
  /** The id of its owner; the platform has none. */
  readonly id?: string;
}

/** One key of each tier; a tier without a key is left out. */
export type ExampleKeys = Partial<Readonly<Record<Tier, ExampleKey>>>;

/** Returns the operator key, the key of the first tenant, and the first workspace and inbox keys of that tenant. */
export function findExampleKeys({ mailbox }: AnyServer): ExampleKeys {
  const operator = { key: String(mailbox.keys.operator), name: 'the platform' };
  const [first] = Object.entries(mailbox.ids);
  if (!first) return { operator };
  const [handle, ids] = first;
  const keys = mailbox.keys[handle] as TenantKeys;
  const tenant = mailbox.snapshot().tenants.find(({ id }) => id === ids.tenant);
  const nameOfWorkspace = (workspace: string) => tenant?.workspaces.find(({ id }) => id === workspace)?.name;
  return {
    operator,
    ...exampleKeyOf('tenant', { [handle]: keys.tenant }, { [handle]: ids.tenant }, () => tenant?.name),
    ...exampleKeyOf('workspace', keys.workspaces, ids.workspaces, nameOfWorkspace),
    ...exampleKeyOf('inbox', keys.inboxes, ids.inboxes, (inbox) => addressOf(tenant, inbox)),
  };
}

/** Returns the first key of a tier with the name of its owner. `keys` and `ids` have the same handles. */
function exampleKeyOf(
  tier: Tier,
  keys: Readonly<Record<string, string>>,
  ids: Readonly<Record<string, string>>,
  nameOf: (id: string) => string | undefined,
): ExampleKeys {
  const [handle, key] = Object.entries(keys)[0] ?? [];
  if (!handle || !key) return {};
  const id = String(ids[handle]);
  return { [tier]: { key, name: String(nameOf(id)), id } };
}

function addressOf(tenant: TenantState | undefined, inbox: string): string | undefined {
  return tenant?.addresses.find(({ inboxId, isPrimary }) => inboxId === inbox && isPrimary)?.address;
}
