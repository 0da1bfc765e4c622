import { Clock } from '../clock/clock.ts';
import { DEFAULT_MAX_MAIL_BYTES } from '../contract/size.ts';
import type { Environment } from '../environment.ts';
import type { TenantRow } from './rows.ts';
import { createWorld, type InboxLocation, Indexes, type KeyHolder, type World, type WorldSnapshot } from './world.ts';

/** The operator keys and all data of a mailbox at one moment. */
export interface WorldsSnapshot {
  readonly operatorKeys: readonly string[];
  readonly tenants: readonly WorldSnapshot[];
}

/** The tenant worlds of one mailbox, and the indexes of their keys and addresses. */
export class Worlds {
  /** The clock of the operator; the clock of a new tenant starts with its time. */
  readonly clock: Clock;
  /** The environment of the mailbox, with the time of the operator. */
  readonly environment: Environment;
  /** The limit for the stored mail of all tenants, in bytes. */
  readonly maxMailBytes: number;
  readonly #realEnvironment: Environment;
  readonly #indexes = new Indexes();
  readonly #worlds = new Map<string, World>();
  readonly #removedListeners = new Set<(world: World) => void>();

  /** Creates the worlds of a mailbox, without tenants and keys. */
  constructor(realEnvironment: Environment, maxMailBytes = DEFAULT_MAX_MAIL_BYTES) {
    const clock = new Clock(realEnvironment);
    this.clock = clock;
    this.environment = { ...realEnvironment, now: () => clock.now() };
    this.maxMailBytes = maxMailBytes;
    this.#realEnvironment = realEnvironment;
  }

  get(tenantId: string): World | undefined {
    return this.#worlds.get(tenantId);
  }

  /** Returns every world, in the order of creation. */
  all(): World[] {
    return [...this.#worlds.values()];
  }

  /** Returns the owner of a key. This takes the same time for any number of keys. */
  findKey(key: string): KeyHolder | undefined {
    return this.#indexes.keys.get(key);
  }

  /** Returns every valid key. */
  keys(): string[] {
    return [...this.#indexes.keys.keys()];
  }

  /** Finds the inbox of an address in lower case, across all tenants. */
  findAddress(address: string): InboxLocation | undefined {
    return this.#indexes.addresses.get(address);
  }

  /** Finds the inboxes that have tagged forms of an address in lower case, across all tenants. */
  findTagged(address: string): InboxLocation[] {
    return this.#indexes.addresses.tagged(address);
  }

  addOperatorKey(key: string): void {
    this.#indexes.keys.set(key, { tier: 'operator' });
  }

  /** Creates a tenant's world. @throws if a tenant with this id exists. */
  add(tenant: TenantRow): World {
    if (this.#worlds.has(tenant.id)) throw new Error(`A tenant with the id ${tenant.id} already exists.`);
    const world = createWorld(tenant, this.#indexes, this.#realEnvironment);
    world.clock.copyTimeFrom(this.clock);
    this.#worlds.set(tenant.id, world);
    return world;
  }

  /** Removes a tenant with its world, keys and addresses, and returns whether it existed. */
  remove(tenantId: string): boolean {
    const world = this.#worlds.get(tenantId);
    if (!world) return false;
    this.#worlds.delete(tenantId);
    world.clock.reset();
    world.close();
    for (const notify of this.#removedListeners) notify(world);
    return true;
  }

  /** Calls the listener with each world that `remove` removes. */
  onRemoved(listener: (world: World) => void): void {
    this.#removedListeners.add(listener);
  }

  /** Calls the listener with each key that becomes invalid. A reset makes every key invalid for a moment. */
  onKeyEnded(listener: (key: string) => void): void {
    this.#indexes.keys.onEnded(listener);
  }

  /** The size of the stored mail of all tenants, in bytes. */
  countMailBytes(): number {
    const collections = this.all().flatMap(({ messages, attachments, drafts }) => [messages, attachments, drafts]);
    return collections.reduce((sum, { mailBytes }) => sum + mailBytes, 0);
  }

  /** Returns whether the test is true for any world. */
  some(test: (world: World) => boolean): boolean {
    return this.all().some(test);
  }

  snapshot(): WorldsSnapshot {
    const operatorKeys = [...this.#indexes.keys].filter(([, holder]) => 'tier' in holder).map(([key]) => key);
    return { operatorKeys, tenants: this.all().map((world) => world.snapshot()) };
  }

  restore({ operatorKeys, tenants }: WorldsSnapshot): void {
    const previous = new Map(this.#worlds);
    for (const { clock } of [this, ...previous.values()]) clock.reset();
    this.#worlds.clear();
    this.#indexes.keys.clear();
    this.#indexes.addresses.clear();
    for (const key of operatorKeys) this.addOperatorKey(key);
    for (const snapshot of tenants) this.#restoreWorld(snapshot, previous);
  }

  #restoreWorld(snapshot: WorldSnapshot, previous: ReadonlyMap<string, World>): void {
    const [tenant] = snapshot.tenants;
    if (!tenant) throw new Error('A world without a tenant cannot be restored.');
    const world = previous.get(tenant.id) ?? createWorld(tenant, this.#indexes, this.#realEnvironment);
    this.#worlds.set(tenant.id, world);
    world.restore(snapshot);
  }
}
