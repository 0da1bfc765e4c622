import type { ReachableWorlds } from './reachable-worlds.ts';
import type { Rows, TenantRow } from './rows.ts';
import { type ShownRow, showRows } from './seed/show-row.ts';
import type { WorldSnapshot } from './world.ts';

/** All data of one tenant. */
export type TenantState = TenantRow & {
  readonly [Kind in Exclude<keyof Rows, 'tenants'>]: readonly ShownRow<Rows[Kind]>[];
};

/** All data of a mailbox. It includes secrets and full keys, because it is for tests. */
export interface MailboxState {
  /** The whole `sa_` keys. */
  readonly operatorKeys: readonly string[];
  /** Each tenant with the rows of everything that it owns. */
  readonly tenants: readonly TenantState[];
}

/** Returns a deep copy of the state of a mailbox. */
export function readState(worlds: ReachableWorlds): MailboxState {
  const { operatorKeys, tenants } = worlds.snapshot();
  return { operatorKeys: [...operatorKeys], tenants: tenants.flatMap(toTenantState) };
}

function toTenantState({ tenants, ...rest }: WorldSnapshot): TenantState[] {
  return tenants.map((tenant) => ({ ...tenant, ...showRows(rest) }));
}
