import { readFixtureIds, readFixtureKeys, type TenantIds, type TenantKeys } from '../../fixture/keys-and-ids.ts';
import { type Fixture, type FixtureInput, parseFixture } from '../../fixture/parse-fixture.ts';
import type { Entry } from '../../service/mail/correspondents/answers.ts';
import type { Service } from '../../service/pipeline/service.ts';
import type { Fault } from '../../world/fault.ts';
import type { SeededRandom } from '../../world/seeded-randomness.ts';
import { type ReachableWorlds, type SavedOwners, saveOwners } from '../../world/store/reachable-worlds.ts';
import { seedWithinLimit } from '../../world/store/seed/seed.ts';
import { showRows } from '../../world/store/state.ts';
import type { MailboxSnapshot, WorldSnapshot } from '../../world/store/world.ts';

/** The keys and ids of a fixture, by handle. */
export interface KeysAndIds {
  readonly keys: Record<string, string | TenantKeys>;
  readonly ids: Record<string, TenantIds>;
}

/** A state at one moment, without deliveries and requests. The rows are not copied, because they are frozen. */
export interface SavedState {
  readonly worlds: MailboxSnapshot;
  /** The clocks, and what the parts have saved. */
  readonly owners: SavedOwners;
  readonly keysAndIds: KeysAndIds;
  /** The faults as `faults()` lists them. */
  readonly faults: readonly Fault[];
  /** The correspondents as `correspondents()` lists them. */
  readonly correspondents: readonly Entry['shown'][];
  /** Makes the random numbers continue as they did after this state, if there is a seed. */
  readonly rewind: (() => void) | undefined;
}

/** The parts that contain the state of a mailbox or of a sandbox. */
export interface StateContext {
  readonly service: Pick<Service, 'journals' | 'behaviours' | 'worlds' | 'faults' | 'correspondents'>;
  /** The random numbers, if there is a seed. */
  readonly random: SeededRandom | undefined;
}

/** Saves and restores the state of a mailbox or of one sandbox, and keeps the state at the start for a reset. */
export class RestorableState {
  /** The keys and ids by handle. When a state is restored, the content of these objects is replaced. */
  readonly keysAndIds: KeysAndIds;
  protected readonly worlds: ReachableWorlds;
  protected start: SavedState;
  readonly #context: StateContext;

  /** Saves the present state as the state at the start. */
  constructor(worlds: ReachableWorlds, keysAndIds: KeysAndIds, context: StateContext) {
    this.worlds = worlds;
    this.keysAndIds = keysAndIds;
    this.#context = context;
    this.start = this.save();
  }

  /** Returns the present state. */
  save(): SavedState {
    const { service, random } = this.#context;
    return {
      worlds: this.worlds.snapshot(),
      owners: saveOwners(this.worlds, 'checkpoint'),
      keysAndIds: { keys: { ...this.keysAndIds.keys }, ids: { ...this.keysAndIds.ids } },
      faults: service.faults.list(this.worlds),
      correspondents: service.correspondents.list(this.worlds).map(({ shown }) => shown),
      rewind: random?.save(),
    };
  }

  /** Reads the data of a fixture. The present data do not change. @throws {FixtureError} */
  read(input: unknown): Pick<SavedState, 'worlds' | 'keysAndIds'> {
    const { behaviours, worlds } = this.#context.service;
    const fixture = parseFixture(input, behaviours);
    const created = worlds.createEmpty();
    seedWithinLimit(created, fixture);
    return { worlds: created.snapshot(), keysAndIds: readKeysAndIds(fixture) };
  }

  /** Restores a state. As with a reset, deliveries and requests are removed, and streams are closed. */
  restore({ worlds, owners, keysAndIds, rewind }: SavedState): void {
    const { sandboxId = null } = this.worlds;
    this.worlds.restore(worlds, owners);
    replaceContent(this.keysAndIds.keys, keysAndIds.keys);
    replaceContent(this.keysAndIds.ids, keysAndIds.ids);
    rewind?.();
    this.#context.service.journals.publish(sandboxId, 'reset', { tenantId: sandboxId });
  }

  /** Restores the state at the start. The clock of a sandbox then has the time of the mailbox. */
  reset(): void {
    this.restore(this.start);
    if (this.worlds.sandboxId !== undefined) this.worlds.clock.copyTimeFrom(this.#context.service.worlds.clock);
  }

  /** Writes a copy of the data as a fixture. */
  export(): FixtureInput {
    return exportFixture(this.worlds.snapshot(), this.keysAndIds.ids);
  }
}

/** Returns the keys and ids of a fixture, by handle. */
export function readKeysAndIds(fixture: Fixture): KeysAndIds {
  return { keys: readFixtureKeys(fixture), ids: readFixtureIds(fixture) };
}

/** Replaces every property of an object. */
function replaceContent(target: Record<string, unknown>, content: object): void {
  for (const name of Object.keys(target)) delete target[name];
  Object.assign(target, content);
}

/**
 * Writes a state as a fixture with the exact rows of each tenant. `knownIds` has the handles of the original fixture,
 * which are kept. A resource that was created later gets a handle from its name. If the state has no operator key, the
 * fixture has no operator.
 */
export function exportFixture({ operatorKeys, tenants }: MailboxSnapshot, knownIds: Record<string, TenantIds>) {
  const tenantsByHandle = Object.fromEntries(Object.entries(knownIds).map(([handle, { tenant }]) => [handle, tenant]));
  // No tenant gets the handle `operator`, because `keys.operator` is the key of the operator.
  const handleOf = createHandleFinder('tenant', { ...tenantsByHandle, operator: '' });
  const exported = tenants.flatMap(({ tenants: [tenant], ...rows }) => {
    if (!tenant) return [];
    const handle = handleOf(tenant.id, tenant.name);
    return [[handle, { ...tenant, handles: idsOfRows(rows, knownIds[handle]), rows: showRows(rows) }] as const];
  });
  const [key] = operatorKeys;
  return { ...(key !== undefined && { operator: { key } }), tenants: Object.fromEntries(exported) };
}

/** Returns the ids of the workspaces, inboxes and webhooks of a tenant, by handle. */
function idsOfRows({ workspaces, inboxes, webhooks }: Omit<WorldSnapshot, 'tenants'>, known: TenantIds | undefined) {
  return {
    workspaces: idsByHandle('workspace', new Map(workspaces.map(({ id, slug }) => [id, slug])), known?.workspaces),
    inboxes: idsByHandle('inbox', new Map(inboxes.map(({ id, username }) => [id, username])), known?.inboxes),
    webhooks: idsByHandle('webhook', new Map(webhooks.map(({ id }) => [id, 'webhook'])), known?.webhooks),
  };
}

/** Returns the ids by handle. `names` contains each id with its name. */
function idsByHandle(noun: string, names: ReadonlyMap<string, string>, known: Record<string, string> = {}) {
  const handleOf = createHandleFinder(noun, known);
  return Object.fromEntries(Array.from(names, ([id, name]) => [handleOf(id, name), id]));
}

/**
 * Returns a function that returns the handle of a tenant, a workspace, an inbox or a webhook: its handle in the fixture
 * or, without one, a new handle from its name, such as `acme-corp` from `Acme Corp`.
 */
function createHandleFinder(noun: string, known: Readonly<Record<string, string>>) {
  const byId = new Map(Object.entries(known).map(([handle, id]) => [id, handle]));
  const usedHandles = new Set(Object.keys(known));
  return (id: string, name: string): string => {
    const handle = byId.get(id) ?? createHandle(noun, name, usedHandles);
    usedHandles.add(handle);
    return handle;
  };
}

function createHandle(noun: string, name: string, usedHandles: ReadonlySet<string>): string {
  const text = (name.toLowerCase().match(/[a-z0-9]+/g) ?? []).join('-').slice(0, 100);
  const base = /^[a-z]/.test(text) ? text : [noun, ...(text ? [text] : [])].join('-');
  let handle = base;
  for (let number = 2; usedHandles.has(handle); number += 1) handle = `${base}-${number}`;
  return handle;
}
