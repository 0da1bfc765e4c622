import { createDatabase, type Database } from './database.ts';
import type { KeyRing } from './key-ring.ts';
import type { ApiKeyRow, RowKind, Rows, TenantRow } from './rows.ts';

/** The rows of a world at one moment; rows are frozen, so keeping them is enough. */
export type WorldSnapshot = { readonly [Kind in RowKind]: readonly Rows[Kind][] };

/**
 * Everything one tenant owns. Each world has a database of its own, so a query cannot cross tenants.
 * Keys go through `addKey` and `removeKey`, which keep the mailbox's key ring in step.
 */
export interface World extends Database {
  readonly id: string;
  /** @throws if any tenant has a key with this text: a key leads to one place. */
  addKey(row: ApiKeyRow): ApiKeyRow;
  /** Ends a key: the very next request with it is refused. */
  removeKey(id: string): ApiKeyRow | undefined;
  snapshot(): WorldSnapshot;
  /** Makes everything as it was; the key ring must not know the world's present keys any more. */
  restore(snapshot: WorldSnapshot): void;
  /** Ends every key of the world. */
  close(): void;
}

/** Creates the world of a tenant, empty but for the tenant itself. */
export function createWorld(tenant: TenantRow, keyRing: KeyRing): World {
  const database = createDatabase();
  const kinds = Object.keys(database) as RowKind[];
  database.tenants.insert(tenant);

  const ring = (row: ApiKeyRow) => keyRing.set(row.key, { world, row });

  const world: World = {
    ...database,
    id: tenant.id,
    addKey(row) {
      if (keyRing.has(row.key)) throw new Error('This key is in use already.');
      const added = database.apiKeys.insert(row);
      ring(added);
      return added;
    },
    removeKey(id) {
      const removed = database.apiKeys.remove(id);
      if (removed) keyRing.delete(removed.key);
      return removed;
    },
    snapshot: () => Object.fromEntries(kinds.map((kind) => [kind, database[kind].all()])) as unknown as WorldSnapshot,
    restore(snapshot) {
      for (const kind of kinds) restoreCollection(database, kind, snapshot);
      database.apiKeys.all().forEach(ring);
    },
    close() {
      for (const row of database.apiKeys.all()) keyRing.delete(row.key);
    },
  };
  return world;
}

function restoreCollection<Kind extends RowKind>(database: Database, kind: Kind, snapshot: WorldSnapshot): void {
  database[kind].restore(snapshot[kind]);
}
