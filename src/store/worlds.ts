import { Clock } from '../clock/clock.ts';
import { DEFAULT_MAX_MAIL_BYTES } from '../contract/size.ts';
import type { Environment } from '../environment.ts';
import type { TenantRow } from './rows.ts';
import {
  type AddressHolder,
  createIndexes,
  createWorld,
  type KeyHolder,
  type World,
  type WorldSnapshot,
} from './world.ts';

/** The state of a whole mailbox at one moment. */
export interface WorldsSnapshot {
  readonly operatorKeys: readonly string[];
  readonly tenants: readonly WorldSnapshot[];
}

/** Every tenant world of one mailbox, and the indexes that lead into them. */
export interface Worlds {
  /** The time of the operator, which a new tenant starts with. */
  readonly clock: Clock;
  /** The outside world, with the operator's time. */
  readonly environment: Environment;
  get(tenantId: string): World | undefined;
  /** Every tenant's world, in the order of creation. */
  all(): World[];
  /** What this key text stands for; one look-up, however many keys there are. */
  findKey(key: string): KeyHolder | undefined;
  /** The inbox that receives at this address, in lower case, whatever tenant it is of. */
  findAddress(address: string): AddressHolder | undefined;
  /** The inboxes that have tagged forms of this address, in lower case, whatever tenant they are of. */
  findTagged(address: string): AddressHolder[];
  addOperatorKey(key: string): void;
  /** Creates a tenant's world. @throws if a tenant with this id exists. */
  add(tenant: TenantRow): World;
  /** Ends a tenant: its world is gone and its keys are refused. Answers whether there was one. */
  remove(tenantId: string): boolean;
  /** Tells of each tenant that is ended by `remove`. */
  onRemoved(listener: (world: World) => void): void;
  /** Tells of each key that ends, for whatever reason; a reset ends every one. */
  onKeyEnded(listener: (key: string) => void): void;
  /** The most that stored mail may count, in bytes. */
  readonly maxMailBytes: number;
  /** What the mail of every tenant counts, in bytes. */
  countMailBytes(): number;
  /** Says whether the test holds for any tenant's world. */
  some(test: (world: World) => boolean): boolean;
  snapshot(): WorldsSnapshot;
  restore(snapshot: WorldsSnapshot): void;
}

/** Creates a mailbox's worlds, with no tenant and no key. */
export function createWorlds(outside: Environment, maxMailBytes = DEFAULT_MAX_MAIL_BYTES): Worlds {
  const clock = new Clock(outside);
  const indexes = createIndexes();
  const worlds = new Map<string, World>();
  const removedListeners = new Set<(world: World) => void>();

  const operatorKeys = () =>
    indexes.keys
      .entries()
      .filter(([, holder]) => 'tier' in holder)
      .map(([key]) => key);
  const addOperatorKey = (key: string) => void indexes.keys.set(key, { tier: 'operator' });

  function add(tenant: TenantRow): World {
    if (worlds.has(tenant.id)) throw new Error(`There is a tenant with the id ${tenant.id} already.`);
    const world = createWorld(tenant, indexes, outside);
    world.clock.follow(clock);
    worlds.set(tenant.id, world);
    return world;
  }

  function restoreWorld(snapshot: WorldSnapshot, known: ReadonlyMap<string, World>): void {
    const [tenant] = snapshot.tenants;
    if (!tenant) throw new Error('A world without a tenant cannot be restored.');
    const world = known.get(tenant.id) ?? createWorld(tenant, indexes, outside);
    worlds.set(tenant.id, world);
    world.restore(snapshot);
  }

  return {
    clock,
    environment: { ...outside, now: () => clock.now() },
    get: (tenantId) => worlds.get(tenantId),
    all: () => [...worlds.values()],
    findKey: (key) => indexes.keys.get(key),
    findAddress: (address) => indexes.addresses.get(address),
    findTagged: (address) => indexes.addresses.tagged(address),
    addOperatorKey,
    add,
    remove(tenantId) {
      const world = worlds.get(tenantId);
      if (!world) return false;
      worlds.delete(tenantId);
      world.clock.reset();
      world.close();
      for (const tell of removedListeners) tell(world);
      return true;
    },
    onRemoved: (listener) => void removedListeners.add(listener),
    onKeyEnded: indexes.keys.onEnded,
    maxMailBytes,
    countMailBytes: () =>
      [...worlds.values()].reduce(
        (sum, { messages, attachments, drafts }) => sum + messages.mailBytes + attachments.mailBytes + drafts.mailBytes,
        0,
      ),
    some: (test) => [...worlds.values()].some(test),
    snapshot: () => ({
      operatorKeys: operatorKeys(),
      tenants: [...worlds.values()].map((world) => world.snapshot()),
    }),
    restore(snapshot) {
      const known = new Map(worlds);
      for (const each of [clock, ...[...known.values()].map((world) => world.clock)]) each.reset();
      worlds.clear();
      indexes.keys.clear();
      indexes.addresses.clear();
      snapshot.operatorKeys.forEach(addOperatorKey);
      for (const world of snapshot.tenants) restoreWorld(world, known);
    },
  };
}
