import type { VNode } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { plural } from '../basics/text.ts';
import { findItems } from './find-items.ts';
import { type PaletteItem, type PaletteView, usePaletteItems } from './palette-items.ts';
import { Failure, Icon } from './parts.tsx';
import { isPaletteKey, usePaletteKey } from './shortcuts.ts';
import { UserText, wordsOf } from './text.tsx';
import { useAction } from './use-loaded.ts';

/** Returns the function that opens the command palette, which keys do, too, and the palette while it is open. */
export function useCommandPalette(views: readonly PaletteView[]): [show: () => void, dialog: VNode | undefined] {
  const [isOpen, setOpen] = useState(false);
  const show = () => setOpen(true);
  usePaletteKey(show);
  return [show, isOpen ? <Palette key="palette" views={views} onClose={() => setOpen(false)} /> : undefined];
}

/** What the palette is for. */
const PALETTE_NAME = 'Go to, or do something';

/** The list has at most this many items. Whoever does not find it among them types another word. */
const MAX_ITEMS = 50;

interface PaletteProps {
  readonly views: readonly PaletteView[];
  onClose(): void;
}

/** A dialog in which a person types what to go to or do, and chooses it from a list: the best match is chosen at first. */
function Palette({ views, onClose }: PaletteProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [search, setSearch] = useState('');
  const [activeId, setActiveId] = useState<string>();
  /** Whether somebody pressed Enter before everything was found. */
  const [isEnterPressed, setEnterPressed] = useState(false);
  const { items, isLoading, error } = usePaletteItems(views, search);
  const action = useAction();
  const found = findItems(items, search).slice(0, MAX_ITEMS);
  const activeIndex = Math.max(
    0,
    found.findIndex(({ id }) => id === activeId),
  );
  const active = found[activeIndex];
  const close = () => dialog.current?.close();
  const run = (item: PaletteItem | undefined) => {
    if (item && !action.isRunning) void action.run(async () => item.run(close));
  };
  useLayoutEffect(() => dialog.current?.showModal(), []);
  useLayoutEffect(() => {
    if (active) document.getElementById(optionIdOf(active))?.scrollIntoView({ block: 'nearest' });
  }, [active?.id]);
  useLayoutEffect(() => {
    if (!isEnterPressed || isLoading) return;
    setEnterPressed(false);
    run(active);
  }, [isEnterPressed, isLoading]);
  const change = (text: string) => {
    setSearch(text);
    setActiveId(undefined);
    setEnterPressed(false);
  };
  const handleKey = (event: KeyboardEvent) => {
    // Enter ends the input of a word in Japanese, for example.
    if (event.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setActiveId(found.at((activeIndex + step) % found.length)?.id);
    // A better match may still come, unless the arrows have chosen one.
    else if (event.key === 'Enter' && isLoading && activeId === undefined) setEnterPressed(true);
    else if (event.key === 'Enter') run(active);
    else if (isPaletteKey(event)) close();
    else return;
    event.preventDefault();
  };
  return (
    <dialog
      ref={dialog}
      class="palette"
      aria-label={PALETTE_NAME}
      onClose={onClose}
      onKeyDown={handleKey}
      onClick={({ target, currentTarget }) => target === currentTarget && close()}
    >
      <input
        role="combobox"
        aria-label={PALETTE_NAME}
        aria-expanded={found.length > 0}
        aria-controls="palette-list"
        aria-activedescendant={active && optionIdOf(active)}
        aria-autocomplete="list"
        autocomplete="off"
        spellcheck={false}
        placeholder="Mail, request, inbox, sandbox or action"
        value={search}
        onInput={({ currentTarget }) => change(currentTarget.value)}
      />
      <Failure error={action.error ?? error} />
      <div role="listbox" id="palette-list" aria-label="Matches">
        {found.map((item) => (
          <Option
            key={item.id}
            item={item}
            isActive={item === active}
            words={wordsOf(search)}
            choose={() => run(item)}
          />
        ))}
      </div>
      <p class="hint small" role="status">
        {action.isRunning ? 'Working…' : search.trim() === '' ? HOW_TO : describeCount(found.length, isLoading)}
      </p>
    </dialog>
  );
}

const HOW_TO = 'Arrows choose, Enter opens or does it, Escape closes.';

function describeCount(count: number, isLoading: boolean): string {
  if (isLoading) return 'Searching…';
  if (count === 0) return 'Nothing has all of these words.';
  return `${plural(count, 'match', 'matches')}. ${HOW_TO}`;
}

const optionIdOf = ({ id }: PaletteItem) => `palette-${id}`;

interface OptionProps {
  readonly item: PaletteItem;
  readonly isActive: boolean;
  readonly words: readonly string[];
  choose(): void;
}

function Option({ item, isActive, words, choose }: OptionProps) {
  const { icon, kind, title, details } = item;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the combobox has the focus and handles the keys.
    // biome-ignore lint/a11y/useFocusableInteractive: the combobox names the active option.
    <div role="option" id={optionIdOf(item)} aria-selected={isActive} onClick={choose}>
      <Icon icon={icon} />
      <UserText inside="span" text={title} find={words} />
      {(kind === 'Mail' || kind === 'Request') && (
        <UserText inside="span" class="soft small" text={details} find={words} />
      )}
      <span class="soft small">{kind}</span>
    </div>
  );
}
