import { Clock } from '../clock/clock.ts';
import type { Environment } from '../environment.ts';
import { type AddressIndex, createAddressIndex } from './address-index.ts';
import { createDatabase, type Database } from './database.ts';
import { createKeyIndex, type KeyIndex } from './key-index.ts';
import type { AddressRow, ApiKeyRow, RowKind, Rows, TenantRow } from './rows.ts';

/** What a key text stands for: an operator, or a key row in a tenant's world. */
export type KeyHolder = { readonly tier: 'operator' } | { readonly world: World; readonly row: ApiKeyRow };

/** The inbox at which an address receives, and the world it lives in. */
export interface AddressHolder {
  readonly world: World;
  readonly inboxId: string;
}

/** What is found by its text whatever tenant has it, each in one look-up. */
export interface Indexes {
  readonly keys: KeyIndex<KeyHolder>;
  readonly addresses: AddressIndex<AddressHolder>;
}

/** Creates indexes that are empty. */
export function createIndexes(): Indexes {
  return { keys: createKeyIndex(), addresses: createAddressIndex() };
}

/** The rows of a world at one moment; rows are frozen, so keeping them is enough. */
export type WorldSnapshot = { readonly [Kind in RowKind]: readonly Rows[Kind][] };

/**
 * Everything one tenant owns. Each world has a database of its own, so a query cannot cross tenants.
 * Keys and addresses go through the methods here, which keep the mailbox's indexes in step.
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
  /** Makes everything as it was; the indexes must not have what the world has at present any more. */
  restore(snapshot: WorldSnapshot): void;
  /** Ends every key and every address of the world. */
  close(): void;
}

/** Creates the world of a tenant, empty but for the tenant itself. */
export function createWorld(tenant: TenantRow, indexes: Indexes, outside: Environment): World {
  const clock = new Clock(outside);
  const database = createDatabase();
  const kinds = Object.keys(database) as RowKind[];
  database.tenants.insert(tenant);

  const indexKey = (row: ApiKeyRow) => indexes.keys.set(row.key, { world, row });
  const indexAddress = ({ address, inboxId }: AddressRow) => indexes.addresses.set(address, { world, inboxId });

  const world: World = {
    ...database,
    id: tenant.id,
    clock,
    environment: { ...outside, now: () => clock.now() },
    addKey(row) {
      if (indexes.keys.has(row.key)) throw new Error('This key is in use already.');
      const added = database.apiKeys.insert(row);
      indexKey(added);
      return added;
    },
    removeKey(id) {
      const removed = database.apiKeys.remove(id);
      if (removed) indexes.keys.delete(removed.key);
      return removed;
    },
    addAddress(row) {
      if (indexes.addresses.has(row.address)) throw new Error('This address is in use already.');
      const added = database.addresses.insert(row);
      indexAddress(added);
      return added;
    },
    removeAddress(id) {
      const removed = database.addresses.remove(id);
      if (removed) indexes.addresses.delete(removed.address);
      return removed;
    },
    snapshot: () => Object.fromEntries(kinds.map((kind) => [kind, database[kind].all()])) as unknown as WorldSnapshot,
    restore(snapshot) {
      for (const kind of kinds) restoreCollection(database, kind, snapshot);
      database.apiKeys.all().forEach(indexKey);
      database.addresses.all().forEach(indexAddress);
    },
    close() {
      for (const { key } of database.apiKeys.all()) indexes.keys.delete(key);
      for (const { address } of database.addresses.all()) indexes.addresses.delete(address);
    },
  };
  return world;
}

function restoreCollection<Kind extends RowKind>(database: Database, kind: Kind, snapshot: WorldSnapshot): void {
  database[kind].restore(snapshot[kind]);
}
