import type { FixtureInput } from '../../fixture/parse-fixture.ts';
import { type StateKeeper, watchChanges } from './state-keeper.ts';

/** Where a page keeps the state: `session` for one tab, `local` for all tabs of the origin. */
export type Persistence = 'session' | 'local';

const STORAGES = { session: 'sessionStorage', local: 'localStorage' } as const;

/** What is kept, and where. */
interface Kept {
  readonly state: StateKeeper;
  readonly storage: Storage;
  readonly key: string;
}

/**
 * Loads the data of a mailbox from the storage of the page, and writes them there after each change. With `local`, it
 * also follows the changes by other tabs.
 *
 * @throws {TypeError} for another value than `session` and `local`, and outside of a page.
 */
export function keepInPage(state: StateKeeper, baseUrl: string, persist: unknown): void {
  const storage = findStorage(persist);
  const kept = { state, storage, key: `agent-mailbox-mock ${baseUrl}` };
  let latest = storage.getItem(kept.key);
  loadKept(kept, latest);
  // It writes before it returns, because a page that is left does not wait.
  const save = async (fixture: FixtureInput) => {
    const text = JSON.stringify(fixture);
    storage.setItem(kept.key, text);
    latest = text;
  };
  const onFailure = (error: unknown) =>
    warn('The state of the mailbox is not kept; it is tried again until it succeeds', error);
  const watcher = watchChanges(state, { delayMs: 0, save, onFailure });
  addEventListener('pagehide', watcher.flush);
  if (persist === 'session') return;
  addEventListener('storage', ({ key }) => {
    if (key !== kept.key) return;
    void watcher.flush();
    // Not the value of the event, which this tab or another one may have replaced since.
    const text = storage.getItem(key);
    if (text === latest) return;
    latest = text;
    loadKept(kept, text);
    watcher.skip();
  });
}

function findStorage(persist: unknown): Storage {
  if (persist !== 'session' && persist !== 'local') {
    throw new TypeError(`The option persist must be "session" or "local", not ${JSON.stringify(persist)}.`);
  }
  // Some versions of Node have a `localStorage` too.
  if (globalThis.document === undefined) {
    throw new TypeError('The option persist works only in a page; a server keeps its data with --state <file>.');
  }
  return globalThis[STORAGES[persist]];
}

/** Loads a kept text, if there is one. What cannot be loaded is dropped. */
function loadKept({ state, storage, key }: Kept, text: string | null): void {
  if (text === null) return;
  try {
    state.restoreData(JSON.parse(text));
  } catch (error) {
    warn('The kept state of the mailbox was dropped', error);
    storage.removeItem(key);
  }
}

function warn(problem: string, error: unknown): void {
  // biome-ignore lint/suspicious/noConsole: the front end goes on, so nobody would see an error.
  console.warn(`agent-mailbox-mock: ${problem}. ${(error as Error).message}`);
}
