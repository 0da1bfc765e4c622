import { describeValue } from '../../basics/check-options.ts';
import type { FixtureInput } from '../../fixture/parse-fixture.ts';
import { type StateKeeper, watchChanges } from './state-keeper.ts';

/** Where a page keeps the state: `session` for one tab, `local` for all tabs of the origin. */
export type Persistence = 'session' | 'local';

/**
 * Loads the data of a mailbox from the storage of the page, and writes them there after each change. With `local`, it
 * also loads the changes that other tabs make.
 *
 * @throws {TypeError} if the value is neither `session` nor `local`, and outside of a page.
 */
export function keepInPage(state: StateKeeper, baseUrl: string, persist: unknown): void {
  const storage = findStorage(persist);
  const storageKey = `agent-mailbox-mock ${baseUrl}`;
  let latest = storage.getItem(storageKey);
  // A state that cannot be loaded is removed.
  const load = () => {
    try {
      if (latest !== null) state.restoreData(JSON.parse(latest));
    } catch (error) {
      warn('The saved state of the mailbox cannot be loaded, so it was removed', error);
      storage.removeItem(storageKey);
    }
  };
  load();
  // `save` writes before it returns its promise, because a page that is closed does not wait for a promise.
  const save = async (fixture: FixtureInput) => {
    const text = JSON.stringify(fixture);
    storage.setItem(storageKey, text);
    latest = text;
  };
  const onFailure = (error: unknown) =>
    warn('The state of the mailbox cannot be saved; the emulator tries again until it can', error);
  const watcher = watchChanges(state, { delayMs: 0, save, onFailure });
  addEventListener('pagehide', watcher.flush);
  if (persist === 'session') return;
  addEventListener('storage', ({ key }) => {
    if (key !== storageKey) return;
    void watcher.flush();
    // The value of the event is not used, because this tab or another tab may have replaced it since.
    const text = storage.getItem(storageKey);
    if (text === latest) return;
    latest = text;
    load();
    watcher.skip();
  });
}

function findStorage(persist: unknown): Storage {
  if (persist !== 'session' && persist !== 'local') {
    throw new TypeError(`The option persist must be "session" or "local", not ${describeValue(persist)}.`);
  }
  // `localStorage` does not show whether this is a page, because some versions of Node have it, too.
  if (globalThis.document === undefined) {
    throw new TypeError('The option persist works only in a page; a server keeps its data with --state <file>.');
  }
  return persist === 'session' ? globalThis.sessionStorage : globalThis.localStorage;
}

function warn(problem: string, error: unknown): void {
  // biome-ignore lint/suspicious/noConsole: the front end continues, so nobody would see an error.
  console.warn(`agent-mailbox-mock: ${problem}. ${(error as Error).message}`);
}
