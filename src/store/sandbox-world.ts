import type { Clock } from '../clock/clock.ts';
import type { Environment } from '../environment.ts';
import { AddressIndex } from './address-index.ts';
import type { KeyIndex } from './key-index.ts';
import type { ReachableWorlds } from './reachable-worlds.ts';
import {
  createWorld,
  type InboxLocation,
  type KeyHolder,
  type World,
  type WorldSnapshot,
  type WorldsSnapshot,
} from './world.ts';

/** What a sandbox shares with the rest of its mailbox. */
interface Shared {
  readonly keys: KeyIndex<KeyHolder>;
  /** The mailbox of the sandbox. */
  readonly whole: ReachableWorlds;
}

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
  readonly domain: string;
  readonly #shared: Shared;
  readonly #addresses = new AddressIndex<InboxLocation>();
  #isOpen = true;

  /** Creates the world of a sandbox, with the data that it starts with. */
  constructor({ domain, snapshot, realEnvironment }: SandboxStart, shared: Shared) {
    const [tenant] = snapshot.tenants;
    if (!tenant) throw new Error('A sandbox without a tenant cannot be created.');
    this.domain = domain;
    this.#shared = shared;
    this.world = createWorld(tenant, { keys: shared.keys, addresses: this.#addresses }, realEnvironment);
    this.world.restore(snapshot);
  }

  get whole(): ReachableWorlds {
    return this.#shared.whole;
  }

  get clock(): Clock {
    return this.world.clock;
  }

  get environment(): Environment {
    return this.world.environment;
  }

  get maxMailBytes(): number {
    return this.whole.maxMailBytes;
  }

  get(tenantId: string): World | undefined {
    return this.all().find(({ id }) => id === tenantId);
  }

  all(): World[] {
    return this.#isOpen ? [this.world] : [];
  }

  neighbours(): World[] {
    return this.all();
  }

  findKey(key: string): KeyHolder | undefined {
    const holder = this.#shared.keys.get(key);
    return holder && 'world' in holder && holder.world === this.world ? holder : undefined;
  }

  keys(): string[] {
    return this.world.apiKeys.all().map(({ key }) => key);
  }

  findAddress(address: string): InboxLocation | undefined {
    return this.#addresses.get(address);
  }

  findTagged(address: string): InboxLocation[] {
    return this.#addresses.tagged(address);
  }

  countMailBytes(): number {
    return this.whole.countMailBytes();
  }

  snapshot(): WorldsSnapshot {
    return { operatorKeys: [], tenants: [this.world.snapshot()] };
  }

  /** Whether its tenant can be reached. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Makes its tenant unknown. */
  end(): void {
    this.#isOpen = false;
  }

  /** Replaces all data, and returns the clock to real time. */
  restore(snapshot: WorldSnapshot): void {
    this.world.clock.reset();
    this.world.close();
    this.world.restore(snapshot);
  }
}
