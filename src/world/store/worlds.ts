import { foldAddress } from '../../basics/domain-name.ts';
import { domainOf, SANDBOX_DOMAIN } from '../../contract/addresses/email-address.ts';
import { Clock } from '../clock.ts';
import { type Environment, memoryForMail } from '../environment.ts';
import type { Owner, Part, PartOf } from './parts.ts';
import { addPart, Parts } from './parts.ts';
import {
  countOnlySaved,
  type ReachableWorlds,
  type SandboxName,
  type SavedOwners,
  SavedStates,
} from './reachable-worlds.ts';
import type { TenantRow } from './rows.ts';
import { type SandboxStart, SandboxWorlds } from './sandbox-worlds.ts';
import type { InboxLocation, KeyLocation, MailboxSnapshot, WorldSnapshot } from './world.ts';
import { createWorld, Shared, sizeOfMailIn, type World } from './world.ts';

const MORE_BY_OPTION = 'allow more by --max-mail <size>, or maxMailBytes in code';
const MORE_BY_MEMORY = 'give the process more memory, as by NODE_OPTIONS=--max-old-space-size=<MiB>';

/** How many keys that have ended are known by their owners. */
const MAX_ENDED_KEYS = 10_000;

/** The worlds of the tenants of one mailbox and of its sandboxes, with the indexes of their keys and addresses. */
export class Worlds implements ReachableWorlds {
  readonly sandboxId = undefined;
  readonly sandboxDomain = undefined;
  /** The clock of the operator. The clock of a new tenant starts with the time of this clock. */
  readonly clock: Clock;
  /** The environment of the mailbox, with the time of the operator. */
  readonly environment: Environment;
  /** The limit for the stored mail of all tenants, in bytes. */
  readonly maxMailBytes: number;
  readonly limitAdvice: string;
  readonly saved = new SavedStates();
  readonly mailServers: ReachableWorlds['mailbox']['mailServers'] = {};
  readonly mailbox = this;
  readonly #realEnvironment: Environment;
  readonly #shared = new Shared();
  readonly secrets = this.#shared.secrets;
  readonly mask = this.#shared.mask;
  readonly #worlds = new Map<string, World>();
  readonly #sandboxes = new Map<string, SandboxWorlds>();
  readonly #sandboxesByDomain = new Map<string, SandboxWorlds>();
  /** The ids of the worlds of keys that have ended, the oldest first. */
  readonly #ownersOfEndedKeys = new Map<string, string>();
  /** The parts that belong to no tenant. */
  readonly parts: Parts = new Parts(this, this.#shared);

  /**
   * Creates the worlds of a mailbox, without tenants and keys. `maxMailBytes` limits all stored mail together; if the
   * memory is smaller, it is the limit.
   */
  constructor(realEnvironment: Environment, maxMailBytes = Number.POSITIVE_INFINITY) {
    const clock = new Clock(realEnvironment);
    this.clock = clock;
    this.environment = { ...realEnvironment, now: () => clock.now() };
    const memory = memoryForMail(realEnvironment);
    this.maxMailBytes = Math.min(maxMailBytes, memory);
    this.limitAdvice = maxMailBytes < memory ? MORE_BY_OPTION : MORE_BY_MEMORY;
    this.#realEnvironment = realEnvironment;
    this.onKeyEnded((key, location) => {
      if (!('world' in location)) return;
      this.#ownersOfEndedKeys.delete(key);
      this.#ownersOfEndedKeys.set(key, location.world.id);
      const [oldest] = this.#ownersOfEndedKeys.keys();
      if (this.#ownersOfEndedKeys.size > MAX_ENDED_KEYS && oldest !== undefined) this.#ownersOfEndedKeys.delete(oldest);
    });
  }

  /** Creates worlds without tenants, with the same environment and limit. */
  createEmpty(): Worlds {
    return new Worlds(this.#realEnvironment, this.maxMailBytes);
  }

  /**
   * Adds a part to each world and, if `create` accepts any owner, to the mailbox. `create` runs at the first use of the
   * part by an owner. Returns a function that returns the part of an owner.
   */
  addPart<Type extends Part, Of extends Owner>(id: string, create: (owner: Of) => Type): PartOf<Type, Of> {
    return addPart(this.#shared.parts, id, create);
  }

  get(id: string): World | undefined {
    return this.#worlds.get(id) ?? this.#sandboxes.get(id)?.world;
  }

  /** Returns every world, in the order of creation; the worlds of sandboxes come last. */
  all(): World[] {
    return [...this.#worlds.values(), ...Array.from(this.#sandboxes.values(), ({ world }) => world)];
  }

  owners(): Owner[] {
    return [this, ...this.all()];
  }

  sandboxOf(world: World): SandboxName | undefined {
    return this.#sandboxes.get(world.id)?.sandboxOf(world);
  }

  /** Returns every world that is not a sandbox. */
  withoutSandboxes(): World[] {
    return [...this.#worlds.values()];
  }

  /** Returns the sandboxes that are told of a refused request: those that it names, and those that are told of all. */
  sandboxesToldOf(isNamed: (world: World) => boolean): World[] {
    const told: World[] = [];
    for (const { world, isToldOfAllRefusals } of this.#sandboxes.values()) {
      if (isToldOfAllRefusals || isNamed(world)) told.push(world);
    }
    return told;
  }

  /** Returns the world of the sandbox to whose domain an address belongs, also if no inbox has the address. */
  sandboxOfAddress(address: string): World | undefined {
    return this.#findSandboxByDomain(address)?.world;
  }

  /** Returns the id of the world that had a key that is no longer valid; `undefined` if it was never valid or is forgotten. */
  ownerOfEndedKey(key: string): string | undefined {
    return this.#ownersOfEndedKeys.get(key);
  }

  /** Returns the worlds that the clients of a tenant can reach. The clients of a sandbox reach only the sandbox. */
  reachableFrom({ id }: World): ReachableWorlds {
    return this.#sandboxes.get(id) ?? this;
  }

  /** Keeps a sandbox open while a client is connected. Call the returned function when the client disconnects. */
  keepOpen({ id }: World): () => void {
    const sandbox = this.#sandboxes.get(id);
    sandbox?.use(1);
    return () => sandbox?.use(-1);
  }

  /** Returns where a key belongs. This takes the same time for any number of keys. */
  findKey(key: string): KeyLocation | undefined {
    const location = this.#shared.keys.get(key);
    const sandbox = location && 'world' in location ? this.#sandboxes.get(location.world.id) : undefined;
    return sandbox?.hasExpired ? undefined : location;
  }

  /** Returns every valid key. */
  keys(): string[] {
    return [...this.#shared.keys.keys()];
  }

  /** Finds the inbox of a bare address. In a domain of a sandbox, finds only inboxes of the sandbox. */
  findAddress(address: string): InboxLocation | undefined {
    const sandbox = this.#findSandboxByDomain(address);
    return sandbox ? sandbox.findAddress(address) : this.#shared.addresses.get(foldAddress(address));
  }

  /** Finds the inboxes of all tenants that have tagged forms of an address in lower case. */
  findTagged(address: string): InboxLocation[] {
    return this.#shared.addresses.tagged(address);
  }

  addOperatorKey(key: string): void {
    this.#shared.keys.set(key, { tier: 'operator' });
    this.#shared.secrets.add(key);
  }

  /** Creates a tenant's world. @throws if a tenant with this id exists. */
  add(tenant: TenantRow): World {
    if (this.#worlds.has(tenant.id)) throw new Error(`A tenant with the id ${tenant.id} already exists.`);
    const world = createWorld(tenant, this.#shared, this.#realEnvironment);
    world.clock.copyTimeFrom(this.clock);
    this.#worlds.set(tenant.id, world);
    return world;
  }

  /** Creates a sandbox, which starts with the time of the operator. */
  addSandbox(start: SandboxStart): SandboxWorlds {
    const sandbox = new SandboxWorlds(start, this.#shared, this);
    sandbox.clock.copyTimeFrom(this.clock);
    this.#sandboxes.set(sandbox.world.id, sandbox);
    this.#sandboxesByDomain.set(start.domain, sandbox);
    return sandbox;
  }

  /** Removes a tenant or a sandbox with its world, keys and addresses, and returns whether it existed. */
  remove(id: string): boolean {
    const world = this.get(id);
    if (!world) return false;
    const sandbox = this.#sandboxes.get(id);
    if (sandbox) {
      sandbox.end();
      world.parts.beginEpoch();
    }
    world.clock.reset();
    world.close();
    world.parts.end(sandbox ? 'The sandbox was closed' : 'The tenant was deleted');
    this.saved.set(id, []);
    this.#worlds.delete(id);
    this.#sandboxes.delete(id);
    this.#sandboxesByDomain.delete(sandbox?.sandboxDomain ?? '');
    return true;
  }

  get epoch(): number {
    return this.#shared.epochs.latest;
  }

  isOver(epoch: number, world?: World): boolean {
    return this.parts.epoch > epoch || (world !== undefined && world.parts.epoch > epoch);
  }

  /** Sets the function that is called after a row of any world was inserted, updated or removed. */
  onRowChange(listener: Shared['onRowChange']): void {
    this.#shared.onRowChange = listener;
  }

  /** Calls the listener with each key that becomes invalid. A reset makes every key invalid for a moment. */
  onKeyEnded(listener: (key: string, location: KeyLocation) => void): void {
    this.#shared.keys.onEnded(listener);
  }

  countMailBytes({ needed = Number.POSITIVE_INFINITY } = {}): number {
    const storedBytes = this.#shared.mail.bytes;
    const atMost = storedBytes + this.saved.mailBytes;
    if (atMost + needed <= this.maxMailBytes) return atMost;
    return storedBytes + countOnlySaved(this.saved.all(), (id) => this.get(id));
  }

  snapshot(): MailboxSnapshot {
    const operatorKeys = [...this.#shared.keys].filter(([, location]) => 'tier' in location).map(([key]) => key);
    const worlds = this.withoutSandboxes();
    return { operatorKeys, tenants: worlds.map((world) => world.snapshot()), mailBytes: sizeOfMailIn(worlds) };
  }

  restore({ operatorKeys, tenants }: MailboxSnapshot, saved: SavedOwners = {}): void {
    for (const id of [...this.#sandboxes.keys()]) this.remove(id);
    const previous = new Map(this.#worlds);
    for (const { parts } of [this, ...previous.values()]) parts.reset();
    for (const world of previous.values()) world.close();
    this.#worlds.clear();
    this.#shared.keys.clear();
    this.#shared.addresses.clear();
    for (const key of operatorKeys) this.addOperatorKey(key);
    for (const snapshot of tenants) this.#restoreWorld(snapshot, previous);
    for (const [id, owner] of Object.entries(saved))
      (id === '' ? this : this.get(id))?.parts.restore(owner, 'checkpoint');
  }

  #findSandboxByDomain(address: string): SandboxWorlds | undefined {
    const labels = domainOf(address).split('.');
    const domain = labels.slice(-1 - SANDBOX_DOMAIN.split('.').length).join('.');
    return this.#sandboxesByDomain.get(domain);
  }

  #restoreWorld(snapshot: WorldSnapshot, previous: ReadonlyMap<string, World>): void {
    const [tenant] = snapshot.tenants;
    const world = previous.get(tenant.id) ?? createWorld(tenant, this.#shared, this.#realEnvironment);
    this.#worlds.set(tenant.id, world);
    world.restore(snapshot);
  }
}
