import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { FeedEvent } from '../control/journal/feed-event.ts';
import type { ControlClient } from '../control/table/client.ts';
import { useInspector } from './inspector.ts';

/** What was loaded, or why it could not be loaded. */
export interface Loaded<Value> {
  /** The latest value; `undefined` until it is loaded. */
  readonly value: Value | undefined;
  /** Why the value could not be loaded, in a sentence. */
  readonly error: string | undefined;
}

/** A function that calls the emulator. */
export type Call<Value> = (client: ControlClient) => Promise<Value>;

/** Returns whether an event matters for what the page shows. */
export type EventFilter = (event: FeedEvent) => boolean;

/** Many events may come at once, so the page waits for this time before it loads again. */
const RELOAD_INTERVAL_MS = 200;

/** The filter for a value that never changes while the page is open. */
export const noEvent: EventFilter = () => false;

/** Returns whether an event may change data. A request that only reads or that was refused changes nothing. */
export const changesData: EventFilter = (event) =>
  event.kind !== 'request' || (event.request.method !== 'GET' && event.request.status < 400);

/**
 * Loads a value as soon as the feed is connected, again when `key` changes, and again after each event that `matters`
 * accepts. While the key stays the same, the previous value is shown until the next one is loaded.
 */
export function useLoaded<Value>(load: Call<Value>, key: string, matters: EventFilter = changesData): Loaded<Value> {
  const [loaded, setLoaded] = useState<{ key: string; value?: Value; error?: string }>({ key });
  const { client, feed } = useInspector();
  const latest = useRef({ load, key });
  latest.current = { load, key };
  const reload = useCallback(async () => {
    const { load, key } = latest.current;
    const next = await load(client).then(
      (value) => ({ key, value }),
      (error: Error) => ({ key, error: error.message }),
    );
    if (latest.current.key === key) setLoaded(next);
  }, []);
  useEffect(() => {
    if (feed.state === 'live') void reload();
  }, [key]);
  useFeedChange(reload, matters);
  const isCurrent = loaded.key === key;
  return { value: isCurrent ? loaded.value : undefined, error: isCurrent ? loaded.error : undefined };
}

/** Calls `onChange` after events that `matters` accepts, at most once in an interval, and after each new connection. */
export function useFeedChange(onChange: () => void, matters: EventFilter): void {
  const { feed } = useInspector();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const notify = () => {
      timer = undefined;
      onChange();
    };
    const stop = feed.subscribe({
      onEvent(event) {
        if (matters(event)) timer ??= setTimeout(notify, RELOAD_INTERVAL_MS);
      },
      // While the connection was lost, anything may have happened.
      onState(state) {
        if (state === 'live') timer ??= setTimeout(notify);
      },
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [feed, onChange]);
}

/** What an event changes in a log. Without `item`, the page loads the item. The id `*` stands for all items. */
export type Change<Item> = readonly [id: string, item?: Item | undefined];

/** The change after which all items of a log are loaded again. */
export const ALL = ['*'] as const;

/** How the page loads a log of the emulator. The log may be long. */
export interface LogLoader<Item> {
  /** Loads all items, the oldest first. */
  loadAll(client: ControlClient): Promise<readonly Item[]>;
  /** Loads one item; `undefined` if it is gone. */
  loadOne(client: ControlClient, id: string): Promise<Item | undefined>;
  /** Returns what an event changes; an empty list if it changes nothing. */
  changesOf(event: FeedEvent): readonly Change<Item>[];
  /** How many items are kept; the oldest are dropped. Default: all. */
  readonly limit?: number;
}

/** If more items than this have to be loaded, all are loaded again. */
const MAX_SINGLE_LOADS = 20;

/** Loads a log and returns its items, the newest first. Afterwards loads only the items that change. */
export function useLog<Item extends { readonly id: string }>(loader: LogLoader<Item>): Loaded<readonly Item[]> {
  const { client, feed } = useInspector();
  const [loaded, setLoaded] = useState<Loaded<readonly Item[]>>({ value: undefined, error: undefined });
  useEffect(() => {
    const known = new Map<string, Item>();
    const changed = new Map<string, Item | undefined>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const load = async () => {
      const startedMs = performance.now();
      const changes = [...changed];
      changed.clear();
      try {
        await applyChanges(known, changes, loader, client);
        dropOldest(known, loader.limit);
        setLoaded({ value: [...known.values()].reverse(), error: undefined });
      } catch (error) {
        setLoaded(({ value }) => ({ value, error: (error as Error).message }));
      }
      timer = setTimeout(() => {
        timer = changed.size > 0 ? setTimeout(load) : undefined;
      }, pauseMsAfter(startedMs));
    };
    const noteChanges = (changes: readonly Change<Item>[], delayMs = RELOAD_INTERVAL_MS) => {
      for (const change of changes) changed.set(...change);
      if (changes.length > 0) timer ??= setTimeout(load, delayMs);
    };
    const stop = feed.subscribe({
      onEvent: (event) => noteChanges(loader.changesOf(event)),
      // While the connection was lost, anything may have happened.
      onState: (state) => state === 'live' && noteChanges([ALL], 0),
    });
    if (feed.state === 'live') noteChanges([ALL], 0);
    return () => {
      stop();
      changed.clear();
      clearTimeout(timer);
    };
  }, [feed]);
  return loaded;
}

function dropOldest(items: Map<string, unknown>, limit = Number.POSITIVE_INFINITY): void {
  for (const id of items.keys()) {
    if (items.size <= limit) return;
    items.delete(id);
  }
}

/** Returns how long to wait after a load. The wait is longer after a slow load, because the emulator is then busy. */
function pauseMsAfter(startedMs: number): number {
  return Math.max(RELOAD_INTERVAL_MS, 2 * (performance.now() - startedMs));
}

/** Applies changes to `known`, and loads the items that are missing. */
async function applyChanges<Item extends { readonly id: string }>(
  known: Map<string, Item>,
  changes: readonly Change<Item>[],
  loader: LogLoader<Item>,
  client: ControlClient,
): Promise<void> {
  const missing = changes.filter(([, item]) => !item);
  const mustLoadAll = missing.length > MAX_SINGLE_LOADS || missing.some(([id]) => id === ALL[0]);
  const loadOne = ([id, item]: Change<Item>) => item ?? loader.loadOne(client, id);
  const items = await (mustLoadAll ? loader.loadAll(client) : Promise.all(changes.map(loadOne)));
  if (mustLoadAll) known.clear();
  for (const item of items) if (item) known.set(item.id, item);
}

/** What a button or a form does: `run`, the error of its latest run, and whether a run is in progress. */
export type Action = ReturnType<typeof useAction>;

/** Returns an action for a button or a form. `run` keeps the error, and resolves with whether the work succeeded. */
export function useAction() {
  const [state, setState] = useState<{ error?: string; isRunning: boolean }>({ isRunning: false });
  const { client } = useInspector();
  const run = async (work: Call<unknown>): Promise<boolean> => {
    setState({ isRunning: true });
    try {
      await work(client);
      setState({ isRunning: false });
      return true;
    } catch (error) {
      setState({ isRunning: false, error: (error as Error).message });
      return false;
    }
  };
  return { run, error: state.error, isRunning: state.isRunning };
}
