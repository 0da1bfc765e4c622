import { readFixtureIds, readFixtureKeys, type TenantIds, type TenantKeys } from '../../fixture/keys-and-ids.ts';
import { type Fixture, type FixtureInput, parseFixture } from '../../fixture/parse-fixture.ts';
import type { Entry } from '../../service/mail/correspondents/answers.ts';
import type { Service } from '../../service/pipeline/exchange.ts';
import type { Fault } from '../../world/fault.ts';
import type { SeededRandom } from '../../world/seeded-randomness.ts';
import { type ReachableWorlds, type SavedOwners, saveOwners } from '../../world/store/reachable-worlds.ts';
import { seedWithinLimit } from '../../world/store/seed/seed.ts';
import { showRows } from '../../world/store/state.ts';
import type { MailboxSnapshot, WorldSnapshot } from '../../world/store/world.ts';
import type { Recorder } from '../journal/recorder.ts';

/** The keys and ids of a fixture, by handle. */
export interface FixtureNames {
  readonly keys: Record<string, string | TenantKeys>;
  readonly ids: Record<string, TenantIds>;
}

/** A state at one moment, without deliveries and requests. The rows are not copied, because they are frozen. */
export interface SavedState {
  readonly worlds: MailboxSnapshot;
  /** The clocks, and what the parts have saved. */
  readonly owners: SavedOwners;
  readonly names: FixtureNames;
  /** The faults as `faults()` lists them. */
  readonly faults: readonly Fault[];
  /** The correspondents as `correspondents()` lists them. */
  readonly correspondents: readonly Entry['shown'][];
  /** Makes the random numbers continue as they did after this state, if there is a seed. */
  readonly rewind: (() => void) | undefined;
}

/** The parts that contain the state of a mailbox or of a sandbox. */
export interface StateContext {
  readonly service: Pick<Service, 'observers' | 'behaviours' | 'worlds' | 'faults' | 'correspondents'>;
  readonly recorder: Recorder;
  /** The random numbers, if there is a seed. */
  readonly random: SeededRandom | undefined;
}

/** Saves and restores the state of a mailbox or of one sandbox, and keeps the state at the start for a reset. */
export class OwnState {
  /** The keys and ids by handle. When a state is restored, the content of these objects is replaced. */
  readonly names: FixtureNames;
  protected readonly worlds: ReachableWorlds;
  protected start: SavedState;
  readonly #context: StateContext;

  /** Saves the present state as the state at the start. */
  constructor(worlds: ReachableWorlds, names: FixtureNames, context: StateContext) {
    this.worlds = worlds;
    this.names = names;
    this.#context = context;
    this.start = this.save();
  }

  /** Returns the present state. */
  save(): SavedState {
    const { service, random } = this.#context;
    return {
      worlds: this.worlds.snapshot(),
      owners: saveOwners(this.worlds),
      names: { keys: { ...this.names.keys }, ids: { ...this.names.ids } },
      faults: service.faults.list(this.worlds),
      correspondents: service.correspondents.list(this.worlds).map(({ shown }) => shown),
      rewind: random?.save(),
    };
  }

  /** Reads the data of a fixture. The present data do not change. @throws {FixtureError} */
  read(input: unknown): Pick<SavedState, 'worlds' | 'names'> {
    const { behaviours, worlds } = this.#context.service;
    const fixture = parseFixture(input, behaviours);
    const created = worlds.createEmpty();
    seedWithinLimit(created, fixture);
    return { worlds: created.snapshot(), names: readKeysAndIds(fixture) };
  }

  /** Restores a state. As with a reset, deliveries and requests are removed, and streams are closed. */
  restore({ worlds, owners, names, rewind }: SavedState): void {
    const { recorder } = this.#context;
    const { sandboxId } = this.worlds;
    this.worlds.restore(worlds, owners);
    replaceContent(this.names.keys, names.keys);
    replaceContent(this.names.ids, names.ids);
    rewind?.();
    recorder.publish(sandboxId ?? null, { kind: 'reset', tenantId: sandboxId ?? null });
  }

  /** Restores the state at the start. The clock of a sandbox then has the time of the mailbox. */
  reset(): void {
    this.restore(this.start);
    if (this.worlds.sandboxId !== undefined) this.worlds.clock.copyTimeFrom(this.#context.service.worlds.clock);
  }

  /** Writes a copy of the data as a fixture. */
  export(): FixtureInput {
    return exportFixture(this.worlds.snapshot(), this.names.ids);
  }
}

/** Returns the keys and ids of a fixture, by handle. */
export function readKeysAndIds(fixture: Fixture): FixtureNames {
  return { keys: readFixtureKeys(fixture), ids: readFixtureIds(fixture) };
}

/** Replaces every property of an object. */
function replaceContent(target: Record<string, unknown>, content: object): void {
  for (const name of Object.keys(target)) delete target[name];
  Object.assign(target, content);
}

/**
 * Writes a state as a fixture with the exact rows of each tenant. The handles of the original fixture are kept. What
 * was created later gets a handle from its name. If the state has no operator key, the fixture has no operator.
 */
export function exportFixture({ operatorKeys, tenants }: MailboxSnapshot, known: Record<string, TenantIds>) {
  const ids = Object.fromEntries(Object.entries(known).map(([handle, { tenant }]) => [handle, tenant]));
  const handleOf = createHandleFinder('tenant', { ...ids, operator: '' });
  const exported = tenants.flatMap(({ tenants: [tenant], ...rows }) => {
    if (!tenant) return [];
    const handle = handleOf(tenant.id, tenant.name);
    return [[handle, { ...tenant, handles: idsOfRows(rows, known[handle]), rows: showRows(rows) }] as const];
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

/** Returns ids by handle; `names` has the name of each id. */
function idsByHandle(noun: string, names: ReadonlyMap<string, string>, known: Record<string, string> = {}) {
  const handleOf = createHandleFinder(noun, known);
  return Object.fromEntries(Array.from(names, ([id, name]) => [handleOf(id, name), id]));
}

/**
 * Returns a function that returns the handle of a part of one kind: the handle in the fixture, or a new one from the
 * name of the part, such as `acme-corp` from `Acme Corp`.
 */
function createHandleFinder(noun: string, known: Readonly<Record<string, string>>) {
  const byId = new Map(Object.entries(known).map(([handle, id]) => [id, handle]));
  const taken = new Set(Object.keys(known));
  return (id: string, name: string): string => {
    const handle = byId.get(id) ?? createHandle(noun, name, taken);
    taken.add(handle);
    return handle;
  };
}

function createHandle(noun: string, name: string, taken: ReadonlySet<string>): string {
  const words = name.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const text = words.join('-').slice(0, 100);
  const base = /^[a-z]/.test(text) ? text : [noun, ...(text ? [text] : [])].join('-');
  let handle = base;
  for (let number = 2; taken.has(handle); number += 1) handle = `${base}-${number}`;
  return handle;
}
