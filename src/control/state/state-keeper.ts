import { clearTimeout, setTimeout } from '../../basics/real-timers.ts';
import type { FixtureInput } from '../../fixture/parse-fixture.ts';
import { type SavedOwners, saveOwners } from '../../world/store/reachable-worlds.ts';
import type { MailboxSnapshot } from '../../world/store/world.ts';
import type { Worlds } from '../../world/store/worlds.ts';
import type { KeptSandbox, Sandboxes } from '../sandboxes.ts';
import type { Checkpoints, KeptCheckpoint } from './checkpoints.ts';
import { type KeysAndIds, RestorableState, type SavedState, type StateContext } from './saved-state.ts';

/** The state of a whole mailbox, which a fixture can replace. */
export class StateKeeper extends RestorableState {
  readonly #context: StateContext;
  /** Makes the random numbers of the seed begin again, if there is a seed. */
  readonly #rewindToSeed: (() => void) | undefined;

  constructor(context: StateContext, keysAndIds: KeysAndIds) {
    super(context.service.worlds, keysAndIds, context);
    this.#context = context;
    this.#rewindToSeed = this.start.rewind;
    this.start = { ...this.start, rewind: this.#startRandom(this.start.worlds) };
    for (const snapshot of this.start.worlds.tenants) this.worlds.get(snapshot.tenants[0].id)?.markStart(snapshot);
  }

  /** Replaces the state at the start by a fixture, and restores it. @throws as `Mailbox.load` */
  load(input: unknown): void {
    this.start = this.#createStart(input);
    this.reset();
  }

  /** Replaces the data by the data of a fixture. A reset still restores the state at the start. @throws as `load`. */
  restoreData(input: unknown): void {
    this.restore(this.#createStart(input));
  }

  /** Creates the state at the start from another fixture. */
  #createStart(input: unknown): SavedState {
    const data = this.read(input);
    return { ...this.start, ...data, rewind: this.#startRandom(data.worlds) };
  }

  /**
   * Starts the random numbers of the seed for these data. The numbers depend on the ids in the data, because an
   * exported fixture may have ids from the same seed, and new ids must be different.
   */
  #startRandom(data: MailboxSnapshot): (() => void) | undefined {
    const { random } = this.#context;
    this.#rewindToSeed?.();
    const ids = listRows(data).map(({ id }) => id);
    random?.mix(ids.join());
    return random?.save();
  }

  /** Calls the listener after everything that can change the data, even if the data have not changed. */
  onPossibleChange(listener: () => void): void {
    const { journals } = this.#context.service;
    journals.subscribe(journals.kinds, listener);
  }

  /** Returns every row, to find out whether the data have changed: a row that is the same object is unchanged. */
  rows(): readonly object[] {
    return listRows(this.worlds.snapshot());
  }
}

function listRows({ tenants }: MailboxSnapshot): { readonly id: string }[] {
  return tenants.flatMap((tenant) => Object.values(tenant).flat());
}

/** How long after a failure the data are saved again, in milliseconds. */
const RETRY_MS = 1_000;

/** A state whose changes are saved. `rows` returns the same rows as long as nothing has changed. */
interface Watched<State> {
  export(): State;
  rows(): readonly unknown[];
  onPossibleChange(listener: () => void): void;
}

/** How changed data are saved. */
interface ChangeSaver<State> {
  /** How long changes are collected before they are saved, in milliseconds. */
  readonly delayMs: number;
  /** Saves the data. It is never called while an earlier call is still running. */
  save(state: State): Promise<void>;
  /** Called with the first error of `save` since it last succeeded. */
  onFailure(error: unknown): void;
}

/**
 * Saves the data as a fixture after they have changed. After a failure it tries again, until it succeeds. `flush` saves
 * the changes at once or, if `save` is running, after it. `skip` treats the present data as saved. `end` saves the
 * changes a last time, stops watching, and throws what `save` throws. Rows are frozen, so a row that is the same object
 * has not changed.
 */
export function watchChanges<S>(state: Watched<S>, { delayMs, save, onFailure }: ChangeSaver<S>) {
  let saved = state.rows();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running: Promise<void> | undefined;
  let [hasFailed, hasEnded] = [false, false];
  const saveChanges = async () => {
    clearTimeout(timer);
    timer = undefined;
    while (running) await Promise.allSettled([running]);
    const rows = state.rows();
    if (rows.length === saved.length && rows.every((row, index) => row === saved[index])) return;
    running = save(state.export()).finally(() => {
      running = undefined;
    });
    await running;
    saved = rows;
    hasFailed = false;
  };
  const flush = () =>
    saveChanges().catch((error: unknown) => {
      if (!hasFailed) onFailure(error);
      hasFailed = true;
      schedule(RETRY_MS);
    });
  const schedule = (waitMs: number) => {
    if (!hasEnded) timer ??= setTimeout(flush, waitMs);
  };
  state.onPossibleChange(() => schedule(delayMs));
  return {
    flush,
    skip() {
      saved = state.rows();
    },
    async end(): Promise<void> {
      if (hasEnded) return;
      hasEnded = true;
      await saveChanges();
    },
  };
}

/** The parts of a mailbox that contain its state. */
export interface WholeParts {
  readonly state: StateKeeper;
  readonly worlds: Worlds;
  readonly sandboxes: Sandboxes;
  readonly checkpoints: Checkpoints;
}

/** A fixture. Its field `kept` has the state that the other fields of a fixture cannot contain. */
export type WholeFixture = FixtureInput & {
  readonly kept?: {
    readonly owners: SavedOwners;
    readonly checkpoints?: readonly KeptCheckpoint[];
    readonly sandboxes: readonly KeptSandbox[];
  };
};

/**
 * Everything that is stored for the time after the process has ended: the data, the sandboxes and the checkpoints, each
 * with its clocks and with what its parts keep.
 */
export type WholeState = ReturnType<typeof createWholeState>;

/** Creates an object that exports and restores the whole state of a mailbox. */
export function createWholeState({ state, worlds, sandboxes, checkpoints }: WholeParts) {
  const numbers = new WeakMap<object, number>();
  let lastNumber = 0;
  /** Replaces a frozen object by a number of its own, so that the text of many waiting deliveries remains short. */
  const replaceFrozen = (_: string, value: unknown): unknown => {
    if (typeof value !== 'object' || value === null || !Object.isFrozen(value)) return value;
    const number = numbers.get(value) ?? ++lastNumber;
    numbers.set(value, number);
    return number;
  };
  const owners = () => [['', worlds] as const, ...worlds.withoutSandboxes().map((world) => [world.id, world] as const)];
  return {
    export: (): WholeFixture => ({
      ...state.export(),
      kept: {
        owners: saveOwners(worlds, 'file'),
        checkpoints: checkpoints.saveForFile(),
        sandboxes: sandboxes.saveForFile(),
      },
    }),
    /** Replaces everything. A reset still restores the state at the start. @throws as `StateKeeper.restoreData`. */
    restoreData({ kept, ...fixture }: WholeFixture): void {
      state.restoreData(fixture);
      for (const [id, owner] of owners()) if (kept?.owners[id]) owner.parts.restore(kept.owners[id], 'file');
      checkpoints.restoreFromFile(kept?.checkpoints ?? []);
      sandboxes.restoreFromFile(kept?.sandboxes ?? []);
    },
    /** Returns values that are equal as long as nothing has changed. */
    rows: (): readonly unknown[] => [
      ...worlds.all().flatMap((world) => Object.values<readonly object[]>(world.snapshot()).flat()),
      ...worlds.owners().map(({ parts }) => JSON.stringify(parts.save('file'), replaceFrozen)),
      ...checkpoints.list(),
      ...sandboxes.listCheckpoints(),
    ],
    onPossibleChange: (listener: () => void) => state.onPossibleChange(listener),
  };
}
