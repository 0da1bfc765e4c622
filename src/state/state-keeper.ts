import type { Dispatcher } from '../delivery/dispatcher.ts';
import type { Activity } from '../events/activity.ts';
import { readFixtureIds } from '../fixture/fixture-ids.ts';
import { readFixtureKeys } from '../fixture/fixture-keys.ts';
import { type Fixture, type FixtureInput, parseFixture } from '../fixture/parse-fixture.ts';
import type { Recorder } from '../journal/recorder.ts';
import type { Service } from '../pipeline/service.ts';
import type { SeededRandom } from '../seeded-randomness.ts';
import { seedWithinLimit } from '../store/seed.ts';
import type { WorldsSnapshot } from '../store/world.ts';
import { exportFixture } from './export-fixture.ts';
import type { FixtureNames, OwnState, SavedState } from './saved-state.ts';

/** The parts of a mailbox that have state, and the functions that create state. */
interface StateContext {
  readonly dispatcher: Dispatcher;
  readonly recorder: Recorder;
  readonly random: SeededRandom | undefined;
  readonly service: Pick<Service, 'observers' | 'behaviours' | 'worlds' | 'faults' | 'loops' | 'correspondents'>;
  readonly activity: Activity;
  /** Starts the count of sandboxes again; restoring the worlds closes them. */
  resetSandboxes(): void;
}

/** Saves and restores the state of a mailbox, and has the state with which it started. */
export class StateKeeper implements OwnState {
  /** The keys and ids by handle; whatever restores a state changes what these objects contain. */
  readonly names: FixtureNames;
  readonly #context: StateContext;
  readonly #restoredListeners = new Set<() => void>();
  /** Goes back to the first random number of the seed, if there is one. */
  readonly #rewindToSeed: (() => void) | undefined;
  #start: SavedState;

  /** Takes the present state as the start. */
  constructor(context: StateContext, names: FixtureNames) {
    this.#context = context;
    this.names = names;
    this.#rewindToSeed = context.random?.save();
    const saved = this.save();
    this.#start = { ...saved, rewind: this.#startRandom(saved.worlds) };
  }

  save(): SavedState {
    const { random } = this.#context;
    const { worlds, faults, correspondents } = this.#context.service;
    return {
      worlds: worlds.snapshot(),
      names: { keys: { ...this.names.keys }, ids: { ...this.names.ids } },
      faults: faults.list(),
      correspondents: correspondents.save(),
      clockSetting: worlds.clock.setting,
      clockSettings: new Map(worlds.all().map(({ id, clock }) => [id, clock.setting])),
      rewind: random?.save(),
    };
  }

  restore(saved: SavedState): void {
    const { dispatcher, recorder, resetSandboxes } = this.#context;
    const { worlds, faults, loops, correspondents } = this.#context.service;
    dispatcher.reset(worlds.all());
    faults.restore(saved.faults);
    worlds.restore(saved.worlds);
    if (saved.names) {
      replaceContent(this.names.keys, saved.names.keys);
      replaceContent(this.names.ids, saved.names.ids);
    }
    worlds.clock.restoreSetting(saved.clockSetting);
    for (const [id, setting] of saved.clockSettings) worlds.get(id)?.clock.restoreSetting(setting);
    loops.reset();
    correspondents.restore(saved.correspondents);
    resetSandboxes();
    saved.rewind?.();
    recorder.reset();
    for (const notify of this.#restoredListeners) notify();
  }

  reset(): void {
    this.restore(this.#start);
  }

  export(): FixtureInput {
    return exportFixture(this.#context.service.worlds.snapshot(), this.names.ids);
  }

  /** Replaces the start by a fixture, and resets. @throws as `Mailbox.load`; then nothing has changed. */
  load(input: unknown): void {
    this.#start = this.#createStart(input);
    this.reset();
  }

  /** Replaces the data by those of a fixture; a reset still restores the start. @throws as `load`. */
  restoreData(input: unknown): void {
    this.restore(this.#createStart(input));
  }

  /** Creates the start with another fixture, apart from the data of the mailbox, so that an error changes nothing. */
  #createStart(input: unknown): SavedState {
    const { behaviours, worlds } = this.#context.service;
    const fixture = parseFixture(input, behaviours);
    const created = worlds.createEmpty();
    seedWithinLimit(created, fixture);
    const data = created.snapshot();
    return { ...this.#start, worlds: data, names: readNames(fixture), rewind: this.#startRandom(data) };
  }

  /**
   * Starts the random numbers of the seed for this data. They depend on its ids: otherwise new ids would be equal to those
   * that an exported fixture has from the same seed.
   */
  #startRandom(data: WorldsSnapshot): (() => void) | undefined {
    const { random } = this.#context;
    this.#rewindToSeed?.();
    random?.mix(
      listRows(data)
        .map(({ id }) => id)
        .join(),
    );
    return random?.save();
  }

  /** Calls the listener after everything that can change the data, also if it did not. */
  onPossibleChange(listener: () => void): void {
    const { service, activity } = this.#context;
    service.observers.push(listener);
    activity.subscribe(listener);
    this.#restoredListeners.add(listener);
  }

  /** Returns every row, to find out whether the data have changed: a row that is the same object is unchanged. */
  rows(): readonly object[] {
    return listRows(this.#context.service.worlds.snapshot());
  }
}

function listRows({ tenants }: WorldsSnapshot): { readonly id: string }[] {
  return tenants.flatMap((tenant) => Object.values(tenant).flat());
}

/** Replaces every property of an object. */
function replaceContent(target: Record<string, unknown>, content: object): void {
  for (const name of Object.keys(target)) delete target[name];
  Object.assign(target, content);
}

/** Returns the keys and ids of a fixture, by handle. */
export function readNames(fixture: Fixture): FixtureNames {
  return { keys: readFixtureKeys(fixture), ids: readFixtureIds(fixture) };
}
