import type { Rows, TenantRow } from './rows.ts';
import type { WorldSnapshot } from './world.ts';
import type { Worlds } from './worlds.ts';

/** Everything one tenant owns, as plain data. */
export type TenantState = TenantRow & { readonly [Kind in Exclude<keyof Rows, 'tenants'>]: readonly Rows[Kind][] };

/** Everything a mailbox holds, as plain data: secrets and whole keys too, because it is for tests. */
export interface MailboxState {
  /** The whole `sa_` keys. */
  readonly operatorKeys: readonly string[];
  /** Each tenant with the rows of everything that it owns. */
  readonly tenants: readonly TenantState[];
}

/** Copies the state of a mailbox; changing the copy changes nothing. */
export function readState(worlds: Worlds): MailboxState {
  const { operatorKeys, tenants } = worlds.snapshot();
  return structuredClone({ operatorKeys, tenants: tenants.flatMap(toTenantState) });
}

function toTenantState({ tenants, ...rest }: WorldSnapshot): TenantState[] {
  return tenants.map((tenant) => ({ ...tenant, ...rest }));
}
