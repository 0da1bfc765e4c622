import { Clock } from '../clock/clock.ts';
import type { Environment } from '../environment.ts';
import { AddressIndex } from './address-index.ts';
import { type Collections, createDatabase, type Database, ROW_KINDS } from './database.ts';
import { KeyIndex } from './key-index.ts';
import { MAIL_KINDS } from './row-size.ts';
import type { AddressRow, ApiKeyRow, RowKind, Rows, TenantRow, WorkspaceRow } from './rows.ts';

/** The owner of a key: an operator, or a key row in a tenant's world. */
export type KeyHolder = { readonly tier: 'operator' } | { readonly world: World; readonly row: ApiKeyRow };

/** The inbox that receives the mail of an address, and its world. */
export interface InboxLocation {
  readonly world: World;
  readonly inboxId: string;
}

/** The indexes of a mailbox, across all tenants. */
export class Indexes {
  readonly keys = new KeyIndex<KeyHolder>();
  readonly addresses = new AddressIndex<InboxLocation>();
}

/** All data of a world at one moment. Stored rows are frozen, so they need no copy. */
export type WorldSnapshot = { readonly [Kind in RowKind]: readonly Rows[Kind][] };

/** The operator keys and all data of a mailbox at one moment, without its sandboxes. */
export interface WorldsSnapshot {
  /** The size of the mail, in bytes. */
  readonly mailBytes: number;
  readonly operatorKeys: readonly string[];
  readonly tenants: readonly WorldSnapshot[];
}

/**
 * The data and the clock of one tenant. Each world has its own database, so a query cannot cross tenants. Change keys
 * and addresses only through the methods here, which update the indexes of the mailbox.
 */
export interface World extends Database {
  readonly id: string;
  /** The clock of the tenant. */
  readonly clock: Clock;
  /** The environment of the mailbox, with the time of the tenant. */
  readonly environment: Environment;
  /** Adds a key. @throws if any tenant has a key with this text. */
  addKey(row: ApiKeyRow): ApiKeyRow;
  /** Removes a key; requests with it are refused from now on. */
  removeKey(id: string): ApiKeyRow | undefined;
  /** Adds an address. @throws if any inbox has this address. */
  addAddress(row: AddressRow): AddressRow;
  /** Removes an address; no inbox receives its mail any more. */
  removeAddress(id: string): AddressRow | undefined;
  snapshot(): WorldSnapshot;
  /** Replaces every row; the indexes must have been cleared before. */
  restore(snapshot: WorldSnapshot): void;
  /** Removes every key and address of the world from the indexes. */
  close(): void;
}

/** Returns the size of the mail of some worlds, in bytes. */
export function sizeOfMailIn(worlds: readonly World[]): number {
  return worlds.reduce((sum, world) => MAIL_KINDS.reduce((bytes, kind) => bytes + world[kind].mailBytes, sum), 0);
}

/** Creates the world of a tenant, with only the tenant's own row. */
export function createWorld(tenant: TenantRow, indexes: Indexes, realEnvironment: Environment): World {
  const clock = new Clock(realEnvironment);
  const database = createDatabase();
  database.tenants.insert(tenant);
  const keys = indexRows<ApiKeyRow, KeyHolder>(database.apiKeys, indexes.keys, {
    textOf: ({ key }) => key,
    holderOf: (row) => ({ world, row }),
    duplicateMessage: 'This key is already in use.',
  });
  const addresses = indexRows<AddressRow, InboxLocation>(database.addresses, indexes.addresses, {
    textOf: ({ address }) => address,
    holderOf: ({ inboxId }) => ({ world, inboxId }),
    duplicateMessage: 'This address is already in use.',
  });
  const world: World = {
    ...database,
    id: tenant.id,
    clock,
    environment: { ...realEnvironment, now: () => clock.now() },
    addKey: keys.add,
    removeKey: keys.remove,
    addAddress: addresses.add,
    removeAddress: addresses.remove,
    snapshot: () =>
      Object.fromEntries(ROW_KINDS.map((kind) => [kind, database[kind].all()])) as unknown as WorldSnapshot,
    restore(snapshot) {
      for (const kind of ROW_KINDS) restoreCollection(database, kind, snapshot);
      for (const indexed of [keys, addresses]) indexed.fillIndex();
    },
    close() {
      for (const indexed of [keys, addresses]) indexed.clearIndex();
    },
  };
  return world;
}

/** Returns the default workspace of a tenant; `undefined` if it has no workspaces. */
export function defaultWorkspace({ workspaces }: World): WorkspaceRow | undefined {
  return workspaces.all().find(({ isDefault }) => isDefault);
}

/** Returns whether a tenant has a domain with this name that is verified. */
export function hasVerifiedDomain({ domains }: World, domain: string): boolean {
  return domains.by('domain', domain).some(({ status }) => status === 'verified');
}

interface IndexRules<Row, Holder> {
  readonly textOf: (row: Row) => string;
  readonly holderOf: (row: Row) => Holder;
  /** The error message if another row has the same text. */
  readonly duplicateMessage: string;
}

/** Updates an index of the mailbox with each change of one collection of a world. */
function indexRows<Row, Holder>(
  rows: { all(): Row[]; insert(row: Row): Row; remove(id: string): Row | undefined },
  index: Map<string, Holder>,
  { textOf, holderOf, duplicateMessage }: IndexRules<Row, Holder>,
) {
  const addToIndex = (row: Row) => void index.set(textOf(row), holderOf(row));
  return {
    add(row: Row): Row {
      if (index.has(textOf(row))) throw new Error(duplicateMessage);
      const added = rows.insert(row);
      addToIndex(added);
      return added;
    },
    remove(id: string): Row | undefined {
      const removed = rows.remove(id);
      if (removed) index.delete(textOf(removed));
      return removed;
    },
    fillIndex: () => rows.all().forEach(addToIndex),
    clearIndex() {
      for (const row of rows.all()) index.delete(textOf(row));
    },
  };
}

function restoreCollection<Kind extends RowKind>(collections: Collections, kind: Kind, snapshot: WorldSnapshot): void {
  collections[kind].restore(snapshot[kind]);
}
