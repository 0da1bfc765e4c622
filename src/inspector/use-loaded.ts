import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { FeedEvent } from '../control/journal/feed-event.ts';
import { useInspector } from './inspector.ts';

/** What was loaded, if it could be. */
export interface Loaded<Value> {
  /** The latest value; `undefined` until it is there. */
  readonly value: Value | undefined;
  /** Why it could not be loaded, in a sentence. */
  readonly error: string | undefined;
}

/** Whether an event changes something that the page may show. */
export type Test = (event: FeedEvent) => boolean;

/** Events come in large numbers, so the page loads again at most this often, in milliseconds. */
const RELOAD_INTERVAL_MS = 200;

/** Returns whether an event may change data: anything except a request that only reads. */
export const changesData: Test = (event) =>
  event.kind !== 'request' || (event.request.method !== 'GET' && event.request.status < 400);

/**
 * Loads a value as soon as the feed is connected, again when `key` changes, and again when something happens that
 * matters. The previous value stays until the next one is there, if the key is the same.
 */
export function useLoaded<Value>(load: () => Promise<Value>, key: string, matters: Test = changesData): Loaded<Value> {
  const [loaded, setLoaded] = useState<{ key: string; value?: Value; error?: string }>({ key });
  const { feed } = useInspector();
  const current = useRef({ load, key });
  current.current = { load, key };
  const reload = useCallback(async () => {
    const { load, key } = current.current;
    const next = await load().then(
      (value) => ({ key, value }),
      (error: Error) => ({ key, error: error.message }),
    );
    if (current.current.key === key) setLoaded(next);
  }, []);
  useEffect(() => {
    if (feed.state === 'live') void reload();
  }, [key]);
  useFeedChange(reload, matters);
  const isCurrent = loaded.key === key;
  return { value: isCurrent ? loaded.value : undefined, error: isCurrent ? loaded.error : undefined };
}

/** Calls a function after events that matter, at most once in an interval. */
export function useFeedChange(changed: () => void, matters: Test): void {
  const { feed } = useInspector();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const notify = () => {
      timer = undefined;
      changed();
    };
    const stop = feed.subscribe({
      event(event) {
        if (matters(event)) timer ??= setTimeout(notify, RELOAD_INTERVAL_MS);
      },
      // While the connection was lost, anything may have happened.
      state(state) {
        if (state === 'live') timer ??= setTimeout(notify);
      },
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [feed, changed]);
}

/** The result of what a person did on the page. */
export interface Action {
  /** Runs something and keeps its error. Resolves to whether it succeeded. */
  run(work: () => Promise<unknown>): Promise<boolean>;
  /** Why the latest one failed; `undefined` if it succeeded. */
  readonly error: string | undefined;
  /** Whether one is running. */
  readonly isRunning: boolean;
}

/** Runs what buttons and forms do. */
export function useAction(): Action {
  const [state, setState] = useState<{ error?: string; isRunning: boolean }>({ isRunning: false });
  const run = async (work: () => Promise<unknown>) => {
    setState({ isRunning: true });
    try {
      await work();
      setState({ isRunning: false });
      return true;
    } catch (error) {
      setState({ isRunning: false, error: (error as Error).message });
      return false;
    }
  };
  return { run, error: state.error, isRunning: state.isRunning };
}
