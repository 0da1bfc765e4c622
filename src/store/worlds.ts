import { Clock } from '../clock/clock.ts';
import { domainOf, SANDBOX_DOMAIN } from '../contract/emulator-domains.ts';
import { DEFAULT_MAX_MAIL_BYTES } from '../contract/size.ts';
import { type Environment, memoryForMail } from '../environment.ts';
import { countOnlySaved } from './count-saved.ts';
import type { ReachableWorlds } from './reachable-worlds.ts';
import type { TenantRow } from './rows.ts';
import { type SandboxStart, SandboxWorld } from './sandbox-world.ts';
import {
  createWorld,
  type InboxLocation,
  Indexes,
  type KeyHolder,
  sizeOfMailIn,
  type World,
  type WorldSnapshot,
  type WorldsSnapshot,
} from './world.ts';

const MORE_BY_OPTION = 'allow more by --max-mail <size>, or maxMailBytes in code';
const MORE_BY_MEMORY = 'give the process more memory, as by NODE_OPTIONS=--max-old-space-size=<MiB>';

type RemovedListener = (world: World, kind: 'tenant' | 'sandbox') => void;

/** The tenant worlds of one mailbox with its sandboxes, and the indexes of their keys and addresses. */
export class Worlds implements ReachableWorlds {
  readonly sandboxDomain = undefined;
  /** The clock of the operator; the clock of a new tenant starts with its time. */
  readonly clock: Clock;
  /** The environment of the mailbox, with the time of the operator. */
  readonly environment: Environment;
  /** The limit for the stored mail of all tenants, in bytes. */
  readonly maxMailBytes: number;
  readonly moreMail: string;
  readonly saved = new Map<string, () => readonly WorldsSnapshot[]>();
  readonly #realEnvironment: Environment;
  readonly #indexes = new Indexes();
  readonly #worlds = new Map<string, World>();
  readonly #sandboxes = new Map<string, SandboxWorld>();
  readonly #sandboxesByDomain = new Map<string, SandboxWorld>();
  readonly #removedListeners = new Set<RemovedListener>();

  /** Creates the worlds of a mailbox, without tenants and keys. */
  constructor(realEnvironment: Environment, maxMailBytes = DEFAULT_MAX_MAIL_BYTES) {
    const clock = new Clock(realEnvironment);
    this.clock = clock;
    this.environment = { ...realEnvironment, now: () => clock.now() };
    const memory = memoryForMail(realEnvironment);
    this.maxMailBytes = Math.min(maxMailBytes, memory);
    this.moreMail = maxMailBytes < memory ? MORE_BY_OPTION : MORE_BY_MEMORY;
    this.#realEnvironment = realEnvironment;
  }

  /** Creates worlds without tenants, with the same environment and limit. */
  createEmpty(): Worlds {
    return new Worlds(this.#realEnvironment, this.maxMailBytes);
  }

  get(tenantId: string): World | undefined {
    return this.#worlds.get(tenantId) ?? this.#sandboxes.get(tenantId)?.world;
  }

  /** Returns every world, in the order of creation; those of sandboxes come last. */
  all(): World[] {
    return [...this.#worlds.values(), ...Array.from(this.#sandboxes.values(), ({ world }) => world)];
  }

  /** Returns every world that is not a sandbox. */
  neighbours(): World[] {
    return [...this.#worlds.values()];
  }

  /** Returns what the clients of a tenant can reach: in a sandbox only itself. */
  reachableFrom({ id }: World): ReachableWorlds {
    return this.#sandboxes.get(id) ?? this;
  }

  /** Returns the owner of a key. This takes the same time for any number of keys. */
  findKey(key: string): KeyHolder | undefined {
    const holder = this.#indexes.keys.get(key);
    const sandbox = holder && 'world' in holder ? this.#sandboxes.get(holder.world.id) : undefined;
    return sandbox?.isOpen === false ? undefined : holder;
  }

  /** Returns every valid key. */
  keys(): string[] {
    return [...this.#indexes.keys.keys()];
  }

  /** Finds the inbox of an address in lower case: of a sandbox by its domain, or else of a tenant. */
  findAddress(address: string): InboxLocation | undefined {
    const sandbox = this.#sandboxOf(address);
    return sandbox ? sandbox.findAddress(address) : this.#indexes.addresses.get(address);
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

  /** Creates a sandbox, which starts with the time of the operator. */
  addSandbox(start: SandboxStart): SandboxWorld {
    const sandbox = new SandboxWorld(start, { keys: this.#indexes.keys, whole: this });
    sandbox.clock.copyTimeFrom(this.clock);
    this.#sandboxes.set(sandbox.world.id, sandbox);
    this.#sandboxesByDomain.set(start.domain, sandbox);
    return sandbox;
  }

  /** Removes a tenant or a sandbox with its world, keys and addresses, and returns whether it existed. */
  remove(tenantId: string): boolean {
    const world = this.get(tenantId);
    if (!world) return false;
    this.#worlds.delete(tenantId);
    this.saved.delete(tenantId);
    const kind = this.#endSandbox(tenantId) ? 'sandbox' : 'tenant';
    world.clock.reset();
    world.close();
    for (const notify of this.#removedListeners) notify(world, kind);
    return true;
  }

  /** Calls the listener with each world that `remove` removes. */
  onRemoved(listener: RemovedListener): void {
    this.#removedListeners.add(listener);
  }

  /** Calls the listener with each key that becomes invalid. A reset makes every key invalid for a moment. */
  onKeyEnded(listener: (key: string) => void): void {
    this.#indexes.keys.onEnded(listener);
  }

  countMailBytes(wanted = Number.POSITIVE_INFINITY): number {
    const present = sizeOfMailIn(this.all());
    const saved = [...this.saved.values()].flatMap((list) => list());
    const atMost = saved.reduce((bytes, { mailBytes }) => bytes + mailBytes, present);
    return atMost + wanted <= this.maxMailBytes ? atMost : present + countOnlySaved(saved, (id) => this.get(id));
  }

  snapshot(): WorldsSnapshot {
    const operatorKeys = [...this.#indexes.keys].filter(([, holder]) => 'tier' in holder).map(([key]) => key);
    const worlds = this.neighbours();
    return { operatorKeys, tenants: worlds.map((world) => world.snapshot()), mailBytes: sizeOfMailIn(worlds) };
  }

  /** Replaces all data, and closes every sandbox. */
  restore({ operatorKeys, tenants }: WorldsSnapshot): void {
    for (const tenantId of [...this.#sandboxes.keys()]) this.remove(tenantId);
    const previous = new Map(this.#worlds);
    for (const { clock } of [this, ...previous.values()]) clock.reset();
    this.#worlds.clear();
    this.#indexes.keys.clear();
    this.#indexes.addresses.clear();
    for (const key of operatorKeys) this.addOperatorKey(key);
    for (const snapshot of tenants) this.#restoreWorld(snapshot, previous);
  }

  #endSandbox(tenantId: string): boolean {
    const sandbox = this.#sandboxes.get(tenantId);
    if (!sandbox) return false;
    this.#sandboxes.delete(tenantId);
    this.#sandboxesByDomain.delete(sandbox.sandboxDomain);
    sandbox.end();
    return true;
  }

  #sandboxOf(address: string): SandboxWorld | undefined {
    const labels = domainOf(address).split('.');
    const domain = labels.slice(-1 - SANDBOX_DOMAIN.split('.').length).join('.');
    return this.#sandboxesByDomain.get(domain);
  }

  #restoreWorld(snapshot: WorldSnapshot, previous: ReadonlyMap<string, World>): void {
    const [tenant] = snapshot.tenants;
    if (!tenant) throw new Error('A world without a tenant cannot be restored.');
    const world = previous.get(tenant.id) ?? createWorld(tenant, this.#indexes, this.#realEnvironment);
    this.#worlds.set(tenant.id, world);
    world.restore(snapshot);
  }
}
