import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { parseRoute } from './page-route.ts';

/** The items of a list; an item is `undefined` until it is loaded. */
export type Items<Item> = { readonly length: number; at(index: number): Item | undefined };

type Identified = Items<{ readonly id: string }>;
type ListBox = RefObject<HTMLElement | null>;

/** Returns the index of the first visible row, and how many rows are visible. */
export function useVisibleRows(box: ListBox, rowHeight: number) {
  const [firstVisible, setFirstVisible] = useState(0);
  const [visibleCount, setVisibleCount] = useState(0);
  const formerHeight = useRef(rowHeight);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    // When the rows get another height, the first visible row stays.
    if (formerHeight.current !== rowHeight) element.scrollTop = (element.scrollTop / formerHeight.current) * rowHeight;
    formerHeight.current = rowHeight;
    const update = () => {
      setFirstVisible(Math.floor(element.scrollTop / rowHeight));
      setVisibleCount(Math.ceil(element.clientHeight / rowHeight) + 1);
    };
    const observer = new ResizeObserver(update);
    observer.observe(element);
    element.addEventListener('scroll', update, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', update);
    };
  }, [box, rowHeight]);
  return { firstVisible, visibleCount };
}

/** The rows of a list that is held: those that have come above them are left out. */
interface HeldItems<Item> {
  readonly items: Items<Item>;
  /** How many rows are left out. */
  readonly newCount: number;
}

/**
 * Keeps the first visible row in its place while the list is held: rows that come above it are left out. If the open
 * item is one of them, they are shown.
 */
export function useHeldItems<Item extends { readonly id: string }>(
  all: Items<Item>,
  { firstVisible, isHeld, openId }: { firstVisible: number; isHeld: boolean; openId: string | undefined },
): HeldItems<Item> {
  const place = useRef<{ index: number; id: string | undefined; newCount: number }>({
    index: 0,
    id: undefined,
    newCount: 0,
  });
  const { index, id, newCount: former } = place.current;
  const found = isHeld && id !== undefined ? findNear(all, id, index + former) : -1;
  let newCount = Math.max(0, found - index);
  const openAt = newCount > 0 ? indexOf(all, openId) : -1;
  if (openAt >= 0 && openAt < newCount) newCount = 0;
  const items = newCount === 0 ? all : { length: all.length - newCount, at: (row: number) => all.at(row + newCount) };
  useLayoutEffect(() => {
    place.current = { index: firstVisible, id: items.at(firstVisible)?.id, newCount };
  });
  return { items, newCount };
}

/** After a change of a list, a row is searched for at most this many rows above and below its former place. */
const MAX_MOVED_ROWS = 1_000;

/** Returns the index of the item with this id that was at the index `former`; -1 if it is not near that index. */
function findNear(items: Identified, id: string, former: number): number {
  if (items.at(former)?.id === id) return former;
  const end = Math.min(items.length, former + MAX_MOVED_ROWS);
  for (let index = Math.max(0, former - MAX_MOVED_ROWS); index < end; index += 1) {
    if (items.at(index)?.id === id) return index;
  }
  return -1;
}

/** Returns the index of the item with this id; -1 if there is none. */
export function indexOf(items: Identified, id: string | undefined): number {
  if (id === undefined) return -1;
  for (let index = 0; index < items.length; index += 1) if (items.at(index)?.id === id) return index;
  return -1;
}

/** Scrolls just far enough to show the row that begins at `top`. */
export function scrollToRow(box: HTMLElement | null, top: number, rowHeight: number): void {
  if (!box || top < 0) return;
  // The headings stay above the rows.
  const visibleHeight = box.clientHeight - (box.querySelector('ul')?.offsetTop ?? 0);
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top + rowHeight > box.scrollTop + visibleHeight) box.scrollTop = top + rowHeight - visibleHeight;
}

/** The row that the keys have chosen. While an item is open, it is the row of this item. */
export interface Cursor {
  /** The index of the row; -1 if none is chosen. */
  readonly index: number;
  /** Chooses the row of the item with this id. */
  set(index: number, id: string): void;
}

/** Returns the row that the keys have chosen. It stays with its item when rows are added or removed. */
export function useCursor(items: Identified, openId: string | undefined, openIndex: number): Cursor {
  const chosen = useRef<{ index: number; id: string | undefined }>({ index: -1, id: undefined });
  const [, render] = useState({});
  // Somebody may press a key several times before the item of the first press is shown.
  const isShown = openId !== undefined && parseRoute(location.hash).id === openId;
  if (openIndex >= 0 && isShown) chosen.current = { index: openIndex, id: openId };
  const { id, index: former } = chosen.current;
  const found = id === undefined ? -1 : findNear(items, id, former);
  // The keys go on from the place of an item that is gone.
  if (id !== undefined) chosen.current.index = found < 0 ? Math.min(former, items.length - 1) : found;
  return {
    get index() {
      return chosen.current.index;
    },
    set(index, id) {
      chosen.current = { index, id };
      render({});
    },
  };
}

/** How long a row is marked as new, in milliseconds. The style of the mark names the same time. */
const NEW_MS = 2_000;

/** Returns the ids of the items that were added above the first one, each for a moment. */
export function useNewRows(items: Identified): ReadonlySet<string> {
  const first = items.at(0)?.id;
  const formerFirst = useRef(first);
  const timers = useRef(new Set<ReturnType<typeof setTimeout>>());
  const [newIds, setNewIds] = useState<ReadonlySet<string>>(new Set());
  useLayoutEffect(() => {
    const former = formerFirst.current;
    formerFirst.current = first;
    if (first === undefined || first === former) return;
    // Without the former first item, the list shows something else, for example after a reset.
    const count = former === undefined ? items.length : findNear(items, former, 0);
    const added = Array.from({ length: Math.min(count, MAX_MOVED_ROWS) }, (_, index) => items.at(index)?.id ?? '');
    if (added.length === 0) return;
    setNewIds((ids) => new Set([...ids, ...added]));
    const timer = setTimeout(() => {
      timers.current.delete(timer);
      setNewIds((ids) => new Set([...ids].filter((id) => !added.includes(id))));
    }, NEW_MS);
    timers.current.add(timer);
  }, [first]);
  useEffect(
    () => () => {
      for (const timer of timers.current) clearTimeout(timer);
    },
    [],
  );
  return newIds;
}
