import { ArrowDown } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { plural } from '../../../basics/text.ts';
import { Button, ScrollBox } from '../../parts.tsx';
import { useShortcuts } from '../../shortcuts.ts';
import { RunLine } from './run-line.tsx';
import type { RunItem } from './timeline.ts';

/** How many items are shown at first. Each click on a button shows as many earlier items, too. */
const MAX_ITEMS = 200;

/** How far from its end a list may be scrolled and still follow what is new, in pixels. */
const END_DISTANCE = 40;

/** What a list shows that does not follow what is new. */
interface Stopped {
  /** The id of the first item that is shown. */
  readonly firstId: string | undefined;
  /** How many items are shown. */
  readonly length: number;
  /** How many items there were when the list stopped to follow. */
  readonly itemCount: number;
}

interface TimelineProps {
  readonly items: readonly RunItem[];
  /** What is shown below the items. */
  readonly children: ComponentChildren;
}

/**
 * The items of the run. The list opens at the newest item, or at a marked one, and follows it. While somebody has scrolled to earlier items,
 * the list stays as it is, and a button says how much is new.
 */
export function Timeline({ items, children }: TimelineProps) {
  const box = useRef<HTMLElement>(null);
  const [stopped, setStopped] = useState<Stopped>();
  const first = stopped ? items.findIndex(({ id }) => id === stopped.firstId) : items.length - MAX_ITEMS;
  const start = Math.max(0, first);
  const end = stopped ? Math.min(items.length, start + stopped.length) : items.length;
  const newCount = stopped ? items.length - stopped.itemCount : 0;
  const stopAt = (start: number) =>
    setStopped({ firstId: items[start]?.id, length: end - start, itemCount: stopped?.itemCount ?? items.length });
  useLayoutEffect(() => {
    if (stopped || items.length === 0) return;
    // In the run of a trial, the place that decided is more important than the end.
    const place = box.current?.querySelector('.place');
    if (place) place.scrollIntoView({ block: 'center' });
    else box.current?.scrollTo(0, box.current.scrollHeight);
  });
  const update = useRef(() => {});
  update.current = () => {
    if (!box.current) return;
    const { scrollTop, clientHeight, scrollHeight } = box.current;
    if (scrollHeight - scrollTop - clientHeight < END_DISTANCE) setStopped(undefined);
    else if (!stopped) stopAt(start);
  };
  useEffect(() => {
    const handle = () => update.current();
    box.current?.addEventListener('scroll', handle, { passive: true });
    // Something that is opened makes the list longer, and must not move away while somebody reads it.
    box.current?.addEventListener('toggle', handle, { capture: true });
  }, []);
  const showEarlier = () => {
    // The browser keeps the place of what is shown, but not at the very start of a list.
    if (box.current?.scrollTop === 0) box.current.scrollTop = 1;
    stopAt(Math.max(0, start - MAX_ITEMS));
  };
  const moveFocus = (step: number) => {
    const shown = [...(box.current?.querySelectorAll<HTMLElement>('.timeline > li') ?? [])];
    const chosen = shown.findIndex((item) => item.contains(document.activeElement));
    // The list is read from its end, so the keys begin there.
    const next = chosen < 0 ? shown.length - 1 : chosen + step;
    if (next < 0 && start > 0) showEarlier();
    shown[next]?.focus();
  };
  useShortcuts({ j: () => moveFocus(1), k: () => moveFocus(-1) });
  const openItem = (event: KeyboardEvent) => {
    const item = event.target as HTMLElement;
    if (event.key !== 'Enter' || !item.matches('.timeline > li')) return;
    event.preventDefault();
    item.querySelector<HTMLElement>('a.subject, summary, a')?.click();
  };
  return (
    <>
      <ScrollBox className="page" box={box} label="The run, oldest first" handleKey={openItem}>
        {start > 0 && (
          <p>
            <Button text={`Show ${plural(start, 'earlier item', 'earlier items')}`} onClick={showEarlier} />
          </p>
        )}
        {items.length > 0 && (
          <ol class="timeline" aria-label="What happened, with times in UTC">
            {items.slice(start, end).map((item, index) => (
              <RunLine key={item.id} item={item} former={items[start + index - 1]} />
            ))}
          </ol>
        )}
        {children}
      </ScrollBox>
      {newCount > 0 && (
        <Button class="pill" icon={ArrowDown} text={`${newCount} new`} onClick={() => setStopped(undefined)} />
      )}
    </>
  );
}
