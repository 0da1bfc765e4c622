import type { FixtureInput } from '../fixture/parse-fixture.ts';
import type { StateKeeper } from './state-keeper.ts';

/** How long after a failure the data are saved again, in milliseconds. */
const RETRY_MS = 1_000;

/** How changed data are saved. */
export interface ChangeSaver {
  /** How long changes are collected before they are saved, in milliseconds. */
  readonly delayMs: number;
  /** Saves the data. It is never called while an earlier call is still running. */
  save(fixture: FixtureInput): Promise<void>;
  /** Called with the first error of `save` since it last succeeded. */
  onFailure(error: unknown): void;
}

/** Watches the data of a mailbox. */
export interface ChangeWatcher {
  /** Saves what has changed and was not saved, at once unless `save` is running. */
  flush(): Promise<void>;
  /** Takes the present data as saved. */
  skip(): void;
  /** Saves what has changed a last time, and ends the watching. @throws what `save` throws. */
  end(): Promise<void>;
}

/** Saves the data as a fixture after they have changed. After a failure it tries again, until it succeeds. */
export function watchChanges(state: StateKeeper, { delayMs, save, onFailure }: ChangeSaver): ChangeWatcher {
  let saved = state.rows();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running: Promise<void> | undefined;
  let [hasFailed, hasEnded] = [false, false];
  const saveChanges = async () => {
    clearTimeout(timer);
    timer = undefined;
    while (running) await Promise.allSettled([running]);
    const rows = state.rows();
    if (areSame(rows, saved)) return;
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
      plan(RETRY_MS);
    });
  const plan = (waitMs: number) => {
    if (!hasEnded) timer ??= setTimeout(flush, waitMs);
  };
  state.onPossibleChange(() => plan(delayMs));
  return {
    flush,
    skip() {
      saved = state.rows();
    },
    async end() {
      if (hasEnded) return;
      hasEnded = true;
      await saveChanges();
    },
  };
}

/** Rows are frozen, so those that are the same object have not changed. */
function areSame(one: readonly object[], other: readonly object[]): boolean {
  return one.length === other.length && one.every((row, index) => row === other[index]);
}
