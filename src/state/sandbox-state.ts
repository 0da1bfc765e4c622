import type { Dispatcher } from '../delivery/dispatcher.ts';
import type { TenantIds } from '../fixture/fixture-ids.ts';
import type { FixtureInput } from '../fixture/parse-fixture.ts';
import type { Recorder } from '../journal/recorder.ts';
import type { Service } from '../pipeline/service.ts';
import type { SeededRandom } from '../seeded-randomness.ts';
import type { SandboxWorld } from '../store/sandbox-world.ts';
import { exportFixture } from './export-fixture.ts';
import type { OwnState, SavedState } from './saved-state.ts';

/** The parts of a mailbox that have state of a sandbox. */
interface SandboxStateContext {
  readonly service: Pick<Service, 'worlds' | 'faults' | 'loops' | 'correspondents'>;
  readonly dispatcher: Dispatcher;
  readonly recorder: Recorder;
  /** The random numbers of the sandbox, if it has a seed of its own. */
  readonly random: SeededRandom | undefined;
  /** The ids by handle, by the handle of the tenant. */
  readonly known: Readonly<Record<string, TenantIds>>;
}

/** A sandbox has no clock besides its own. */
const NO_SETTINGS: SavedState['clockSettings'] = new Map();

/** Saves and restores the state of one sandbox, and has the state with which it started. */
export class SandboxState implements OwnState {
  readonly #sandbox: SandboxWorld;
  readonly #context: SandboxStateContext;
  readonly #start: SavedState;

  /** Takes the present state as the start. */
  constructor(sandbox: SandboxWorld, context: SandboxStateContext) {
    this.#sandbox = sandbox;
    this.#context = context;
    this.#start = this.save();
  }

  save(): SavedState {
    const { world, clock } = this.#sandbox;
    const { service, random } = this.#context;
    return {
      worlds: this.#sandbox.snapshot(),
      names: undefined,
      faults: service.faults.list(world.id),
      correspondents: service.correspondents.save(world.id),
      clockSetting: clock.setting,
      clockSettings: NO_SETTINGS,
      rewind: random?.save(),
    };
  }

  restore({ worlds, faults, correspondents, clockSetting, rewind }: SavedState): void {
    const { service, dispatcher, recorder } = this.#context;
    const { world, clock } = this.#sandbox;
    const [snapshot] = worlds.tenants;
    if (!snapshot) throw new Error('A sandbox without a tenant cannot be restored.');
    dispatcher.reset([world]);
    service.faults.restore(faults, world.id);
    this.#sandbox.restore(snapshot);
    clock.restoreSetting(clockSetting);
    service.loops.reset(this.#sandbox);
    service.correspondents.restore(correspondents, world.id);
    rewind?.();
    recorder.reset(world.id);
  }

  /** Its clock then has the time of the mailbox. */
  reset(): void {
    this.restore(this.#start);
    this.#sandbox.clock.copyTimeFrom(this.#context.service.worlds.clock);
  }

  export(): FixtureInput {
    return exportFixture(this.#sandbox.snapshot(), this.#context.known);
  }
}
