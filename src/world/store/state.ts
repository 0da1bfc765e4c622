import { isBytes, toBase64 } from '../../basics/base64.ts';
import type { ReachableWorlds } from './reachable-worlds.ts';
import type { RowKind, Rows, TenantRow } from './rows.ts';
import type { WorldSnapshot } from './world.ts';

/** All data of one tenant. */
export type TenantState = TenantRow & {
  readonly [Kind in Exclude<keyof Rows, 'tenants'>]: readonly ShownRow<Rows[Kind]>[];
};

/** All data of a mailbox. It includes secrets and full keys, because it is for tests. */
export interface MailboxState {
  /** The `sa_` keys in full, not masked. */
  readonly operatorKeys: readonly string[];
  /** Each tenant with the rows of everything that it owns. */
  readonly tenants: readonly TenantState[];
}

/** Returns a deep copy of the state of a mailbox. */
export function readState(worlds: ReachableWorlds): MailboxState {
  const { operatorKeys, tenants } = worlds.snapshot();
  return {
    operatorKeys: [...operatorKeys],
    tenants: tenants.map(({ tenants: [tenant], ...rest }) => ({ ...tenant, ...showRows(rest) })),
  };
}

type WithBase64<Value> = Value extends Uint8Array ? string : Value;

/** A row as tests see it: with base64 in place of bytes. */
export type ShownRow<Row> = { readonly [Field in keyof Row]: WithBase64<Row[Field]> };

/**
 * Returns a copy of a row. A field of bytes becomes a getter that computes the base64 at each read, because the base64
 * of all mail together could need too much memory.
 */
export function showRow<Row extends object>(row: Row): ShownRow<Row> {
  const shown: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(row)) {
    if (isBytes(value)) {
      // `toJsonPieces` reads these bytes.
      const get = Object.assign(() => toBase64(value), { bytes: value });
      Object.defineProperty(shown, field, { get, enumerable: true, configurable: true });
    } else shown[field] = typeof value === 'object' && value !== null ? structuredClone(value) : value;
  }
  return shown as ShownRow<Row>;
}

/** Returns copies of rows, by their kind. */
export function showRows<Kind extends RowKind>(rows: Pick<WorldSnapshot, Kind>) {
  const shown = Object.entries<readonly object[]>(rows).map(([kind, list]) => [kind, list.map(showRow)]);
  return Object.fromEntries(shown) as { readonly [Each in Kind]: readonly ShownRow<Rows[Each]>[] };
}
