import type { FixtureInput } from '../../fixture/parse-fixture.ts';
import { type MailboxState, readState } from '../../world/store/state.ts';
import type { ControlScope } from '../control-scope.ts';
import type { Checkpoint, Checkpoints } from './checkpoints.ts';
import type { StateDiff } from './diff-states.ts';
import type { RestorableState } from './saved-state.ts';

/** The control methods for the state of one sandbox, or of a mailbox without its sandboxes. */
export interface StateControls {
  /**
   * Restores the initial state: data, keys, secrets, faults, correspondents, behaviours and clocks. Deliveries and
   * requests are removed, and streams are closed. Requests that are still running end with 503. Checkpoints stay. The
   * reset of a mailbox also closes every sandbox. The reset of a sandbox leaves the behaviours as they are.
   */
  reset(): void;
  /** Returns a copy of all data. */
  snapshot(): MailboxState;
  /**
   * Returns all data as a fixture. A mailbox with this fixture has the same data. The fixture of a sandbox has one
   * tenant. Clocks, faults, deliveries, requests and checkpoints are not part of a fixture.
   *
   * @example
   * const copy = createMailbox({ fixtures: mailbox.export() });
   */
  export(): FixtureInput;
  /**
   * Saves the present data, keys, secrets, faults, correspondents and clocks under a name, and for a mailbox also the
   * behaviours. A checkpoint with the same name is replaced.
   *
   * @throws {ApiError} VALIDATION_ERROR for an invalid name; CONFLICT if there are 100 checkpoints.
   * @example
   * mailbox.checkpoint('paid');
   * mailbox.restore('paid');
   */
  checkpoint(name: string): Checkpoint;
  /**
   * Restores the state of a checkpoint. Deliveries and requests are removed, and streams are closed, as with a reset.
   * A mailbox also closes every sandbox.
   *
   * @throws {ApiError} NOT_FOUND if there is no checkpoint with this name.
   */
  restore(name: string): Checkpoint;
  /** Returns every checkpoint, oldest first. */
  checkpoints(): Checkpoint[];
  /** Removes a checkpoint and returns it. @throws {ApiError} NOT_FOUND if there is none with this name. */
  removeCheckpoint(name: string): Checkpoint;
  /**
   * Returns what differs between the states of two checkpoints; `now` is the present state.
   *
   * @throws {ApiError} NOT_FOUND if one of the names is not the name of a checkpoint.
   * @example
   * expect(mailbox.diff('paid', 'now').added.messages).toBeUndefined();
   */
  diff(from: string, to: string): StateDiff;
}

/** The parts that contain the state and the checkpoints of a mailbox or a sandbox. */
export type StateParts = { readonly state: RestorableState; readonly checkpoints: Checkpoints };

/** Creates the state methods of a mailbox or a sandbox. */
export function createStateControls(
  { worlds, publishChange }: ControlScope,
  { state, checkpoints }: StateParts,
): StateControls {
  const publish = (action: 'added' | 'removed', checkpoint: Checkpoint) => {
    publishChange('checkpoint', action, checkpoint.name);
    return checkpoint;
  };
  return {
    reset: () => state.reset(),
    snapshot: () => readState(worlds),
    export: () => state.export(),
    checkpoint: (name) => publish('added', checkpoints.add(name)),
    restore: (name) => checkpoints.restore(name),
    checkpoints: () => checkpoints.list(),
    removeCheckpoint: (name) => publish('removed', checkpoints.remove(name)),
    diff: (from, to) => checkpoints.diff(from, to),
  };
}
