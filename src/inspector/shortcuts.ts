import { useLayoutEffect } from 'preact/hooks';

/** The functions that keys call, by the name of the key. */
export type Shortcuts = Readonly<Record<string, () => void>>;

const STORAGE_KEY = 'agent-mailbox-mock.shortcuts';

/** Returns whether the shortcuts are on. People who use speech input may switch them off. */
export function areShortcutsOn(): boolean {
  return localStorage.getItem(STORAGE_KEY) !== 'off';
}

/** Switches the shortcuts on or off, in this browser. */
export function switchShortcuts(isOn: boolean): void {
  localStorage.setItem(STORAGE_KEY, isOn ? 'on' : 'off');
}

/** Adds shortcuts while the component is shown. In a field or a dialog, they do nothing. */
export function useShortcuts(shortcuts: Shortcuts): void {
  // A layout effect runs before the browser shows the component. A person may press a key as soon as it is shown.
  useLayoutEffect(() => {
    const handleKey = (event: KeyboardEvent) => {
      const run = shortcuts[event.key];
      if (!run || event.ctrlKey || event.altKey || event.metaKey || isInField(event) || !areShortcutsOn()) return;
      event.preventDefault();
      run();
    };
    addEventListener('keydown', handleKey);
    return () => removeEventListener('keydown', handleKey);
  });
}

/** Returns the keys that open the palette, as people write them. Keyboards of Apple have ⌘ in place of Ctrl. */
export function namePaletteKey(): string {
  return hasCommandKey() ? '⌘K' : 'Ctrl K';
}

/** Returns whether an event is that of the keys that open the palette. */
export function isPaletteKey({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): boolean {
  // On keyboards of Apple, Ctrl+K deletes the rest of the line in a field.
  const [wanted, other] = hasCommandKey() ? [metaKey, ctrlKey] : [ctrlKey, metaKey];
  return key.toLowerCase() === 'k' && wanted && !other && !altKey && !shiftKey;
}

/** Calls `run` on the keys that open the palette: in a field, too, but not in a dialog. */
export function usePaletteKey(run: () => void): void {
  useLayoutEffect(() => {
    const handleKey = (event: KeyboardEvent) => {
      if (!isPaletteKey(event) || event.defaultPrevented) return;
      // The browser would go to its own search.
      event.preventDefault();
      if (!document.querySelector('dialog[open]')) run();
    };
    addEventListener('keydown', handleKey);
    return () => removeEventListener('keydown', handleKey);
  });
}

function hasCommandKey(): boolean {
  return /Mac|iPhone|iPad/.test(navigator.platform);
}

function isInField({ target }: KeyboardEvent): boolean {
  return target instanceof Element && target.closest('input:not([type=checkbox]), textarea, select, dialog') !== null;
}
