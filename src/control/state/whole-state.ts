import type { FixtureInput } from '../../fixture/parse-fixture.ts';
import { type SavedOwners, saveOwners } from '../../world/store/reachable-worlds.ts';
import type { SavedOwner } from '../../world/store/world.ts';
import type { Worlds } from '../../world/store/worlds.ts';
import type { Feed } from '../journal/recorder.ts';
import type { Checkpoint, Checkpoints, KeptCheckpoint } from './checkpoints.ts';
import type { StateKeeper } from './state-keeper.ts';

/** A sandbox that outlives the process. */
export interface KeptSandbox extends SavedOwner {
  readonly name: string | null;
  readonly domain: string;
  readonly fixture: FixtureInput;
  readonly checkpoints?: readonly KeptCheckpoint[];
}

/** The parts of a mailbox that have its state. */
export interface StateParts {
  readonly state: StateKeeper;
  readonly worlds: Worlds;
  readonly sandboxes: {
    keep(): readonly KeptSandbox[];
    /** Adds sandboxes as they were. */
    resume(kept: readonly KeptSandbox[]): void;
    listCheckpoints(): readonly Checkpoint[];
  };
  readonly checkpoints: Checkpoints;
  readonly feed: Feed;
}

/** A fixture, and what a fixture has not. */
export type WholeFixture = FixtureInput & {
  readonly kept?: {
    readonly owners: SavedOwners;
    readonly checkpoints?: readonly KeptCheckpoint[];
    readonly sandboxes: readonly KeptSandbox[];
  };
};

/** All that outlives a process: the data, the sandboxes, the checkpoints, and the clock and kept parts of each. */
export type WholeState = ReturnType<typeof createWholeState>;

/** Creates what exports and restores the whole state of a mailbox. */
export function createWholeState({ state, worlds, sandboxes, checkpoints, feed }: StateParts) {
  const owners = () => [['', worlds] as const, ...worlds.ownWorlds().map((world) => [world.id, world] as const)];
  return {
    export: (): WholeFixture => ({
      ...state.export(),
      kept: { owners: saveOwners(worlds, 'keep'), checkpoints: checkpoints.keep(), sandboxes: sandboxes.keep() },
    }),
    /** Replaces everything; a reset still restores the start. @throws as `StateKeeper.restoreData`. */
    restoreData({ kept, ...fixture }: WholeFixture): void {
      state.restoreData(fixture);
      for (const [id, owner] of owners()) if (kept?.owners[id]) owner.parts.restore(kept.owners[id], 'resume');
      checkpoints.resume(kept?.checkpoints ?? []);
      sandboxes.resume(kept?.sandboxes ?? []);
    },
    /** What is equal as long as nothing has changed. */
    rows: (): readonly unknown[] => [
      ...worlds.all().flatMap((world) => Object.values<readonly object[]>(world.snapshot()).flat()),
      ...worlds.owners().map(({ parts }) => JSON.stringify(parts.save('keep'))),
      ...checkpoints.list(),
      ...sandboxes.listCheckpoints(),
    ],
    onPossibleChange(listener: () => void): void {
      state.onPossibleChange(listener);
      feed.onAdded(listener);
    },
  };
}
