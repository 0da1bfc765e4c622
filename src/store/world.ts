import { Clock } from '../clock/clock.ts';
import type { Environment } from '../environment.ts';
import { createDatabase, type Database } from './database.ts';
import type { Rings } from './indexes.ts';
import type { AddressRow, ApiKeyRow, RowKind, Rows, TenantRow } from './rows.ts';

/** The rows of a world at one moment; rows are frozen, so keeping them is enough. */
export type WorldSnapshot = { readonly [Kind in RowKind]: readonly Rows[Kind][] };

/**
 * Everything one tenant owns. Each world has a database of its own, so a query cannot cross tenants.
 * Keys and addresses go through the methods here, which keep the mailbox's rings in step.
 */
export interface World extends Database {
  readonly id: string;
  /** The tenant's own time. */
  readonly clock: Clock;
  /** The outside world, with the tenant's own time. */
  readonly environment: Environment;
  /** @throws if any tenant has a key with this text: a key leads to one place. */
  addKey(row: ApiKeyRow): ApiKeyRow;
  /** Ends a key: the very next request with it is refused. */
  removeKey(id: string): ApiKeyRow | undefined;
  /** @throws if any inbox has this address: mail to it goes to one place. */
  addAddress(row: AddressRow): AddressRow;
  /** Ends an address: mail to it finds nobody. */
  removeAddress(id: string): AddressRow | undefined;
  snapshot(): WorldSnapshot;
  /** Makes everything as it was; the rings must not know what the world has at present any more. */
  restore(snapshot: WorldSnapshot): void;
  /** Ends every key and every address of the world. */
  close(): void;
}

/** Creates the world of a tenant, empty but for the tenant itself. */
export function createWorld(tenant: TenantRow, rings: Rings, outside: Environment): World {
  const clock = new Clock(outside);
  const database = createDatabase();
  const kinds = Object.keys(database) as RowKind[];
  database.tenants.insert(tenant);

  const ringKey = (row: ApiKeyRow) => rings.keys.set(row.key, { world, row });
  const ringAddress = ({ address, inboxId }: AddressRow) => rings.addresses.set(address, { world, inboxId });

  const world: World = {
    ...database,
    id: tenant.id,
    clock,
    environment: { ...outside, now: () => clock.now() },
    addKey(row) {
      if (rings.keys.has(row.key)) throw new Error('This key is in use already.');
      const added = database.apiKeys.insert(row);
      ringKey(added);
      return added;
    },
    removeKey(id) {
      const removed = database.apiKeys.remove(id);
      if (removed) rings.keys.delete(removed.key);
      return removed;
    },
    addAddress(row) {
      if (rings.addresses.has(row.address)) throw new Error('This address is in use already.');
      const added = database.addresses.insert(row);
      ringAddress(added);
      return added;
    },
    removeAddress(id) {
      const removed = database.addresses.remove(id);
      if (removed) rings.addresses.delete(removed.address);
      return removed;
    },
    snapshot: () => Object.fromEntries(kinds.map((kind) => [kind, database[kind].all()])) as unknown as WorldSnapshot,
    restore(snapshot) {
      for (const kind of kinds) restoreCollection(database, kind, snapshot);
      database.apiKeys.all().forEach(ringKey);
      database.addresses.all().forEach(ringAddress);
    },
    close() {
      for (const { key } of database.apiKeys.all()) rings.keys.delete(key);
      for (const { address } of database.addresses.all()) rings.addresses.delete(address);
    },
  };
  return world;
}

function restoreCollection<Kind extends RowKind>(database: Database, kind: Kind, snapshot: WorldSnapshot): void {
  database[kind].restore(snapshot[kind]);
}
