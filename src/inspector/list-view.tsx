import { ChevronLeft, type IconNode, Inbox } from 'lucide';
import type { ComponentChildren, RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { open, parseRoute } from './page-route.ts';
import { Icon, ScrollBox, type Tone } from './parts.tsx';
import { useShortcuts } from './shortcuts.ts';

interface ListViewProps {
  /** The name of the view, for screen readers. */
  readonly title: string;
  /** What is shown to the left of the list, such as a tree. */
  readonly aside?: ComponentChildren;
  readonly list: ComponentChildren;
  /** The name of the part beside the list, for screen readers. */
  readonly detailLabel: string;
  /** What is open beside the list; nothing if only the list is shown. */
  readonly detail: ComponentChildren;
  /** The text that is shown if nothing is open. It says what to choose. */
  readonly hint: string;
  /** The link to the list alone. */
  readonly back: string;
}

/** A list, with the open item beside it. A narrow page shows only one of the two. */
export function ListView({ title, aside, list, detailLabel, detail, hint, back }: ListViewProps) {
  useShortcuts({ Escape: () => detail && open(back) });
  return (
    <>
      <h1 class="hidden">{title}</h1>
      <div class={`columns ${aside ? 'three' : ''} ${detail ? 'open' : ''}`}>
        {aside}
        <div class="column">{list}</div>
        <section class="detail" aria-label={detailLabel} tabIndex={-1}>
          {detail ? (
            <>
              <a class="back" href={back}>
                <Icon icon={ChevronLeft} /> Back to the list
              </a>
              {detail}
            </>
          ) : (
            <div class="nothing">
              <Icon icon={Inbox} />
              <p>{hint}</p>
              <p class="hint">
                <kbd>j</kbd> <kbd>k</kbd> or the arrows go through the list; <kbd>?</kbd> shows all keys.
              </p>
            </div>
          )}
        </section>
      </div>
    </>
  );
}

interface RowProps {
  readonly href: string;
  readonly isOpen: boolean;
  /** Whether the item is new to the person, such as unread mail. */
  readonly isNew?: boolean;
  /** The icon before the row, with its colour. */
  readonly icon: IconNode;
  readonly tone: Tone;
  /** Who or what the item is about. */
  readonly who: ComponentChildren;
  readonly when: ComponentChildren;
  readonly what: ComponentChildren;
  /** The state, to the right of `what`. */
  readonly state?: ComponentChildren;
  /** More about the item, in a line of its own. */
  readonly more?: ComponentChildren;
}

/**
 * A row of a list has three lines: `who` and `when`, `what` and `state`, and `more`. The Tab key skips the row, because
 * the keys of the list open it.
 */
export function Row({ href, isOpen, isNew, icon, tone, who, when, what, state, more }: RowProps) {
  return (
    <a class={isNew ? 'row new' : 'row'} href={href} aria-current={isOpen ? 'true' : undefined} tabIndex={-1}>
      <span class={`row-icon ${tone}`}>
        <Icon icon={icon} />
      </span>
      <span class="both">
        <span class="who">{who}</span>
        <span class="when">{when}</span>
      </span>
      <span class="both">
        <span class="what">{what}</span>
        <span class="state">{state}</span>
      </span>
      <span class="more">{more}</span>
    </a>
  );
}

/** The items of a list; an item is `undefined` until it is loaded. */
type Items<Item> = { readonly length: number; at(index: number): Item | undefined };

interface VirtualListProps<Item> {
  /** What the list contains, for screen readers. */
  readonly label: string;
  readonly items: Items<Item>;
  /** The index of the open item, -1 if none is open. Default: the index of the item with the id `openId`. */
  readonly openIndex?: number;
  /** The id of the open item, as the route names it; `undefined` if none is open. */
  readonly openId: string | undefined;
  readonly renderRow: (item: Item | undefined) => ComponentChildren;
  /** Returns the link to an item. The keys `j` and `k` and the arrows open it. */
  readonly createLink: (id: string) => string;
  /** The text that is shown if the list has no items. */
  readonly empty: string;
  /** Receives the index of the first row that is rendered, and the index after the last rendered row. */
  readonly onRowsChange?: (first: number, end: number) => void;
}

/** The height of each row, in pixels. */
const ROW_HEIGHT = 76;

/** How many rows are rendered above the visible rows, and how many below. */
const MARGIN = 8;

/** A list of any length, of which only the visible rows are rendered. */
export function VirtualList<Item extends { readonly id: string }>(props: VirtualListProps<Item>) {
  const { label, items, openIndex = indexOf(items, props.openId), renderRow, onRowsChange } = props;
  const total = items.length;
  const box = useRef<HTMLElement>(null);
  const { firstVisible, visibleCount } = useVisibleRows(box);
  const first = Math.max(0, Math.min(firstVisible - MARGIN, total - 1));
  const end = Math.min(total, firstVisible + visibleCount + MARGIN);
  useEffect(() => onRowsChange?.(first, end), [first, end, onRowsChange]);
  useFixedRow(box, firstVisible, items);
  useEffect(() => scrollToRow(box.current, openIndex * ROW_HEIGHT), [openIndex]);
  const handleKey = useListKeys(box, props, openIndex);
  const indexes = Array.from({ length: Math.max(0, end - first) }, (_, position) => first + position);
  return (
    <>
      {total === 0 && <p class="hint empty">{props.empty}</p>}
      <ScrollBox className="list" box={box} label={label} handleKey={handleKey}>
        <ul style={{ height: `${total * ROW_HEIGHT}px` }}>
          {indexes.map((index) => (
            <li
              key={index}
              style={{ top: `${index * ROW_HEIGHT}px`, height: `${ROW_HEIGHT}px` }}
              aria-setsize={total}
              aria-posinset={index + 1}
            >
              {renderRow(items.at(index))}
            </li>
          ))}
        </ul>
      </ScrollBox>
    </>
  );
}

/** Adds the keys `j` and `k`, and returns the handler of the keys that are pressed in the list. */
function useListKeys<Item extends { readonly id: string }>(
  box: { readonly current: HTMLElement | null },
  { items, openId, createLink }: Pick<VirtualListProps<Item>, 'items' | 'openId' | 'createLink'>,
  openIndex: number,
): (event: KeyboardEvent) => void {
  const lastRequested = useRef(openIndex);
  const move = (step: number) => {
    // Somebody may press a key several times before the item of the first press is shown.
    const current = parseRoute(location.hash).id === openId ? openIndex : lastRequested.current;
    const next = Math.max(0, Math.min(items.length - 1, current + step));
    if (items.length === 0 || next === current) return;
    lastRequested.current = next;
    const { id } = items.at(next) ?? {};
    if (id !== undefined) open(createLink(id), { replace: true });
  };
  useShortcuts({ j: () => move(1), k: () => move(-1) });
  return (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined && event.key !== 'Enter') return;
    event.preventDefault();
    if (step !== undefined) move(step);
    else if (openIndex < 0) move(1);
    else box.current?.closest('.columns')?.querySelector<HTMLElement>('.detail')?.focus();
  };
}

/** Returns the index of the first visible row, and how many rows are visible. */
function useVisibleRows(box: RefObject<HTMLElement | null>) {
  const [firstVisible, setFirstVisible] = useState(0);
  const [visibleCount, setVisibleCount] = useState(0);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const update = () => {
      setFirstVisible(Math.floor(element.scrollTop / ROW_HEIGHT));
      setVisibleCount(Math.ceil(element.clientHeight / ROW_HEIGHT) + 1);
    };
    const observer = new ResizeObserver(update);
    observer.observe(element);
    element.addEventListener('scroll', update, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', update);
    };
  }, [box]);
  return { firstVisible, visibleCount };
}

/** Keeps the first visible row in place when rows are added above it, unless the reader is at the start of the list. */
function useFixedRow(
  box: RefObject<HTMLElement | null>,
  firstVisible: number,
  items: Items<{ readonly id: string }>,
): void {
  const idAt = (index: number) => items.at(index)?.id;
  const fixed = useRef<{ index: number; id: string | undefined }>({ index: 0, id: undefined });
  useLayoutEffect(() => {
    const { index, id } = fixed.current;
    if (id !== undefined && index > 0 && box.current && idAt(index) !== id) {
      const end = Math.min(items.length, index + MAX_MOVED_ROWS);
      let newIndex = Math.max(0, index - MAX_MOVED_ROWS);
      while (newIndex < end && idAt(newIndex) !== id) newIndex += 1;
      if (newIndex < end) box.current.scrollTop += (newIndex - index) * ROW_HEIGHT;
    }
    fixed.current = { index: firstVisible, id: idAt(firstVisible) };
  });
}

/** After a change of the list, the fixed row is searched for at most this many rows above and below its old place. */
const MAX_MOVED_ROWS = 1_000;

/** Scrolls just far enough to show the row that begins at `top`. */
function scrollToRow(box: HTMLElement | null, top: number): void {
  if (!box || top < 0) return;
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top + ROW_HEIGHT > box.scrollTop + box.clientHeight) box.scrollTop = top + ROW_HEIGHT - box.clientHeight;
}

function indexOf(items: Items<{ readonly id: string }>, id: string | undefined): number {
  for (let index = 0; index < items.length; index += 1) if (items.at(index)?.id === id) return index;
  return -1;
}
