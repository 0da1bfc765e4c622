import { foldAddress } from '../../basics/domain-name.ts';
import type { Clock } from '../clock.ts';
import type { Environment } from '../environment.ts';
import { AddressIndex } from './indexes/property-index.ts';
import type { Parts } from './parts.ts';
import type { ReachableWorlds, SandboxName, SavedOwners } from './reachable-worlds.ts';
import type { InboxLocation, KeyLocation, MailboxSnapshot, Shared, World, WorldSnapshot } from './world.ts';
import { createWorld, sizeOfMailIn } from './world.ts';

/** After this time without use, in milliseconds of real time, a sandbox is idle. */
const MAX_IDLE_MS = 60 * 60 * 1000;

/** The data of a new sandbox. */
export interface SandboxStart {
  /** The name that a test gave to it; null if it has none. */
  readonly name: string | null;
  /** The domain of the sandbox. Mail to this domain and the domains below it arrives in the sandbox. */
  readonly domain: string;
  readonly snapshot: WorldSnapshot;
  /** The environment, with real time. */
  readonly realEnvironment: Environment;
  /** Whether the sandbox is told of every refused request, not only of those that name its objects. */
  readonly isToldOfAllRefusals: boolean;
}

/**
 * The reachable worlds of a sandbox: only its own. It has its own index of addresses, so that other tenants may have the
 * same addresses.
 */
export class SandboxWorlds implements ReachableWorlds {
  readonly world: World;
  readonly sandboxDomain: string;
  /** The name that a test gave to it; null if it has none. */
  readonly name: string | null;
  readonly mailbox: ReachableWorlds['mailbox'];
  readonly #keyIndex: Shared['keys'];
  readonly isToldOfAllRefusals: boolean;
  readonly #addresses = new AddressIndex<InboxLocation>();
  readonly #realEnvironment: Environment;
  #isEnded = false;
  #openStreams = 0;
  #lastUsedMs: number;

  /** Creates the world of a sandbox, with the data that it starts with. */
  constructor(
    { name, domain, snapshot, realEnvironment, isToldOfAllRefusals }: SandboxStart,
    shared: Shared,
    mailbox: ReachableWorlds['mailbox'],
  ) {
    this.sandboxDomain = domain;
    this.name = name;
    this.isToldOfAllRefusals = isToldOfAllRefusals;
    this.mailbox = mailbox;
    this.#keyIndex = shared.keys;
    this.#realEnvironment = realEnvironment;
    this.#lastUsedMs = realEnvironment.realNow().getTime();
    this.world = createWorld(snapshot.tenants[0], shared.withAddresses(this.#addresses), realEnvironment);
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

  sandboxOf({ id }: World): SandboxName | undefined {
    return id === this.world.id ? { name: this.name, domain: this.sandboxDomain } : undefined;
  }

  all(): World[] {
    return this.hasExpired ? [] : [this.world];
  }

  owners(): World[] {
    return this.all();
  }

  withoutSandboxes(): World[] {
    return this.all();
  }

  isOver(epoch: number): boolean {
    return this.mailbox.isOver(epoch, this.world);
  }

  findKey(key: string): KeyLocation | undefined {
    const location = this.#keyIndex.get(key);
    return location && 'world' in location && location.world === this.world ? location : undefined;
  }

  keys(): string[] {
    return this.world.apiKeys.all().map(({ key }) => key);
  }

  findAddress(address: string): InboxLocation | undefined {
    return this.hasExpired ? undefined : this.#addresses.get(foldAddress(address));
  }

  findTagged(address: string): InboxLocation[] {
    return this.hasExpired ? [] : this.#addresses.tagged(address);
  }

  snapshot(): MailboxSnapshot {
    return { operatorKeys: [], tenants: [this.world.snapshot()], mailBytes: sizeOfMailIn([this.world]) };
  }

  /** Whether the sandbox can no longer be reached: after `end`, or if it is idle and has no open stream. */
  get hasExpired(): boolean {
    return this.#isEnded || (this.#openStreams === 0 && this.isIdle);
  }

  /** Whether the sandbox was not used for an hour. */
  get isIdle(): boolean {
    return this.#realEnvironment.realNow().getTime() - this.#lastUsedMs >= MAX_IDLE_MS;
  }

  /** Records that the sandbox is used now. Adds `streamChange` to the number of its open streams. */
  use(streamChange = 0): void {
    this.#lastUsedMs = this.#realEnvironment.realNow().getTime();
    this.#openStreams += streamChange;
  }

  /** Makes the sandbox unreachable. */
  end(): void {
    this.#isEnded = true;
  }

  restore({ tenants: [snapshot] }: MailboxSnapshot, saved?: SavedOwners): void {
    if (!snapshot) throw new Error('A sandbox without a tenant cannot be restored.');
    this.parts.reset();
    this.world.close();
    this.world.restore(snapshot);
    const savedOwner = saved?.[this.sandboxId];
    if (savedOwner) this.parts.restore(savedOwner, 'checkpoint');
  }
}
