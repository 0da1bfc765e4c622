import type { Clock } from '../../clock.ts';
import type { Environment } from '../../environment.ts';
import { AddressIndex } from '../indexes/property-index.ts';
import type { ReachableWorlds, SavedOwners } from '../reachable-worlds.ts';
import type { InboxLocation, Indexes, KeyHolder, Parts, World, WorldSnapshot, WorldsSnapshot } from '../world.ts';
import { createWorld, sizeOfMailIn } from '../world.ts';

/** How long a sandbox may be unused, in milliseconds of real time. */
const MAX_IDLE_MS = 60 * 60 * 1000;

/** What a sandbox starts with. */
export interface SandboxStart {
  /** Its domain; mail to this domain and those below it arrives in the sandbox. */
  readonly domain: string;
  readonly snapshot: WorldSnapshot;
  /** The environment, with real time. */
  readonly realEnvironment: Environment;
}

/** A tenant that reaches only itself. Its addresses have an index of their own, so that they cannot collide. */
export class SandboxWorld implements ReachableWorlds {
  readonly world: World;
  readonly sandboxDomain: string;
  readonly whole: ReachableWorlds['whole'];
  readonly #keys: Indexes['keys'];
  readonly #addresses = new AddressIndex<InboxLocation>();
  readonly #realEnvironment: Environment;
  #isEnded = false;
  #openStreams = 0;
  #lastUsedMs: number;

  /** Creates the world of a sandbox, with the data that it starts with. */
  constructor({ domain, snapshot, realEnvironment }: SandboxStart, indexes: Indexes, whole: ReachableWorlds['whole']) {
    this.sandboxDomain = domain;
    this.whole = whole;
    this.#keys = indexes.keys;
    this.#realEnvironment = realEnvironment;
    this.#lastUsedMs = realEnvironment.now().getTime();
    this.world = createWorld(snapshot.tenants[0], { ...indexes, addresses: this.#addresses }, realEnvironment);
    this.world.restore(snapshot);
  }

  get clock(): Clock {
    return this.world.clock;
  }

  get parts(): Parts {
    return this.world.parts;
  }

  get sandboxId(): string {
    return this.world.id;
  }

  get environment(): Environment {
    return this.world.environment;
  }

  get(id: string): World | undefined {
    return this.all().find((world) => world.id === id);
  }

  all(): World[] {
    return this.isOpen ? [this.world] : [];
  }

  readonly owners = () => this.all();

  readonly ownWorlds = () => this.all();

  findKey(key: string): KeyHolder | undefined {
    const holder = this.#keys.get(key);
    return holder && 'world' in holder && holder.world === this.world ? holder : undefined;
  }

  keys(): string[] {
    return this.world.apiKeys.all().map(({ key }) => key);
  }

  findAddress(address: string): InboxLocation | undefined {
    return this.isOpen ? this.#addresses.get(address) : undefined;
  }

  findTagged(address: string): InboxLocation[] {
    return this.#addresses.tagged(address);
  }

  snapshot(): WorldsSnapshot {
    return { operatorKeys: [], tenants: [this.world.snapshot()], mailBytes: sizeOfMailIn([this.world]) };
  }

  /** Whether its tenant can be reached: not after `end`, and not if it is idle and has no open stream. */
  get isOpen(): boolean {
    return !this.#isEnded && (this.#openStreams > 0 || !this.isIdle);
  }

  /** Whether it was not used for an hour. */
  get isIdle(): boolean {
    return this.#realEnvironment.now().getTime() - this.#lastUsedMs >= MAX_IDLE_MS;
  }

  /** Notes that it is used, and how this changes the number of its open streams. */
  use(streamChange = 0): void {
    this.#lastUsedMs = this.#realEnvironment.now().getTime();
    this.#openStreams += streamChange;
  }

  /** Makes its tenant unreachable. */
  end(): void {
    this.#isEnded = true;
  }

  restore({ tenants: [snapshot] }: WorldsSnapshot, saved?: SavedOwners): void {
    if (!snapshot) throw new Error('A sandbox without a tenant cannot be restored.');
    this.parts.reset();
    this.world.close();
    this.world.restore(snapshot);
    const own = saved?.[this.sandboxId];
    if (own) this.parts.restore(own);
  }
}
