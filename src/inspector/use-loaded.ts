import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { FeedEvent } from '../control/journal/feed-event.ts';
import { actionOf, isRefused } from '../control/journal/from-entries/call-of.ts';
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

/** While events keep coming, this time doubles with each load, up to this one. */
const MAX_INTERVAL_MS = 2_000;

/** After a load, the page waits this many times as long as the load took, but not longer than the time below. */
const PAUSE_FACTOR = 10;
const MAX_PAUSE_MS = 3_000;

/**
 * Runs some work after events: soon after the first one, and less often while events keep coming or the work is slow,
 * because the emulator is then busy.
 */
export class PacedWork {
  readonly #work: () => unknown;
  readonly #maxIntervalMs: number;
  #intervalMs = RELOAD_INTERVAL_MS;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isWanted = false;

  /** If `work` returns a promise, the next run waits for it. */
  constructor(work: () => unknown, maxIntervalMs = MAX_INTERVAL_MS) {
    this.#work = work;
    this.#maxIntervalMs = maxIntervalMs;
  }

  /** Asks for a run, after `delayMs` milliseconds or when the pause after the latest run is over. */
  request(delayMs = RELOAD_INTERVAL_MS): void {
    this.#isWanted = true;
    this.#timer ??= setTimeout(() => this.#run(), delayMs);
  }

  /** Runs no more. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#isWanted = false;
  }

  async #run(): Promise<void> {
    const startedMs = performance.now();
    this.#isWanted = false;
    await this.#work();
    const pauseMs = Math.min(MAX_PAUSE_MS, PAUSE_FACTOR * (performance.now() - startedMs));
    this.#timer = setTimeout(() => this.#endPause(), Math.max(this.#intervalMs, pauseMs));
  }

  #endPause(): void {
    this.#intervalMs = this.#isWanted ? Math.min(2 * this.#intervalMs, this.#maxIntervalMs) : RELOAD_INTERVAL_MS;
    this.#timer = undefined;
    if (this.#isWanted) this.request(0);
  }
}

/** The filter for a value that never changes while the page is open. */
export const noEvent: EventFilter = () => false;

/** Returns whether an event may change data. A request that only reads or that was refused changes nothing. */
export const changesData: EventFilter = (event) =>
  (event.kind !== 'request' && event.kind !== 'mail-command') ||
  (actionOf(event.data) !== 'GET' && !isRefused(event.data));

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

/**
 * Returns what was loaded, or, while something else is loaded, what was loaded before. A part of the page that shows
 * one object after another does not become empty in between.
 */
export function useFormer<Value>(loaded: Loaded<Value>): Loaded<Value> & { readonly isLoading: boolean } {
  const latest = useRef(loaded);
  const isLoading = loaded.value === undefined && loaded.error === undefined;
  if (!isLoading) latest.current = loaded;
  return { ...latest.current, isLoading };
}

/** Calls `onChange` after events that `matters` accepts, as {@link PacedWork} does, and after each new connection. */
export function useFeedChange(onChange: () => unknown, matters: EventFilter): void {
  const { feed } = useInspector();
  useEffect(() => {
    const work = new PacedWork(onChange);
    const stop = feed.subscribe({
      onEvent(event) {
        if (matters(event)) work.request();
      },
      // While the connection was lost, anything may have happened.
      onState(state) {
        if (state === 'live') work.request(0);
      },
    });
    return () => {
      stop();
      work.stop();
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
    const work = new PacedWork(async () => {
      const changes = [...changed];
      changed.clear();
      try {
        await applyChanges(known, changes, loader, client);
        setLoaded({ value: [...known.values()].reverse(), error: undefined });
      } catch (error) {
        setLoaded(({ value }) => ({ value, error: (error as Error).message }));
      }
    });
    const noteChanges = (changes: readonly Change<Item>[], delayMs?: number) => {
      for (const change of changes) changed.set(...change);
      if (changes.length > 0) work.request(delayMs);
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
      work.stop();
    };
  }, [feed]);
  return loaded;
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
