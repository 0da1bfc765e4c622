import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { parseRoute } from './page-route.ts';
import { ScrollBox } from './parts.tsx';
import { useShortcuts } from './shortcuts.ts';

interface VirtualListProps {
  /** What the list contains, for screen readers. */
  readonly label: string;
  readonly total: number;
  /** The height of each row, in pixels. Default: that of a `Row`. */
  readonly rowHeight?: number;
  /** The index of the open item; -1 if none is open. */
  readonly selected: number;
  /** The id of the open item, as the route names it; `undefined` if none is open. */
  readonly openId: string | undefined;
  /** Shows the row at an index, even if its data are not there yet. */
  readonly rowAt: (index: number) => ComponentChildren;
  /** The id of the item at an index; `undefined` if its data are not there yet. */
  readonly idAt: (index: number) => string | undefined;
  /** Opens the item at an index, for the keys `j` and `k` and the arrows. */
  readonly open: (index: number) => void;
  /** Receives the indexes of the first and last row that are shown. */
  readonly shown?: (first: number, last: number) => void;
}

const ROW_HEIGHT = 76;

/** How many rows above and below the visible ones are rendered. */
const MARGIN = 8;

/** A list of any length, of which only the visible rows are rendered. */
export function VirtualList({ label, total, rowHeight = ROW_HEIGHT, ...props }: VirtualListProps) {
  const { selected, openId, rowAt, idAt, open, shown } = props;
  const box = useRef<HTMLElement>(null);
  const { firstVisible, visible } = useVisibleRows(box, rowHeight);
  const first = Math.max(0, Math.min(firstVisible - MARGIN, total - 1));
  const last = Math.min(total, firstVisible + visible + MARGIN);
  useEffect(() => shown?.(first, last), [first, last, shown]);
  useFixedRow(box, firstVisible, rowHeight, total, idAt);
  useEffect(() => scrollTo(box.current, selected * rowHeight, rowHeight), [selected, rowHeight]);
  const target = useRef(selected);
  const move = (step: number) => {
    // Somebody may press a key several times before the item of the first press is shown.
    const from = parseRoute(location.hash).id === openId ? selected : target.current;
    const next = Math.max(0, Math.min(total - 1, from + step));
    if (total === 0 || next === from) return;
    target.current = next;
    open(next);
  };
  useShortcuts({ j: () => move(1), k: () => move(-1) });
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined && event.key !== 'Enter') return;
    event.preventDefault();
    if (step !== undefined) move(step);
    else if (selected < 0) move(1);
    else box.current?.closest('.columns')?.querySelector<HTMLElement>('.detail')?.focus();
  };
  const indexes = Array.from({ length: Math.max(0, last - first) }, (_, position) => first + position);
  return (
    <ScrollBox className="list" box={box} label={label} press={press}>
      <ul style={{ height: `${total * rowHeight}px` }}>
        {indexes.map((index) => (
          <li
            key={index}
            style={{ top: `${index * rowHeight}px`, height: `${rowHeight}px` }}
            aria-setsize={total}
            aria-posinset={index + 1}
          >
            {rowAt(index)}
          </li>
        ))}
      </ul>
    </ScrollBox>
  );
}

/** Returns the index of the first visible row, and how many rows are visible. */
function useVisibleRows(box: { readonly current: HTMLElement | null }, rowHeight: number) {
  const [firstVisible, setFirstVisible] = useState(0);
  const [visible, setVisible] = useState(0);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const update = () => {
      setFirstVisible(Math.floor(element.scrollTop / rowHeight));
      setVisible(Math.ceil(element.clientHeight / rowHeight) + 1);
    };
    const observer = new ResizeObserver(update);
    observer.observe(element);
    element.addEventListener('scroll', update, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', update);
    };
  }, [box, rowHeight]);
  return { firstVisible, visible };
}

/** Keeps the first visible row where it is when rows come above it, unless the reader is at the start of the list. */
function useFixedRow(
  box: { readonly current: HTMLElement | null },
  firstVisible: number,
  rowHeight: number,
  total: number,
  idAt: (index: number) => string | undefined,
): void {
  const fixed = useRef<{ index: number; id: string | undefined }>({ index: 0, id: undefined });
  useLayoutEffect(() => {
    const { index, id } = fixed.current;
    if (id !== undefined && index > 0 && box.current && idAt(index) !== id) {
      const last = Math.min(total, index + MAX_NEW_ROWS);
      let place = Math.max(0, index - MAX_NEW_ROWS);
      while (place < last && idAt(place) !== id) place += 1;
      if (place < last) box.current.scrollTop += (place - index) * rowHeight;
    }
    fixed.current = { index: firstVisible, id: idAt(firstVisible) };
  });
}

/** By how many rows the first visible one is followed. */
const MAX_NEW_ROWS = 1_000;

/** Scrolls no further than is needed to show a row. */
function scrollTo(box: HTMLElement | null, top: number, height: number): void {
  if (!box || top < 0) return;
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top + height > box.scrollTop + box.clientHeight) box.scrollTop = top + height - box.clientHeight;
}
