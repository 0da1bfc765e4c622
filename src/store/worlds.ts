import { Clock } from '../clock/clock.ts';
import { DEFAULT_MAX_MAIL_BYTES } from '../contract/size.ts';
import type { Environment } from '../environment.ts';
import type { TenantRow } from './rows.ts';
import { type AddressHolder, createWorld, Indexes, type KeyHolder, type World, type WorldSnapshot } from './world.ts';

/** The state of a whole mailbox at one moment. */
interface WorldsSnapshot {
  readonly operatorKeys: readonly string[];
  readonly tenants: readonly WorldSnapshot[];
}

/** Every tenant world of one mailbox, and the indexes that lead into them. */
export class Worlds {
  /** The time of the operator, which a new tenant starts with. */
  readonly clock: Clock;
  /** The outside world, with the operator's time. */
  readonly environment: Environment;
  /** The largest size of the stored mail of all tenants, in bytes. */
  readonly maxMailBytes: number;
  readonly #outside: Environment;
  readonly #indexes = new Indexes();
  readonly #worlds = new Map<string, World>();
  readonly #removedListeners = new Set<(world: World) => void>();

  /** Creates a mailbox's worlds, with no tenant and no key. */
  constructor(outside: Environment, maxMailBytes = DEFAULT_MAX_MAIL_BYTES) {
    const clock = new Clock(outside);
    this.clock = clock;
    this.environment = { ...outside, now: () => clock.now() };
    this.maxMailBytes = maxMailBytes;
    this.#outside = outside;
  }

  get(tenantId: string): World | undefined {
    return this.#worlds.get(tenantId);
  }

  /** Every tenant's world, in the order of creation. */
  all(): World[] {
    return [...this.#worlds.values()];
  }

  /** What this key text stands for; one look-up, however many keys there are. */
  findKey(key: string): KeyHolder | undefined {
    return this.#indexes.keys.get(key);
  }

  /** The inbox that receives at this address, in lower case, whatever tenant it is of. */
  findAddress(address: string): AddressHolder | undefined {
    return this.#indexes.addresses.get(address);
  }

  /** The inboxes that have tagged forms of this address, in lower case, whatever tenant they are of. */
  findTagged(address: string): AddressHolder[] {
    return this.#indexes.addresses.tagged(address);
  }

  addOperatorKey(key: string): void {
    this.#indexes.keys.set(key, { tier: 'operator' });
  }

  /** Creates a tenant's world. @throws if a tenant with this id exists. */
  add(tenant: TenantRow): World {
    if (this.#worlds.has(tenant.id)) throw new Error(`A tenant with the id ${tenant.id} already exists.`);
    const world = createWorld(tenant, this.#indexes, this.#outside);
    world.clock.follow(this.clock);
    this.#worlds.set(tenant.id, world);
    return world;
  }

  /** Ends a tenant: its world is gone and its keys are refused. Answers whether there was one. */
  remove(tenantId: string): boolean {
    const world = this.#worlds.get(tenantId);
    if (!world) return false;
    this.#worlds.delete(tenantId);
    world.clock.reset();
    world.close();
    for (const notify of this.#removedListeners) notify(world);
    return true;
  }

  /** Calls the listener with each tenant that is ended by `remove`. */
  onRemoved(listener: (world: World) => void): void {
    this.#removedListeners.add(listener);
  }

  /** Calls the listener with each key that ends, for whatever reason; a reset ends every one. */
  onKeyEnded(listener: (key: string) => void): void {
    this.#indexes.keys.onEnded(listener);
  }

  /** The size of the stored mail of all tenants, in bytes. */
  countMailBytes(): number {
    const collections = this.all().flatMap(({ messages, attachments, drafts }) => [messages, attachments, drafts]);
    return collections.reduce((sum, { mailBytes }) => sum + mailBytes, 0);
  }

  /** Says whether the test holds for any tenant's world. */
  some(test: (world: World) => boolean): boolean {
    return this.all().some(test);
  }

  snapshot(): WorldsSnapshot {
    const operatorKeys = [...this.#indexes.keys].filter(([, holder]) => 'tier' in holder).map(([key]) => key);
    return { operatorKeys, tenants: this.all().map((world) => world.snapshot()) };
  }

  restore({ operatorKeys, tenants }: WorldsSnapshot): void {
    const known = new Map(this.#worlds);
    for (const { clock } of [this, ...known.values()]) clock.reset();
    this.#worlds.clear();
    this.#indexes.keys.clear();
    this.#indexes.addresses.clear();
    for (const key of operatorKeys) this.addOperatorKey(key);
    for (const snapshot of tenants) this.#restoreWorld(snapshot, known);
  }

  #restoreWorld(snapshot: WorldSnapshot, known: ReadonlyMap<string, World>): void {
    const [tenant] = snapshot.tenants;
    if (!tenant) throw new Error('A world without a tenant cannot be restored.');
    const world = known.get(tenant.id) ?? createWorld(tenant, this.#indexes, this.#outside);
    this.#worlds.set(tenant.id, world);
    world.restore(snapshot);
  }
}
