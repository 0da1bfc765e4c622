import type { ClockSetting } from '../clock/clock.ts';
import type { SavedCorrespondents } from '../correspondents/correspondents.ts';
import type { Fault } from '../faults/fault.ts';
import type { TenantIds } from '../fixture/fixture-ids.ts';
import type { TenantKeys } from '../fixture/fixture-keys.ts';
import type { FixtureInput } from '../fixture/parse-fixture.ts';
import type { WorldsSnapshot } from '../store/world.ts';

/** The keys and ids of a fixture, by handle. */
export interface FixtureNames {
  readonly keys: Record<string, string | TenantKeys>;
  readonly ids: Record<string, TenantIds>;
}

/** A state at one moment, without deliveries and requests. It shares the rows, which are frozen. */
export interface SavedState {
  readonly worlds: WorldsSnapshot;
  /** The keys and ids that a mailbox announces; those of a sandbox never change. */
  readonly names: FixtureNames | undefined;
  readonly faults: readonly Fault[];
  /** The correspondents, with the answers that are due later. */
  readonly correspondents: SavedCorrespondents;
  /** The time of the operator's clock; in a sandbox, of its own clock. */
  readonly clockSetting: ClockSetting;
  /** The time of the clock of each tenant, by the id of the tenant. */
  readonly clockSettings: ReadonlyMap<string, ClockSetting>;
  /** Goes back to the random numbers that followed, if there is a seed. */
  readonly rewind: (() => void) | undefined;
}

/** Saves and restores the state of a mailbox, or of one sandbox. */
export interface OwnState {
  /** Returns the present state. */
  save(): SavedState;
  /** Restores a state. Deliveries, streams and requests end, as with a reset. */
  restore(saved: SavedState): void;
  /** Restores the state at the start. */
  reset(): void;
  /** Writes a copy of the data as a fixture. */
  export(): FixtureInput;
}
