import { isNestedDeeper } from '../basics/json-depth.ts';
import { showSize } from '../basics/size.ts';
import type { BehaviourValues } from '../contract/behaviours.ts';
import { ApiError, parseOrRefuse } from '../contract/errors.ts';
import { FixtureError } from '../fixture/fixture-part.ts';
import { type Fixture, type FixtureInput, parseFixture } from '../fixture/parse-fixture.ts';
import { createRandomBytes, type Environment } from '../world/environment.ts';
import { createSeededRandom, type SeededRandom } from '../world/seeded-randomness.ts';
import type { Part, PartOf, SavedOwner } from '../world/store/parts.ts';
import type { SandboxWorlds } from '../world/store/sandbox-worlds.ts';
import { copyTenant, createTemplate, type TenantTemplate } from '../world/store/seed/tenant-template.ts';
import { canonicalAddress, type World } from '../world/store/world.ts';
import type { Worlds } from '../world/store/worlds.ts';
import { type ControlledParts, createScope, notFound } from './control-scope.ts';
import { type Sandbox, type SandboxControls, type SandboxOptions, sandboxOptions } from './controllable-mailbox.ts';
import { createControls } from './create-controls.ts';
import { type Checkpoint, Checkpoints, type KeptCheckpoint } from './state/checkpoints.ts';
import { RestorableState } from './state/saved-state.ts';

/** The maximum number of sandboxes of one mailbox. */
const MAX_SANDBOXES = 10_000;

/** A sandbox in the form in which a file or a page stores it. */
export interface KeptSandbox extends SavedOwner {
  readonly name: string | null;
  readonly domain: string;
  readonly fixture: FixtureInput;
  readonly checkpoints?: readonly KeptCheckpoint[];
  readonly isToldOfAllRefusals?: boolean;
  readonly keepsEpoch?: boolean;
}

/** The parts of a mailbox that its sandboxes need. */
interface SandboxContext extends ControlledParts {
  readonly realEnvironment: Environment;
  /** The fixture of the mailbox. */
  readonly fixture: Fixture;
}

/** A sandbox with its parts. */
interface Entry {
  readonly sandbox: Sandbox;
  readonly sandboxWorlds: SandboxWorlds;
  readonly state: RestorableState;
  readonly checkpoints: Checkpoints;
  readonly keepsEpoch: boolean;
}

/** What a sandbox has besides its data. */
interface OpenOptions {
  readonly name: string | null;
  readonly random: SeededRandom | undefined;
  /** Whether its keys, passwords and secrets do not follow the seed. */
  readonly hasOwnSecrets?: boolean;
  /** Whether a reset and a restore begin no epoch in its journal. */
  readonly keepsEpoch?: boolean | undefined;
  readonly isToldOfAllRefusals: boolean | undefined;
}

/** The sandboxes of a mailbox. Expired sandboxes are removed when a sandbox is created, found or listed. */
export class Sandboxes {
  readonly #context: SandboxContext;
  readonly #worlds: Worlds;
  readonly #templateOf: (fixture: unknown) => TenantTemplate;
  /** The sandboxes by id. The sandbox that was used least recently is the first. */
  readonly #entries = new Map<string, Entry>();
  /** Adds a part to the world of a sandbox. When the world ends, this part removes the entry of the sandbox. */
  readonly #addEntryRemover: PartOf<Part, World>;
  /**
   * The sources of random numbers, by the seed that sandboxes are created with. A reset of the mailbox removes the
   * sources, so that the numbers of each seed start again.
   */
  readonly #randomSources: PartOf<Part & { readonly sources: Map<number, SeededRandom> }>;

  constructor(context: SandboxContext) {
    const { service, fixture } = context;
    this.#context = context;
    this.#worlds = service.worlds;
    this.#templateOf = createTemplateReader(fixture, service.behaviours);
    const createRemover = ({ id }: World) => ({ staysOnReset: true, end: () => void this.#entries.delete(id) });
    this.#addEntryRemover = service.worlds.addPart('sandbox', createRemover);
    this.#randomSources = service.worlds.addPart('seeds of sandboxes', () => ({ sources: new Map(), end() {} }));
    service.journals.subscribe(service.journals.kinds, ({ tenantId, kind }) => {
      const entry = this.#entries.get(tenantId ?? '');
      if (entry) this.#use(entry, STREAM_CHANGES[kind]);
    });
  }

  create(options: SandboxOptions<object> = {}): Sandbox {
    const {
      fixture,
      seed,
      secrets,
      journal,
      name = null,
      refusals,
    } = parseOrRefuse('The input of createSandbox', sandboxOptions(), options);
    const template = this.#templateOf(fixture);
    this.#removeExpired();
    this.#checkLimits(template);
    const random = this.#createRandom(seed);
    const hasOwnSecrets = secrets === 'random';
    const copy = this.#copy(template, this.#environmentWith(random, hasOwnSecrets));
    const sandbox = this.#open(copy, {
      name,
      random,
      hasOwnSecrets,
      keepsEpoch: journal === 'since-start',
      isToldOfAllRefusals: refusals === 'all',
    });
    this.#publish('added', sandbox);
    return sandbox;
  }

  /** Returns the states of all sandboxes. `restoreFromFile` creates the sandboxes again from these states. */
  saveForFile(): KeptSandbox[] {
    return Array.from(this.#entries.values(), ({ sandbox, sandboxWorlds, state, checkpoints, keepsEpoch }) => {
      const { name, domain } = sandbox;
      const { isToldOfAllRefusals } = sandboxWorlds;
      const parts = sandboxWorlds.parts.save('file');
      // The parts are read directly, because a call of a method of the sandbox would count as a use.
      const kept = { name, domain, fixture: state.export(), checkpoints: checkpoints.saveForFile() };
      return { ...kept, isToldOfAllRefusals, keepsEpoch, ...parts };
    });
  }

  /** Returns the checkpoints of every sandbox. */
  listCheckpoints(): Checkpoint[] {
    return [...this.#entries.values()].flatMap(({ checkpoints }) => checkpoints.list());
  }

  /** Creates sandboxes again from the states that `saveForFile` returned. */
  restoreFromFile(kept: readonly KeptSandbox[]): void {
    for (const { name, domain, fixture, checkpoints, isToldOfAllRefusals, keepsEpoch, ...owner } of kept) {
      const template = templateOfOnlyTenant(parseOrExplain(fixture, this.#context.service.behaviours));
      const { id } = this.#open({ ...template, domain }, { name, random: undefined, isToldOfAllRefusals, keepsEpoch });
      const entry = this.#entries.get(id);
      entry?.sandboxWorlds.parts.restore(owner, 'file');
      entry?.checkpoints.restoreFromFile(checkpoints ?? []);
    }
  }

  #environmentWith(random: SeededRandom | undefined, hasOwnSecrets = false): Environment {
    const { realEnvironment } = this.#context;
    const randomBytes = random ?? realEnvironment.randomBytes;
    const seededSecrets = random ?? realEnvironment.secretBytes;
    return { ...realEnvironment, randomBytes, secretBytes: hasOwnSecrets ? createRandomBytes() : seededSecrets };
  }

  #open(
    copy: ReturnType<typeof copyTenant>,
    { name, random, hasOwnSecrets, keepsEpoch = false, isToldOfAllRefusals = false }: OpenOptions,
  ): Sandbox {
    const realEnvironment = this.#environmentWith(random, hasOwnSecrets);
    const sandboxWorlds = this.#worlds.addSandbox({ ...copy, name, realEnvironment, isToldOfAllRefusals });
    const keysAndIds = { keys: {}, ids: { [copy.handle]: copy.ids } };
    const state = new RestorableState(sandboxWorlds, keysAndIds, { ...this.#context, random });
    const checkpoints = new Checkpoints(state, sandboxWorlds);
    const { keys, ids, domain } = copy;
    const { id } = sandboxWorlds.world;
    const close = () => this.#close(entry);
    const use = () => this.#use(entry);
    const controls = createControls(createScope(this.#context, sandboxWorlds), keys, { state, checkpoints });
    const client = (key = keys.tenant) => this.#context.createClient(key);
    const methods = { ...controls, client, clock: createProxy(controls.clock, use), close, [Symbol.dispose]: close };
    const logins = readLogins(copy);
    const sandbox = createProxy({ id, name, domain, keys, ids, logins, ...methods }, use);
    this.#addEntryRemover(sandboxWorlds.world);
    this.#context.service.journals.begin(sandboxWorlds.world, { isToldOfAll: isToldOfAllRefusals });
    if (keepsEpoch) this.#context.service.journals.keepEpoch(sandboxWorlds.world);
    const entry: Entry = { sandbox, sandboxWorlds, state, checkpoints, keepsEpoch };
    this.#entries.set(id, entry);
    return sandbox;
  }

  find(id: string): Sandbox {
    this.#removeExpired();
    const entry = this.#entries.get(String(id).toLowerCase());
    if (entry && this.#use(entry)) return entry.sandbox;
    throw notFound('sandbox');
  }

  list(): Sandbox[] {
    this.#removeExpired();
    return Array.from(this.#entries.values(), ({ sandbox }) => sandbox);
  }

  /** Copies a tenant. If the id of the copy is taken, it copies again, because two seeds can give the same id. */
  #copy(template: TenantTemplate, environment: Environment) {
    for (;;) {
      const copy = copyTenant(template, environment);
      if (!this.#worlds.get(copy.ids.tenant)) return copy;
    }
  }

  /** Creates the source of random numbers for a new sandbox with this seed. */
  #createRandom(seed: number | undefined): SeededRandom | undefined {
    if (seed === undefined) return undefined;
    const { sources } = this.#randomSources(this.#worlds);
    const source = sources.get(seed) ?? createSeededRandom(seed);
    sources.set(seed, source);
    return createSeededRandom(source(6).reduce((number, byte) => number * 256 + byte, 0));
  }

  /** Throws if there are too many sandboxes, or if the mail of a new sandbox does not fit into the storage. */
  #checkLimits({ mailBytes }: TenantTemplate): void {
    if (this.#entries.size >= MAX_SANDBOXES) {
      throw new ApiError('CONFLICT', `There are ${MAX_SANDBOXES} sandboxes; close one before you create another.`);
    }
    // The mail is counted only if necessary, because counting takes longer with more sandboxes.
    const free = mailBytes === 0 ? 0 : this.#worlds.maxMailBytes - this.#worlds.countMailBytes({ needed: mailBytes });
    if (mailBytes <= free) return;
    throw new ApiError(
      'STORAGE_FULL',
      `The fixture of the sandbox has ${showSize(mailBytes)} of mail, and ${showSize(free)} are free; close other ` +
        `sandboxes, or ${this.#worlds.limitAdvice}.`,
    );
  }

  /** Records that a sandbox was used. Returns false, and records nothing, if it was closed or has expired. */
  #use(entry: Entry, streamChange = 0): boolean {
    const { sandboxWorlds } = entry;
    if (!this.#isOpen(entry) || sandboxWorlds.hasExpired) return false;
    sandboxWorlds.use(streamChange);
    const { sandboxId } = sandboxWorlds;
    this.#entries.delete(sandboxId);
    this.#entries.set(sandboxId, entry);
    return true;
  }

  /**
   * Returns whether a sandbox was not closed. Its id does not show that: after a reset of the mailbox, a new sandbox with
   * the same seed has the same id.
   */
  #isOpen(entry: Entry): boolean {
    return this.#entries.get(entry.sandboxWorlds.sandboxId) === entry;
  }

  /**
   * Closes the sandboxes that have expired. The search ends at the first sandbox that is not idle, because the map is
   * in the order of the last use. A sandbox with an open stream counts as used.
   */
  #removeExpired(): void {
    for (const entry of this.#entries.values()) {
      const { sandboxWorlds } = entry;
      if (!sandboxWorlds.isIdle) return;
      if (sandboxWorlds.hasExpired) this.#close(entry);
      else this.#use(entry);
    }
  }

  #close(entry: Entry): void {
    const { sandbox } = entry;
    if (this.#isOpen(entry) && this.#worlds.remove(sandbox.id)) this.#publish('removed', sandbox);
  }

  #publish(action: 'added' | 'removed', { id, name }: Pick<Sandbox, 'id' | 'name'>): void {
    this.#context.service.journals.publish(null, 'sandbox', { action, tenantId: id, name });
  }
}

/** Returns the logins of the inboxes of a copy, by handle. */
function readLogins({ ids, snapshot }: Pick<TenantTemplate, 'ids' | 'snapshot'>) {
  const inboxes = new Map(snapshot.inboxes.map((inbox) => [inbox.id, inbox]));
  const logins = Object.entries(ids.inboxes).flatMap(([handle, id]) => {
    const inbox = inboxes.get(id);
    return inbox ? [[handle, { user: canonicalAddress(inbox), password: inbox.imapPassword }] as const] : [];
  });
  return Object.fromEntries(logins);
}

/** How an entry changes the number of open streams. */
const STREAM_CHANGES: { readonly [kind: string]: number } = { 'stream-opened': 1, 'stream-closed': -1 };

/** Creates the sandbox methods of a mailbox. */
export function createSandboxControls(sandboxes: Sandboxes): SandboxControls<never, never> {
  return {
    createSandbox: (options?: SandboxOptions<object>) => sandboxes.create(options) as never,
    sandbox: (id: string) => sandboxes.find(id),
    sandboxes: () => sandboxes.list(),
  };
}

/** The methods that return a promise. After the end of the sandbox, this promise rejects; other methods throw. */
export const PROMISE_METHODS = ['receiveMessage', 'addWebhook', 'settled', 'waitForMessage', 'advance'] as const;

/**
 * Returns an object whose methods, except `close`, call `use` first. `use` records the use of the sandbox, and returns
 * whether the sandbox still exists. If the sandbox no longer exists, the method fails. The object is a proxy, because
 * many sandboxes with a new function for each method would take much memory.
 */
function createProxy<Methods extends object>(methods: Methods, use: () => boolean): Methods {
  return new Proxy(methods, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function' || CLOSING_METHODS.has(name)) return method;
      return (...input: unknown[]) => {
        if (use()) return method(...input);
        if (PROMISE_METHODS.some((each) => each === name)) return Promise.reject(notFound('sandbox'));
        throw notFound('sandbox');
      };
    },
  });
}

/** The methods that close a sandbox. Their calls do not count as a use of the sandbox. */
const CLOSING_METHODS: ReadonlySet<string | symbol> = new Set(['close', Symbol.dispose]);

/**
 * Returns a function that returns the template of a fixture. The function keeps the latest template, because most
 * sandboxes have the same fixture.
 */
function createTemplateReader(mailboxFixture: Fixture, behaviours: BehaviourValues) {
  let mailboxTemplate: TenantTemplate | undefined;
  let latest: { readonly text: string; readonly template: TenantTemplate } | undefined;
  return (fixture: unknown): TenantTemplate => {
    if (fixture === undefined) {
      mailboxTemplate ??= templateOfFirstTenant(mailboxFixture);
      return mailboxTemplate;
    }
    const text = toJson(fixture);
    if (latest?.text !== text) latest = { text, template: templateOfOnlyTenant(parseOrExplain(fixture, behaviours)) };
    return latest.template;
  };
}

function toJson(fixture: unknown): string {
  const problem = 'The fixture is not valid: it has a value that JSON cannot represent.';
  if (isNestedDeeper(fixture)) throw new ApiError('VALIDATION_ERROR', problem);
  try {
    return JSON.stringify(fixture);
  } catch {
    throw new ApiError('VALIDATION_ERROR', problem);
  }
}

function templateOfFirstTenant(fixture: Fixture): TenantTemplate {
  const [first] = Object.entries(fixture.tenants);
  if (first) return createTemplate(fixture, ...first);
  throw new ApiError('VALIDATION_ERROR', 'The fixture of the mailbox has no tenant to copy; give one in fixture.');
}

function templateOfOnlyTenant(fixture: Fixture): TenantTemplate {
  const [only, ...others] = Object.entries(fixture.tenants);
  if (only && others.length === 0) return createTemplate(fixture, ...only);
  const count = Object.keys(fixture.tenants).length;
  throw new ApiError('VALIDATION_ERROR', `The fixture of a sandbox must have one tenant, not ${count}.`);
}

/** The maximum number of problems of a fixture that an error lists. */
const MAX_NAMED = 5;

/** Parses a fixture. The error for an invalid fixture lists the first problems. */
function parseOrExplain(fixture: unknown, behaviours: BehaviourValues): Fixture {
  try {
    return parseFixture(fixture, behaviours);
  } catch (error) {
    if (!(error instanceof FixtureError)) throw error;
    const problems = error.problems.slice(0, MAX_NAMED).map(({ path, message }) => `${path} ${message}`);
    throw new ApiError('VALIDATION_ERROR', `The fixture is not valid: ${problems.join('; ')}.`);
  }
}
