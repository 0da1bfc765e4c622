import { ApiError } from '../contract/errors.ts';
import { parseOrRefuse } from '../contract/invalid.ts';
import { showSize } from '../contract/size.ts';
import type { Environment } from '../environment.ts';
import type { Activity } from '../events/activity.ts';
import type { Fixture } from '../fixture/parse-fixture.ts';
import { createSeededRandom, type SeededRandom } from '../seeded-randomness.ts';
import { SandboxState } from '../state/sandbox-state.ts';
import type { SandboxWorld } from '../store/sandbox-world.ts';
import { copyTenant, type TenantCopy, type TenantTemplate } from '../store/tenant-template.ts';
import type { Worlds } from '../store/worlds.ts';
import { type ControlledParts, createControls } from './create-controls.ts';
import { notFound } from './find-worlds.ts';
import type { Sandbox, SandboxControls, SandboxOptions } from './sandbox.ts';
import { sandboxOptions } from './sandbox-options.ts';
import { createTemplateReader } from './sandbox-template.ts';
import { createStateControls } from './state-controls.ts';
import { useSandbox } from './use-sandbox.ts';

/** The maximum number of sandboxes of one mailbox. */
const MAX_SANDBOXES = 10_000;

/** What the sandboxes of a mailbox are made of. */
export interface SandboxContext extends ControlledParts {
  readonly realEnvironment: Environment;
  readonly activity: Activity;
  /** The fixture of the mailbox. */
  readonly fixture: Fixture;
}

interface Entry {
  readonly sandbox: Sandbox;
  readonly world: SandboxWorld;
}

/** The sandboxes of a mailbox. Those that have expired are removed when any of them is looked up. */
class Sandboxes {
  readonly #context: SandboxContext;
  readonly #worlds: Worlds;
  readonly #templateOf: (fixture: unknown) => TenantTemplate;
  /** By id; the one that was used least recently is the first. */
  readonly #entries = new Map<string, Entry>();
  /** The randomness that the sandboxes with each seed draw from. */
  readonly #seeds = new Map<number, SeededRandom>();

  constructor(context: SandboxContext) {
    const { service, fixture, activity } = context;
    this.#context = context;
    this.#worlds = service.worlds;
    this.#templateOf = createTemplateReader(fixture, service.behaviours);
    service.worlds.onRemoved(({ id }) => void this.#entries.delete(id));
    service.observers.push(({ principal }) => {
      if (principal && 'world' in principal) this.#use(principal.world.id);
    });
    activity.subscribe((entry) => {
      if ('tenantId' in entry) this.#use(entry.tenantId, STREAM_CHANGES[entry.kind]);
    });
  }

  create(options: SandboxOptions<object> = {}): Sandbox {
    const { fixture, seed, name = null } = parseOrRefuse('The input of createSandbox', sandboxOptions, options);
    const template = this.#templateOf(fixture);
    this.#removeExpired();
    this.#checkRoom(template);
    const random = this.#randomOf(seed);
    const realEnvironment = { ...this.#context.realEnvironment, ...(random && { randomBytes: random }) };
    const copy = this.#copy(template, realEnvironment);
    const world = this.#worlds.addSandbox({ ...copy, realEnvironment });
    const state = new SandboxState(world, { ...this.#context, random, known: { [copy.handle]: copy.ids } });
    const sandbox = this.#createSandbox(world, { ...copy, name }, state);
    this.#entries.set(sandbox.id, { sandbox, world });
    this.#publish('added', sandbox);
    return sandbox;
  }

  find(id: string): Sandbox {
    this.#removeExpired();
    const entry = this.#use(String(id).toLowerCase());
    if (entry) return entry.sandbox;
    throw notFound('sandbox');
  }

  list(): Sandbox[] {
    this.#removeExpired();
    return Array.from(this.#entries.values(), ({ sandbox }) => sandbox);
  }

  /** Forgets how many sandboxes were created with each seed. */
  reset(): void {
    this.#seeds.clear();
  }

  #createSandbox(
    world: SandboxWorld,
    { keys, ids, domain, name }: TenantCopy & Pick<Sandbox, 'name'>,
    state: SandboxState,
  ): Sandbox {
    const { id } = world.world;
    const feed = this.#context.recorder.addTenantFeed(id);
    const close = () => this.#close(id);
    const sandbox = {
      ...{ id, name, domain, keys, ids, close, [Symbol.dispose]: close },
      ...createControls(this.#context, { worlds: world, keys, tenant: { id, feed } }),
      ...createStateControls(state, world, this.#context.recorder, id),
    };
    return useSandbox(sandbox, () => this.#use(id) !== undefined);
  }

  /** Copies a tenant until its id is free: seeds that differ can lead to the same id. */
  #copy(template: TenantTemplate, environment: Environment): TenantCopy {
    for (;;) {
      const copy = copyTenant(template, environment);
      if (!this.#worlds.get(copy.ids.tenant)) return copy;
    }
  }

  /** Returns the random numbers of a new sandbox with this seed. */
  #randomOf(seed: number | undefined): SeededRandom | undefined {
    if (seed === undefined) return undefined;
    const source = this.#seeds.get(seed) ?? createSeededRandom(seed);
    this.#seeds.set(seed, source);
    const ownSeed = source(6).reduce((number, byte) => number * 256 + byte, 0);
    return createSeededRandom(ownSeed);
  }

  #checkRoom({ mailBytes }: TenantTemplate): void {
    if (this.#entries.size >= MAX_SANDBOXES) {
      throw new ApiError('CONFLICT', `There are ${MAX_SANDBOXES} sandboxes; close one before you create another.`);
    }
    // Counting takes longer for more sandboxes.
    const free = mailBytes === 0 ? 0 : this.#worlds.maxMailBytes - this.#worlds.countMailBytes(mailBytes);
    if (mailBytes <= free) return;
    throw new ApiError(
      'STORAGE_FULL',
      `The fixture of the sandbox has ${showSize(mailBytes)} of mail, and ${showSize(free)} are free; close other sandboxes, or ${this.#worlds.moreMail}.`,
    );
  }

  /** Notes that a sandbox is used, and returns it; `undefined` if it is unknown or has expired. */
  #use(id: string, streamChange = 0): Entry | undefined {
    const entry = this.#entries.get(id);
    if (!entry?.world.isOpen) return undefined;
    entry.world.use(streamChange);
    this.#entries.delete(id);
    this.#entries.set(id, entry);
    return entry;
  }

  #removeExpired(): void {
    for (const [id, { world }] of this.#entries) {
      if (!world.isIdle) return;
      if (world.isOpen) this.#use(id);
      else this.#close(id);
    }
  }

  #close(id: string): void {
    const sandbox = this.#entries.get(id)?.sandbox;
    if (sandbox && this.#worlds.remove(id)) this.#publish('removed', sandbox);
  }

  #publish(action: 'added' | 'removed', { id, name }: Pick<Sandbox, 'id' | 'name'>): void {
    this.#context.recorder.feed.publish({ kind: 'sandbox', action, tenantId: id, name });
  }
}

/** How an activity changes the number of open streams. */
const STREAM_CHANGES: { readonly [kind: string]: number } = { 'stream-opened': 1, 'stream-closed': -1 };

/** Creates the sandbox methods of a mailbox, and the function that a reset of the mailbox calls. */
export function createSandboxControls(context: SandboxContext): {
  readonly sandboxControls: SandboxControls<never, never>;
  readonly resetSandboxes: () => void;
} {
  const sandboxes = new Sandboxes(context);
  const sandboxControls = {
    createSandbox: (options?: SandboxOptions<object>) => sandboxes.create(options) as never,
    sandbox: (id: string) => sandboxes.find(id),
    sandboxes: () => sandboxes.list(),
  };
  return { sandboxControls, resetSandboxes: () => sandboxes.reset() };
}
