import { ArrowUp, ChevronLeft, type IconNode, Inbox, Rows2, Rows4 } from 'lucide';
import { type ComponentChildren, createContext, type RefObject } from 'preact';
import { useCallback, useContext, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { focusDetail } from './link-keys.ts';
import { open } from './page-route.ts';
import { Button, Frame, Icon, type Tone } from './parts.tsx';
import { useShortcuts } from './shortcuts.ts';
import { type EventFilter, useFeedChange } from './use-loaded.ts';
import {
  type Cursor,
  type Items,
  indexOf,
  scrollToRow,
  useCursor,
  useHeldItems,
  useNewRows,
  useVisibleRows,
} from './virtual-rows.ts';

interface ListViewProps {
  /** The name of the view, for screen readers. */
  readonly title: string;
  /** What is shown to the left of the list, such as a tree. */
  readonly aside?: ComponentChildren;
  readonly list: ComponentChildren;
  /** What can be done without an open item. It is shown beside the title. */
  readonly actions?: ComponentChildren;
  /** Whether the list has the whole width while nothing is open. */
  readonly isWide?: boolean;
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
export function ListView(props: ListViewProps) {
  const { title, aside, list, actions, isWide = false, detailLabel, detail, hint, back } = props;
  useShortcuts({ Escape: () => detail && open(back) });
  const classes = ['columns', aside && 'three', isWide && 'wide', detail && 'open'];
  return (
    <>
      <Frame title={title}>{actions}</Frame>
      <div class={classes.filter(Boolean).join(' ')}>
        {aside}
        <div class="column">
          {list}
          {isWide && !detail && (
            <p class="tools actions hint small">
              <span>
                {hint} <KeysHint />
              </span>
            </p>
          )}
        </div>
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
                <KeysHint />
              </p>
            </div>
          )}
        </section>
      </div>
    </>
  );
}

/** Says which keys go through the list that is shown. */
function KeysHint() {
  return (
    <>
      <kbd>j</kbd> <kbd>k</kbd> or the arrows choose; <kbd>Enter</kbd> opens; <kbd>?</kbd> shows all keys.
    </>
  );
}

/** The name under which the choice of the rows is stored, in this browser. */
const ROWS_KEY = 'agent-mailbox-mock.rows';

/** Whether rows have three lines in place of one, and a switch for it. The choice is kept for the next visit. */
export function useComfortableRows() {
  const [isOn, setOn] = useState(() => localStorage.getItem(ROWS_KEY) === 'comfortable');
  const change = (isOn: boolean) => {
    localStorage.setItem(ROWS_KEY, isOn ? 'comfortable' : 'compact');
    setOn(isOn);
  };
  const rowsSwitch = (
    <Button
      icon={isOn ? Rows2 : Rows4}
      text=""
      class="quiet"
      aria-label="Comfortable rows"
      aria-pressed={isOn}
      title="Comfortable rows, with three lines"
      onClick={() => change(!isOn)}
    />
  );
  return { isComfortable: isOn, rowsSwitch };
}

/** What a list says about one of its rows. */
interface RowState {
  /** Whether the Tab key leads to the row. It leads to one row of a list, from which the arrows go on. */
  readonly isTabStop: boolean;
  /** Whether the item has come while the list was shown. This is so for a moment. */
  readonly isNew: boolean;
}

const RowContext = createContext<RowState>({ isTabStop: false, isNew: false });

interface RowLinkProps {
  readonly href: string;
  readonly isOpen: boolean;
  readonly class?: string;
  readonly children: ComponentChildren;
}

/** The link that a row is. */
function RowLink({ href, isOpen, class: className = '', children }: RowLinkProps) {
  const { isTabStop, isNew } = useContext(RowContext);
  return (
    <a
      class={`row ${className} ${isNew ? 'arrived' : ''}`}
      href={href}
      aria-current={isOpen ? 'true' : undefined}
      tabIndex={isTabStop ? 0 : -1}
    >
      {children}
    </a>
  );
}

interface RowProps {
  readonly href: string;
  readonly isOpen: boolean;
  /** Whether the item is new to the person, such as unread mail. */
  readonly isUnread?: boolean;
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

/** A row of a list has three lines: `who` and `when`, `what` and `state`, and `more`. */
export function Row({ href, isOpen, isUnread, icon, tone, who, when, what, state, more }: RowProps) {
  return (
    <RowLink href={href} isOpen={isOpen} class={isUnread ? 'unread' : ''}>
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
    </RowLink>
  );
}

/** What a row of one line shows, in this order. A narrow list leaves out some of it. */
const CELLS = ['kind', 'what', 'state', 'duration', 'owner', 'when'] as const;

type Cells = Readonly<Record<(typeof CELLS)[number], ComponentChildren>>;

interface LineProps {
  readonly cells: Cells;
  /** Whether the first column has more than a short word. */
  readonly isKindLong?: boolean;
}

const lineClass = (isKindLong: boolean) => (isKindLong ? 'line long-kind' : 'line');

/** A row of one line. */
export function LineRow({ href, isOpen, cells, isKindLong = false }: LineProps & Pick<RowProps, 'href' | 'isOpen'>) {
  return (
    <RowLink href={href} isOpen={isOpen} class={lineClass(isKindLong)}>
      {CELLS.map((name) => (
        <span key={name} class={name}>
          {cells[name]}
        </span>
      ))}
    </RowLink>
  );
}

/** The names of the columns above rows of one line. Screen readers skip them, because each row is a link. */
export function LineHeadings({ cells, isKindLong = false }: LineProps) {
  return (
    <div class={`${lineClass(isKindLong)} headings`} aria-hidden="true">
      {CELLS.map((name) => (
        <span key={name} class={name}>
          {cells[name]}
        </span>
      ))}
    </div>
  );
}

interface VirtualListProps<Item> {
  /** What the list contains, for screen readers. */
  readonly label: string;
  readonly items: Items<Item>;
  /**
   * For a list that loads only the rows that are shown, and so holds its place itself: how many rows have come above
   * those of `items` since it is held, and a function that holds it or lets it follow what is new.
   */
  readonly hold?: { readonly newCount: number; change(isHeld: boolean): void };
  /** The index of the open item, -1 if none is open. Default: the index of the item with the id `openId`. */
  readonly openIndex?: number;
  /** The id of the open item, as the route names it; `undefined` if none is open. */
  readonly openId: string | undefined;
  readonly renderRow: (item: Item | undefined) => ComponentChildren;
  /** Returns the link to an item, which Enter opens. While an item is open, `j` and `k` and the arrows open it, too. */
  readonly createLink: (id: string) => string;
  /** The text that is shown if the list has no items. */
  readonly empty: string;
  /** What stays above the rows while they are scrolled, such as the names of their columns. */
  readonly headings?: ComponentChildren;
  /** The height of each row, in pixels. */
  readonly rowHeight?: number | undefined;
  /** Receives the index of the first row that is rendered, and the index after the last rendered row. */
  readonly onRowsChange?: (first: number, end: number) => void;
}

/** The height of a row with three lines, in pixels. */
const ROW_HEIGHT = 68;

/** The height of a row with one line, in pixels. */
export const LINE_HEIGHT = 40;

/** How many rows are rendered above the visible rows, and how many below. */
const MARGIN = 8;

/** How many rows of a list are printed at most. */
const MAX_PRINTED = 1_000;

const isReset: EventFilter = ({ kind }) => kind === 'reset';

/** Returns whether the page is being printed, which needs rows that cannot be seen, too. */
function useIsPrinted(): boolean {
  const [isPrinted, setPrinted] = useState(false);
  useEffect(() => {
    const change = ({ type }: Event) => setPrinted(type === 'beforeprint');
    addEventListener('beforeprint', change);
    addEventListener('afterprint', change);
    return () => {
      removeEventListener('beforeprint', change);
      removeEventListener('afterprint', change);
    };
  }, []);
  return isPrinted;
}

/**
 * A list of any length, of which only the visible rows are rendered. It must get another `key` when it shows something
 * else, such as the result of another search, because rows that come later are marked as new. While somebody has
 * scrolled down or has the pointer over the list, the rows stay where they are, and a button says how many are new.
 */
export function VirtualList<Item extends { readonly id: string }>(props: VirtualListProps<Item>) {
  const { label, renderRow, onRowsChange, hold, openId, rowHeight = ROW_HEIGHT } = props;
  const box = useRef<HTMLElement>(null);
  const { firstVisible, visibleCount } = useVisibleRows(box, rowHeight);
  const isPrinted = useIsPrinted();
  const [isPointed, setPointed] = useState(false);
  // After a reset, the list shows other data, so there is no place to hold.
  useFeedChange(
    useCallback(() => setPointed(false), []),
    isReset,
  );
  const isHeld = firstVisible > 0 || isPointed;
  const held = useHeldItems(props.items, { firstVisible, isHeld: isHeld && !hold, openId });
  const { items } = held;
  const { newCount } = hold ?? held;
  const { openIndex = indexOf(items, openId) } = props;
  const total = items.length;
  const first = isPrinted ? 0 : Math.max(0, Math.min(firstVisible - MARGIN, total - 1));
  const end = Math.min(total, isPrinted ? MAX_PRINTED : firstVisible + visibleCount + MARGIN);
  useLayoutEffect(() => hold?.change(isHeld), [isHeld, hold?.change]);
  useEffect(() => {
    // Printing does not wait for rows that are not loaded.
    if (!isPrinted) onRowsChange?.(first, end);
  }, [first, end, isPrinted, onRowsChange]);
  useEffect(() => scrollToRow(box.current, openIndex * rowHeight, rowHeight), [openIndex]);
  const newIds = useNewRows(items);
  const cursor = useCursor(items, openId, openIndex);
  const indexes = Array.from({ length: Math.max(0, end - first) }, (_, position) => first + position);
  const hasFocus = box.current?.contains(document.activeElement) ?? false;
  // The row with the focus stays in the page, also while it is scrolled out of view.
  if (hasFocus && cursor.index >= 0 && !indexes.includes(cursor.index)) indexes.push(cursor.index);
  const tabStop = indexes.includes(cursor.index) ? cursor.index : Math.min(firstVisible, total - 1);
  const showNew = () => {
    box.current?.scrollTo(0, 0);
    setPointed(false);
  };
  const { handleKey, handleFocus } = useListKeys(box, { ...props, items }, cursor, tabStop, rowHeight);
  return (
    <>
      {total === 0 && <p class="hint empty">{props.empty}</p>}
      {isPrinted && total > end && <p class="hint">{`The first ${end} of ${total.toLocaleString('en')} rows.`}</p>}
      {newCount > 0 && <NewRows count={newCount} show={showNew} />}
      <section
        class="list"
        ref={box}
        aria-label={label}
        tabIndex={-1}
        onKeyDown={handleKey}
        onFocusIn={handleFocus}
        onPointerEnter={({ pointerType }) => setPointed(pointerType === 'mouse')}
        onPointerLeave={() => setPointed(false)}
      >
        {total > 0 && props.headings}
        <ul style={isPrinted ? undefined : { height: `${total * rowHeight}px` }}>
          {indexes.map((index) => {
            const item = items.at(index);
            return (
              <li
                key={item?.id ?? index}
                style={isPrinted ? undefined : { top: `${index * rowHeight}px`, height: `${rowHeight}px` }}
                aria-setsize={total}
                aria-posinset={index + 1}
              >
                <RowContext.Provider value={{ isTabStop: index === tabStop, isNew: newIds.has(item?.id ?? '') }}>
                  {renderRow(item)}
                </RowContext.Provider>
              </li>
            );
          })}
        </ul>
      </section>
    </>
  );
}

/** A button above the rows that leads to those that are new. */
function NewRows({ count, show }: { readonly count: number; show(): void }) {
  return (
    <div class="new-rows">
      <Button class="pill" icon={ArrowUp} text={`${count.toLocaleString('en')} new`} onClick={show} />
    </div>
  );
}

type ListBox = RefObject<HTMLElement | null>;
type KeyProps<Item> = Pick<VirtualListProps<Item>, 'items' | 'openId' | 'createLink'>;

/**
 * Adds the keys `j` and `k`, and returns the handlers of what happens in the list. The keys choose a row, which gets the
 * focus. Enter opens it, and moves the focus to what is open. `tabStop` is the row at which the keys begin.
 */
function useListKeys<Item extends { readonly id: string }>(
  box: ListBox,
  { items, openId, createLink }: KeyProps<Item>,
  cursor: Cursor,
  tabStop: number,
  rowHeight: number,
) {
  const focusCursor = useFocus(box, openId, cursor);
  const choose = (wanted: number) => {
    const index = Math.max(0, Math.min(items.length - 1, wanted));
    const id = items.at(index)?.id;
    // The keys stop at a row that is not loaded yet.
    if (id === undefined) return;
    cursor.set(index, id);
    scrollToRow(box.current, index * rowHeight, rowHeight);
    focusCursor();
    if (openId !== undefined) open(createLink(id), { replace: true });
  };
  const move = (step: number) => choose(cursor.index < 0 ? tabStop : cursor.index + step);
  useShortcuts({ j: () => move(1), k: () => move(-1) });
  const openedId = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (openedId.current !== undefined && openedId.current === openId) focusDetail(box.current);
    openedId.current = undefined;
  }, [openId]);
  const openCursor = () => {
    const id = items.at(cursor.index)?.id;
    if (id === openId) focusDetail(box.current);
    else if (id !== undefined) {
      openedId.current = id;
      open(createLink(id));
    }
  };
  const keys: Readonly<Record<string, () => void>> = {
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    Home: () => choose(0),
    End: () => choose(items.length - 1),
    Enter: openCursor,
  };
  const handleKey = (event: KeyboardEvent) => {
    const run = keys[event.key];
    // With another key, Enter opens a tab, as on any link.
    if (!run || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    run();
  };
  const handleFocus = ({ target }: FocusEvent) => {
    const index = Number((target as Element).closest('li')?.ariaPosInSet ?? 0) - 1;
    const id = items.at(index)?.id;
    if (index >= 0 && index !== cursor.index && id !== undefined) cursor.set(index, id);
  };
  return { handleKey, handleFocus };
}

/**
 * Returns a function that moves the focus to the chosen row as soon as it is rendered. When an item is closed, its row
 * gets the focus that was in the item.
 */
function useFocus(box: ListBox, openId: string | undefined, cursor: Cursor): () => void {
  const isWanted = useRef(false);
  const formerId = useRef(openId);
  useLayoutEffect(() => {
    const active = document.activeElement;
    const isFocusLost = active === document.body || active?.closest('.detail');
    if (formerId.current !== undefined && openId === undefined && isFocusLost) isWanted.current = true;
    formerId.current = openId;
    const row = box.current?.querySelector<HTMLElement>(`li[aria-posinset="${cursor.index + 1}"] > .row`);
    if (!isWanted.current || !row) return;
    isWanted.current = false;
    row.focus({ preventScroll: true });
  });
  return () => {
    isWanted.current = true;
  };
}
