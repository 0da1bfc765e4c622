import { foldAddress } from '../../basics/domain-name.ts';
import { Clock } from '../clock.ts';
import type { Environment } from '../environment.ts';
import { KnownSecrets } from '../secrets/known-secrets.ts';
import { createMask } from '../secrets/mask.ts';
import {
  type Collections,
  createDatabase,
  type Database,
  MAIL_KINDS,
  ROW_KINDS,
  type RowListener,
} from './database.ts';
import { AddressIndex, KeyIndex } from './indexes/property-index.ts';
import { addPart, type Owner, type Part, Parts, type PartTable } from './parts.ts';
import type { AddressRow, ApiKeyRow, InboxRow, RowKind, Rows, TenantRow, WorkspaceRow } from './rows.ts';
import { KINDS_WITH_SECRETS, secretsOfRow } from './secrets-of-row.ts';

/** Where a key belongs: to the operator, or to the row of the key in the world of its tenant. */
export type KeyLocation = { readonly tier: 'operator' } | { readonly world: World; readonly row: ApiKeyRow };

/** The inbox that receives the mail of an address, and its world. */
export interface InboxLocation {
  readonly world: World;
  readonly inboxId: string;
}

/** What the worlds of a mailbox share: the indexes across all tenants, and the table of parts. */
export class Shared {
  readonly parts: PartTable = new Map();
  readonly rotations = addPart(this.parts, 'rotated keys', () => new Rotations());
  readonly keys = new KeyIndex<KeyLocation>();
  readonly addresses = new AddressIndex<InboxLocation>();
  /** The secrets of all worlds and of the mailbox, also former ones. */
  readonly secrets = new KnownSecrets();
  /** Masks these secrets in everything that is shown of them. */
  readonly mask = createMask(this.secrets);
  /** The size of the mail of all worlds. It is updated at each change, because each new mail needs this size. */
  readonly mail = { bytes: 0 };
  /** The number of the latest epoch. An epoch begins with each reset or restore of the mailbox or of a sandbox. */
  readonly epochs = { latest: 0 };
  /** Is called after a row of any world was inserted, updated or removed. */
  onRowChange: (world: World, ...change: Parameters<RowListener>) => void = () => {};

  /** Returns the same with another index of addresses, for a sandbox. */
  withAddresses(addresses: Shared['addresses']): Shared {
    return Object.assign(Object.create(this), { addresses });
  }
}

/** The replacement of a key by another key. */
export interface Rotation {
  readonly keyId: string;
  readonly newKeyId: string;
  /** When the key was replaced, by the clock of the tenant. */
  readonly at: Date;
}

/** How many rotated keys of each tenant are remembered. */
const MAX_ROTATIONS = 1_000;

/** The latest rotations of keys of a tenant, by the text of the old key. */
class Rotations extends Map<string, Rotation> implements Part {
  /** If another key replaces a removed key, records this rotation. Returns the removed key. */
  record(removed: ApiKeyRow | undefined, newKeyId: string | undefined, at: Date): ApiKeyRow | undefined {
    if (!removed || newKeyId === undefined) return removed;
    const [oldest = ''] = this.size < MAX_ROTATIONS ? [] : this.keys();
    this.delete(oldest);
    this.set(removed.key, { keyId: removed.id, newKeyId, at });
    return removed;
  }

  end(): void {}
}

type RowLists = { readonly [Kind in RowKind]: readonly Rows[Kind][] };

/** All data of a world at one moment. Stored rows are frozen, so they need no copy. */
export type WorldSnapshot = Omit<RowLists, 'tenants'> & { readonly tenants: readonly [TenantRow] };

/** The operator keys and all data of a mailbox at one moment, without its sandboxes. */
export interface MailboxSnapshot {
  /** The size of the mail, in bytes. */
  readonly mailBytes: number;
  readonly operatorKeys: readonly string[];
  readonly tenants: readonly WorldSnapshot[];
}

/**
 * Everything of one tenant: its data, its clock and its parts. Each world has its own database, so a query cannot cross
 * tenants. Change keys and addresses only through the methods here, which update the indexes of the mailbox.
 */
export interface World extends Database, Owner {
  readonly id: string;
  /** The environment of the mailbox, with the time of the tenant. */
  readonly environment: Environment;
  /** Adds a key. @throws if any tenant has a key with this text. */
  addKey(row: ApiKeyRow): ApiKeyRow;
  /** Removes a key. Requests with this key are then refused. `replacedBy` is the id of the key that replaces it. */
  removeKey(id: string, options?: { readonly replacedBy: string }): ApiKeyRow | undefined;
  /** Returns the rotation of a key that was replaced after the last reset; otherwise `undefined`. */
  rotationOf(key: string): Rotation | undefined;
  /** Adds an address. @throws if any inbox has this address. */
  addAddress(row: AddressRow): AddressRow;
  /** Removes an address. No inbox receives mail to this address any more. */
  removeAddress(id: string): AddressRow | undefined;
  snapshot(): WorldSnapshot;
  /** Replaces every row; the indexes must have been cleared before. */
  restore(snapshot: WorldSnapshot): void;
  /** The rows with which the present epoch began; undefined before `markStart` or `restore`. */
  readonly rowsAtStart: WorldSnapshot | undefined;
  /** Sets the rows with which the present epoch began. */
  markStart(snapshot: WorldSnapshot): void;
  /** The lengths of the bodies of messages and drafts, as JSON, by their rows, which never change. */
  readonly lengthsInJson: WeakMap<object, number>;
  /** Removes every key and address of the world from the indexes, and its mail from the size of all mail. */
  close(): void;
}

/** Returns the size of the mail of some worlds, in bytes. */
export function sizeOfMailIn(worlds: readonly World[]): number {
  return worlds.reduce((sum, world) => MAIL_KINDS.reduce((bytes, kind) => bytes + world[kind].mailBytes, sum), 0);
}

/** Creates the world of a tenant, with only the tenant's own row. */
export function createWorld(tenant: TenantRow, shared: Shared, realEnvironment: Environment): World {
  const clock = new Clock(realEnvironment);
  let rowsAtStart: WorldSnapshot | undefined;
  const mail = createMailCounter(shared.mail, () => sizeOfMailIn([world]));
  const database = createDatabase(mail.add, (...change) => {
    secrets.change(...change);
    shared.onRowChange(world, ...change);
  });
  const secrets = createSecretKeeper(shared.secrets, database);
  const keys = indexRows(database.apiKeys, shared.keys, 'key', (row) => ({ world, row }));
  const addresses = indexRows(database.addresses, shared.addresses, 'address', ({ inboxId }) => ({ world, inboxId }));
  const world: World = {
    id: tenant.id,
    clock,
    ...database,
    get parts() {
      return parts;
    },
    environment: { ...realEnvironment, now: () => clock.now() },
    addKey: keys.add,
    removeKey: (id, options) => shared.rotations(world).record(keys.remove(id), options?.replacedBy, clock.now()),
    rotationOf: (key) => shared.rotations.in([world])[0]?.get(key),
    addAddress: addresses.add,
    removeAddress: addresses.remove,
    snapshot: () =>
      Object.fromEntries(ROW_KINDS.map((kind) => [kind, database[kind].all()])) as unknown as WorldSnapshot,
    get rowsAtStart() {
      return rowsAtStart;
    },
    lengthsInJson: new WeakMap(),
    markStart(snapshot) {
      rowsAtStart = snapshot;
    },
    restore(snapshot) {
      rowsAtStart = snapshot;
      for (const kind of ROW_KINDS) restoreCollection(database, kind, snapshot);
      for (const indexed of [keys, addresses, mail, secrets]) indexed.include();
    },
    close() {
      for (const indexed of [keys, addresses, mail, secrets]) indexed.exclude();
    },
  };
  const parts = new Parts(world, shared);
  database.tenants.insert(tenant);
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

/** Returns functions that change a collection of a world and, at the same time, an index of the mailbox. */
function indexRows<Name extends string, Row extends { readonly [Text in Name]: string }, Location>(
  rows: { all(): Row[]; insert(row: Row): Row; remove(id: string): Row | undefined },
  index: Map<string, Location>,
  name: Name,
  locationOf: (row: Row) => Location,
) {
  const addToIndex = (row: Row) => void index.set(row[name], locationOf(row));
  return {
    add(row: Row): Row {
      if (index.has(row[name])) throw new Error(`This ${name} is already in use.`);
      const added = rows.insert(row);
      addToIndex(added);
      return added;
    },
    remove(id: string): Row | undefined {
      const removed = rows.remove(id);
      if (removed) index.delete(removed[name]);
      return removed;
    },
    include: () => rows.all().forEach(addToIndex),
    exclude() {
      for (const row of rows.all()) index.delete(row[name]);
    },
  };
}

/** Returns functions that add the mail of a world to the size of all mail. A closed world is not counted. */
function createMailCounter(total: { bytes: number }, sizeOfWorld: () => number) {
  let isCounted = true;
  return {
    add(change: number) {
      if (isCounted) total.bytes += change;
    },
    include() {
      if (!isCounted) total.bytes += sizeOfWorld();
      isCounted = true;
    },
    exclude() {
      if (isCounted) total.bytes -= sizeOfWorld();
      isCounted = false;
    },
  };
}

/**
 * Returns functions that tell what a mailbox knows of the secrets in the rows of a world. Those of a closed world are
 * former secrets.
 */
function createSecretKeeper(known: KnownSecrets, database: Database) {
  let isOpen = true;
  function all(): string[] {
    return KINDS_WITH_SECRETS.flatMap((kind) => {
      const rows: readonly object[] = database[kind].all();
      return rows.flatMap((row) => secretsOfRow(kind, row));
    });
  }
  return {
    change(...[kind, before, after]: Parameters<RowListener>) {
      if (!isOpen) return;
      // The new secrets come first, so that one that stays is never a former one.
      for (const secret of secretsOfRow(kind, after)) known.add(secret);
      for (const secret of secretsOfRow(kind, before)) known.remove(secret);
    },
    include() {
      for (const secret of all()) known.add(secret);
      isOpen = true;
    },
    exclude() {
      if (isOpen) for (const secret of all()) known.remove(secret);
      isOpen = false;
    },
  };
}

function restoreCollection<Kind extends RowKind>(collections: Collections, kind: Kind, rows: RowLists): void {
  collections[kind].restore(rows[kind]);
}

/** Returns the address with which an inbox was created. It never changes. */
export function canonicalAddress({ username, domain }: Pick<InboxRow, 'username' | 'domain'>): string {
  return `${username}@${domain}`;
}

/** Returns whether an inbox has this bare address. */
export function isOwnAddress(world: World, inboxId: string, address: string): boolean {
  return world.addresses.by('inboxId', inboxId).some((row) => row.address === foldAddress(address));
}

/** Returns the address from which an inbox currently sends. */
export function primaryAddress(world: World, inbox: InboxRow): string {
  return world.addresses.by('inboxId', inbox.id).find(({ isPrimary }) => isPrimary)?.address ?? canonicalAddress(inbox);
}
