import type { TenantIds } from '../../fixture/fixture-ids.ts';
import type { TenantKeys } from '../../fixture/fixture-keys.ts';
import type { FixtureInput } from '../../fixture/parse-fixture.ts';
import type { Correspondent } from '../../service/mail/correspondents/correspondent.ts';
import type { Service } from '../../service/pipeline/exchange.ts';
import type { Fault } from '../../world/fault.ts';
import type { SeededRandom } from '../../world/seeded-randomness.ts';
import type { ReachableWorlds, SavedOwners } from '../../world/store/reachable-worlds.ts';
import type { WorldsSnapshot } from '../../world/store/world.ts';
import type { Recorder } from '../journal/recorder.ts';
import { exportFixture } from './export-fixture.ts';

/** The keys and ids of a fixture, by handle. */
export interface FixtureNames {
  readonly keys: Record<string, string | TenantKeys>;
  readonly ids: Record<string, TenantIds>;
}

/** A state at one moment, without deliveries and requests. It shares the rows, which are frozen. */
export interface SavedState {
  readonly worlds: WorldsSnapshot;
  /** The clocks, and what the parts have saved. */
  readonly owners: SavedOwners;
  readonly names: FixtureNames;
  /** The faults as they are listed. */
  readonly faults: readonly Fault[];
  /** The correspondents as they are listed. */
  readonly correspondents: readonly Correspondent[];
  /** Goes back to the random numbers that followed, if there is a seed. */
  readonly rewind: (() => void) | undefined;
}

/** What has the state of a mailbox or of a sandbox. */
export interface StateContext {
  readonly service: Pick<Service, 'observers' | 'behaviours' | 'worlds' | 'faults' | 'correspondents'>;
  readonly recorder: Recorder;
  /** The random numbers, if there is a seed. */
  readonly random: SeededRandom | undefined;
}

/** Saves and restores the state of a mailbox or of one sandbox, and has the state with which it started. */
export class OwnState {
  /** The keys and ids by handle; whatever restores a state changes what these objects contain. */
  readonly names: FixtureNames;
  protected readonly worlds: ReachableWorlds;
  protected start: SavedState;
  readonly #context: StateContext;

  /** Takes the present state as the start. */
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
      owners: this.worlds.save(),
      names: { keys: { ...this.names.keys }, ids: { ...this.names.ids } },
      faults: service.faults.list(this.worlds),
      correspondents: service.correspondents.list(this.worlds).map(({ shown }) => shown),
      rewind: random?.save(),
    };
  }

  /** Restores a state. Deliveries, streams and requests end, as with a reset. */
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

/** Replaces every property of an object. */
function replaceContent(target: Record<string, unknown>, content: object): void {
  for (const name of Object.keys(target)) delete target[name];
  Object.assign(target, content);
}
