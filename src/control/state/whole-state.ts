import type { FixtureInput } from '../../fixture/parse-fixture.ts';
import type { KeptOwner, Owner } from '../../world/store/world.ts';
import type { Worlds } from '../../world/store/worlds.ts';
import type { Feed } from '../journal/recorder.ts';
import type { StateKeeper } from './state-keeper.ts';

/** A sandbox that outlives the process. */
export interface KeptSandbox extends KeptOwner {
  readonly name: string | null;
  readonly domain: string;
  readonly fixture: FixtureInput;
}

/** The parts of a mailbox that have its state. */
export interface WholeContext {
  readonly state: StateKeeper;
  readonly worlds: Worlds;
  readonly sandboxes: {
    keep(): readonly KeptSandbox[];
    /** Adds sandboxes as they were. */
    resume(kept: readonly KeptSandbox[]): void;
  };
  readonly feed: Feed;
}

/** A fixture, and what a fixture has not. */
export type WholeFixture = FixtureInput & {
  readonly kept?: {
    /** The clocks and parts of the tenants, by id; those of the mailbox have the id ''. */
    readonly owners: Readonly<Record<string, KeptOwner>>;
    readonly sandboxes: readonly KeptSandbox[];
  };
};

/** All that outlives a process: the data, the sandboxes, and the clocks, faults and waiting deliveries of each. */
export type WholeState = ReturnType<typeof createWholeState>;

/** Creates what exports and restores the whole state of a mailbox. */
export function createWholeState({ state, worlds, sandboxes, feed }: WholeContext) {
  const owners = () => [['', worlds] as const, ...worlds.neighbours().map((world) => [world.id, world] as const)];
  const keep = ({ parts }: Owner) => parts.keep();
  return {
    export: (): WholeFixture => ({
      ...state.export(),
      kept: {
        owners: Object.fromEntries(owners().map(([id, owner]) => [id, keep(owner)])),
        sandboxes: sandboxes.keep(),
      },
    }),
    /** Replaces everything; a reset still restores the start. @throws as `StateKeeper.restoreData`. */
    restoreData({ kept, ...fixture }: WholeFixture): void {
      state.restoreData(fixture);
      for (const [id, owner] of owners()) if (kept?.owners[id]) owner.parts.resume(kept.owners[id]);
      sandboxes.resume(kept?.sandboxes ?? []);
    },
    /** What is equal as long as nothing has changed. */
    rows: (): readonly unknown[] => [
      ...worlds.all().flatMap((world) => Object.values<readonly object[]>(world.snapshot()).flat()),
      ...worlds.owners().map((owner) => JSON.stringify(keep(owner))),
    ],
    onPossibleChange(listener: () => void): void {
      state.onPossibleChange(listener);
      feed.onAdded(listener);
    },
  };
}
