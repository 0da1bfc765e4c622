import { Clock } from '../clock/clock.ts';
import type { Environment } from '../environment.ts';
import { AddressIndex } from './address-index.ts';
import { createDatabase, type Database } from './database.ts';
import { KeyIndex } from './key-index.ts';
import type { AddressRow, ApiKeyRow, RowKind, Rows, TenantRow, WorkspaceRow } from './rows.ts';

/** What a key text stands for: an operator, or a key row in a tenant's world. */
export type KeyHolder = { readonly tier: 'operator' } | { readonly world: World; readonly row: ApiKeyRow };

/** The inbox at which an address receives, and the world it lives in. */
export interface AddressHolder {
  readonly world: World;
  readonly inboxId: string;
}

/** The indexes of a whole mailbox: each finds by a text, whatever tenant has it, in one look-up. */
export class Indexes {
  readonly keys = new KeyIndex<KeyHolder>();
  readonly addresses = new AddressIndex<AddressHolder>();
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
  /** @throws if any tenant has a key with this text. */
  addKey(row: ApiKeyRow): ApiKeyRow;
  /** Ends a key: the very next request with it is refused. */
  removeKey(id: string): ApiKeyRow | undefined;
  /** @throws if any inbox has this address. */
  addAddress(row: AddressRow): AddressRow;
  /** Ends an address: no inbox receives mail to it any more. */
  removeAddress(id: string): AddressRow | undefined;
  snapshot(): WorldSnapshot;
  /** Restores every row; the indexes must have been cleared before. */
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
  const keys = indexRows<ApiKeyRow, KeyHolder>(database.apiKeys, indexes.keys, {
    textOf: ({ key }) => key,
    holderOf: (row) => ({ world, row }),
    takenMessage: 'This key is already in use.',
  });
  const addresses = indexRows<AddressRow, AddressHolder>(database.addresses, indexes.addresses, {
    textOf: ({ address }) => address,
    holderOf: ({ inboxId }) => ({ world, inboxId }),
    takenMessage: 'This address is already in use.',
  });
  const world: World = {
    ...database,
    id: tenant.id,
    clock,
    environment: { ...outside, now: () => clock.now() },
    addKey: keys.add,
    removeKey: keys.remove,
    addAddress: addresses.add,
    removeAddress: addresses.remove,
    snapshot: () => Object.fromEntries(kinds.map((kind) => [kind, database[kind].all()])) as unknown as WorldSnapshot,
    restore(snapshot) {
      for (const kind of kinds) restoreCollection(database, kind, snapshot);
      for (const indexed of [keys, addresses]) indexed.fillIndex();
    },
    close() {
      for (const indexed of [keys, addresses]) indexed.clearIndex();
    },
  };
  return world;
}

/** The workspace that is used if none is named; `undefined` in a tenant without workspaces. */
export function defaultWorkspace({ workspaces }: World): WorkspaceRow | undefined {
  return workspaces.all().find(({ isDefault }) => isDefault);
}

/** Says whether a tenant has a domain that is verified. */
export function hasVerified({ domains }: World, domain: string): boolean {
  return domains.by('domain', domain).some(({ status }) => status === 'verified');
}

interface IndexRules<Row, Holder> {
  readonly textOf: (row: Row) => string;
  readonly holderOf: (row: Row) => Holder;
  /** The error if another row has the text. */
  readonly takenMessage: string;
}

/** Keeps an index of the whole mailbox in step with one collection of a world. */
function indexRows<Row, Holder>(
  rows: { all(): Row[]; insert(row: Row): Row; remove(id: string): Row | undefined },
  index: Map<string, Holder>,
  { textOf, holderOf, takenMessage }: IndexRules<Row, Holder>,
) {
  const enter = (row: Row) => void index.set(textOf(row), holderOf(row));
  return {
    add(row: Row): Row {
      if (index.has(textOf(row))) throw new Error(takenMessage);
      const added = rows.insert(row);
      enter(added);
      return added;
    },
    remove(id: string): Row | undefined {
      const removed = rows.remove(id);
      if (removed) index.delete(textOf(removed));
      return removed;
    },
    fillIndex: () => rows.all().forEach(enter),
    clearIndex() {
      for (const row of rows.all()) index.delete(textOf(row));
    },
  };
}

function restoreCollection<Kind extends RowKind>(database: Database, kind: Kind, snapshot: WorldSnapshot): void {
  database[kind].restore(snapshot[kind]);
}
