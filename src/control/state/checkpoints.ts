import { z } from 'zod';
import { lazy, type OutputOf } from '../../basics/lazy-schema.ts';
import { ApiError, parseOrRefuse } from '../../contract/errors.ts';
import { timestamp } from '../../contract/schemas.ts';
import type { FixtureInput } from '../../fixture/parse-fixture.ts';
import type { Entry } from '../../service/mail/correspondents/answers.ts';
import type { Fault } from '../../world/fault.ts';
import { type ReachableWorlds, type SavedOwners, saveOwners } from '../../world/store/reachable-worlds.ts';
import { diffStates, type StateDiff } from './diff-states.ts';
import { exportFixture, type RestorableState, type SavedState } from './saved-state.ts';

/** The maximum number of checkpoints of a mailbox or a sandbox. */
const MAX_CHECKPOINTS = 100;

/** The name of the present state, in a difference. */
const NOW = 'now';

const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,99}$/u;
const NAME_RULE =
  'must be 1 to 100 letters, digits, spaces, hyphens, underscores or dots, and start with a letter or a digit';

/** The name of a checkpoint, in a control call. */
export const checkpointName = lazy(() =>
  z.string(NAME_RULE).regex(NAME, NAME_RULE).describe('The name of a checkpoint.'),
);

const newName = () => checkpointName().refine((name) => name !== NOW, 'must not be "now", which is the present state');

/** The body of the control call that adds a checkpoint. */
export const checkpointOptions = lazy(() =>
  z.strictObject(
    {
      /** The name of the checkpoint. */
      name: newName(),
    },
    'must be an object',
  ),
);

const checkpointFields = () => ({
  /** Its name. */
  name: z.string(),
  /** When it was made: ISO 8601 UTC, by the clock of the mailbox or the sandbox. */
  createdAt: timestamp().describe('By the clock of the mailbox or the sandbox.'),
});

/** The schema of a checkpoint. */
export const checkpointReply = lazy(() => z.strictObject(checkpointFields()));

/** A named state of a mailbox or a sandbox. */
export interface Checkpoint extends OutputOf<ReturnType<typeof checkpointFields>> {}

/** A checkpoint in the form in which a file or a page stores it. */
export interface KeptCheckpoint extends Checkpoint {
  readonly fixture: FixtureInput;
  readonly owners: SavedOwners;
}

/** A checkpoint with its state. */
interface SavedCheckpoint {
  readonly checkpoint: Checkpoint;
  readonly state: SavedState;
  /** The clocks, and what the parts keep for the time after the process has ended. */
  readonly keptOwners: SavedOwners;
  /** Its data as a fixture, which `keep` creates when it is called for the first time. */
  fixture?: FixtureInput;
}

/** The checkpoints of a mailbox or a sandbox. A reset does not remove them. */
export class Checkpoints {
  readonly #state: RestorableState;
  readonly #worlds: ReachableWorlds;
  readonly #saved = new Map<string, SavedCheckpoint>();

  constructor(state: RestorableState, worlds: ReachableWorlds) {
    this.#state = state;
    this.#worlds = worlds;
  }

  /** Returns every checkpoint, oldest first. */
  list(): Checkpoint[] {
    return [...this.#saved.values()].map(({ checkpoint }) => checkpoint);
  }

  /**
   * Adds a checkpoint of the present state, or replaces the checkpoint with this name.
   *
   * @throws {ApiError} VALIDATION_ERROR for an invalid name; CONFLICT if there are too many.
   */
  add(name: string): Checkpoint {
    const parsed = parseOrRefuse('The checkpoint', checkpointOptions(), { name });
    if (!this.#saved.has(parsed.name) && this.#saved.size >= MAX_CHECKPOINTS) {
      const problem = `A mailbox or a sandbox keeps at most ${MAX_CHECKPOINTS} checkpoints; remove one first.`;
      throw new ApiError('CONFLICT', problem);
    }
    const checkpoint = Object.freeze({ name: parsed.name, createdAt: this.#worlds.clock.now().toISOString() });
    this.#saved.delete(parsed.name);
    const keptOwners = saveOwners(this.#worlds, 'file');
    this.#saved.set(parsed.name, { checkpoint, state: this.#state.save(), keptOwners });
    this.#registerStates();
    return checkpoint;
  }

  /** Restores the state of a checkpoint. @throws {ApiError} NOT_FOUND if there is none with this name. */
  restore(name: string): Checkpoint {
    const { checkpoint, state } = this.#find(name);
    this.#state.restore(state);
    return checkpoint;
  }

  /** Removes a checkpoint and returns it. @throws {ApiError} NOT_FOUND if there is none with this name. */
  remove(name: string): Checkpoint {
    const { checkpoint } = this.#find(name);
    this.#saved.delete(name);
    this.#registerStates();
    return checkpoint;
  }

  /** Returns what differs between two checkpoints; `now` is the present state. @throws {ApiError} NOT_FOUND */
  diff(from: string, to: string): StateDiff {
    return diffStates(this.#stateOf(from), this.#stateOf(to));
  }

  /** Returns every checkpoint in the form in which a file or a page stores it. */
  saveForFile(): KeptCheckpoint[] {
    return Array.from(this.#saved.values(), (saved) => {
      saved.fixture ??= exportFixture(saved.state.worlds, saved.state.keysAndIds.ids);
      return { ...saved.checkpoint, fixture: saved.fixture, owners: saved.keptOwners };
    });
  }

  /** Adds the checkpoints that `saveForFile` returned. */
  restoreFromFile(kept: readonly KeptCheckpoint[]): void {
    for (const { fixture, owners, ...checkpoint } of kept) {
      const state = { ...this.#state.read(fixture), ...readOwners(owners), rewind: undefined };
      this.#saved.set(checkpoint.name, { checkpoint: Object.freeze(checkpoint), state, keptOwners: owners, fixture });
    }
    this.#registerStates();
  }

  /** Registers the states of the checkpoints, because their mail counts towards the limit of the mailbox. */
  #registerStates(): void {
    const states = Array.from(this.#saved.values(), ({ state }) => state.worlds);
    this.#worlds.mailbox.saved.set(this.#worlds.sandboxId ?? '', states);
  }

  #stateOf(name: string): SavedState {
    return name === NOW ? this.#state.save() : this.#find(name).state;
  }

  #find(name: string) {
    const found = this.#saved.get(name);
    if (found) return found;
    throw new ApiError('NOT_FOUND', `There is no checkpoint ${JSON.stringify(String(name).slice(0, 100))}.`);
  }
}

/** Reads the clocks, faults and correspondents of a checkpoint. */
function readOwners(owners: SavedOwners): Pick<SavedState, 'owners' | 'faults' | 'correspondents'> {
  const list = <Item>(part: string) => Object.values(owners).flatMap(({ parts }) => (parts[part] ?? []) as Item[]);
  return {
    owners,
    faults: list<{ fault: Fault }>('faults').map(({ fault }) => fault),
    correspondents: list<{ entry: Entry }>('correspondents').map(({ entry }) => entry.shown),
  };
}
