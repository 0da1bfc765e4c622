import type { FixtureInput } from '../fixture/parse-fixture.ts';
import type { StateKeeper } from './state-keeper.ts';

/** Watches the data of a mailbox. */
export interface ChangeWatcher {
  /** Calls `save` now if the data have changed since the last call. */
  flush(): void;
  /** Takes the present data as saved. */
  skip(): void;
}

/** Calls `save` with the data as a fixture, at most once in `delayMs`, after they have changed. */
export function watchChanges(
  state: StateKeeper,
  { delayMs, save }: { readonly delayMs: number; readonly save: (fixture: FixtureInput) => void },
): ChangeWatcher {
  let saved = state.rows();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    const rows = state.rows();
    if (areSame(rows, saved)) return;
    saved = rows;
    save(state.export());
  };
  state.onPossibleChange(() => {
    timer ??= setTimeout(flush, delayMs);
  });
  return {
    flush,
    skip() {
      saved = state.rows();
    },
  };
}

/** Rows are frozen, so those that are the same object have not changed. */
function areSame(one: readonly object[], other: readonly object[]): boolean {
  return one.length === other.length && one.every((row, index) => row === other[index]);
}
