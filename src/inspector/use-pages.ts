import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { useInspector } from './inspector.ts';
import { changesData, useFeedChange } from './use-loaded.ts';

/** How many items are loaded at a time. */
const PAGE_SIZE = 100;

/** A part of a long list. */
interface Page<Item> {
  readonly total: number;
  readonly items: readonly Item[];
}

/** A long list, of which only the parts that are shown are loaded. */
export interface Pages<Item> {
  /** How many items there are; `undefined` until that is known. */
  readonly total: number | undefined;
  /** Why the latest part could not be loaded, in a sentence. */
  readonly error: string | undefined;
  /** Returns an item; `undefined` until it is loaded. */
  at(index: number): Item | undefined;
  /** Returns the index of the item that matches, among those that are loaded; -1 if there is none. */
  indexOf(isMatch: (item: Item) => boolean): number;
  /** Loads the items from `first` to before `last`. */
  need(first: number, last: number): void;
}

/** What is known of a list. It is changed in place, because the parts arrive in any order. */
class Parts<Item> {
  readonly items = new Map<number, Item>();
  readonly requested = new Set<number>();
  total: number | undefined;
  error: string | undefined;
  shown: readonly [first: number, last: number] = [0, 1];
}

/** Loads the parts of a list that are needed. A change of `key` starts anew; a change of the data loads again. */
export function usePages<Item>(load: (offset: number, limit: number) => Promise<Page<Item>>, key: string): Pages<Item> {
  const { feed } = useInspector();
  const [, render] = useState({});
  const state = useRef({ key, parts: new Parts<Item>(), load });
  if (state.current.key !== key) state.current = { key, parts: new Parts<Item>(), load };
  state.current.load = load;
  const need = useCallback(
    (first: number, last: number) => {
      const { parts, load } = state.current;
      parts.shown = [first, last];
      // Everything is loaded as soon as the feed is connected.
      if (feed.state !== 'live') return;
      for (let page = Math.floor(first / PAGE_SIZE); page * PAGE_SIZE <= Math.max(first, last - 1); page += 1) {
        if (parts.requested.has(page)) continue;
        parts.requested.add(page);
        void fill(parts, page, load).then(() => render({}));
      }
    },
    [key, feed],
  );
  useEffect(() => need(0, 1), [need]);
  const refresh = useCallback(() => {
    const { parts } = state.current;
    parts.requested.clear();
    need(...parts.shown);
  }, [need]);
  useFeedChange(refresh, changesData);
  const { parts } = state.current;
  return {
    total: parts.total,
    error: parts.error,
    at: (index) => parts.items.get(index),
    indexOf: (isMatch) => [...parts.items].find(([, item]) => isMatch(item))?.[0] ?? -1,
    need,
  };
}

async function fill<Item>(
  parts: Parts<Item>,
  page: number,
  load: (offset: number, limit: number) => Promise<Page<Item>>,
): Promise<void> {
  const offset = page * PAGE_SIZE;
  try {
    const { total, items } = await load(offset, PAGE_SIZE);
    parts.error = undefined;
    parts.total = total;
    for (const index of [...parts.items.keys()]) if (index >= total) parts.items.delete(index);
    for (const [position, item] of items.entries()) parts.items.set(offset + position, item);
  } catch (error) {
    // What was there may be gone, such as the mail of a sandbox that was closed.
    parts.items.clear();
    parts.total = undefined;
    parts.error = (error as Error).message;
    parts.requested.delete(page);
  }
}
