import { useLayoutEffect } from 'preact/hooks';

/** What a key does, by the key. */
export type Shortcuts = Readonly<Record<string, () => void>>;

const OFF_KEY = 'agent-mailbox-mock.shortcuts';

/** Returns whether the shortcuts are on. People who use speech input may switch them off. */
export function areShortcutsOn(): boolean {
  return localStorage.getItem(OFF_KEY) !== 'off';
}

/** Switches the shortcuts on or off, in this browser. */
export function switchShortcuts(isOn: boolean): void {
  localStorage.setItem(OFF_KEY, isOn ? 'on' : 'off');
}

/** Adds shortcuts while the component is shown. In a field in which a person types, they do nothing. */
export function useShortcuts(shortcuts: Shortcuts): void {
  // They are added before the browser shows what was rendered, because a person may press a key at once.
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent) => {
      const run = shortcuts[event.key];
      if (!run || event.ctrlKey || event.altKey || event.metaKey || isTyping(event) || !areShortcutsOn()) return;
      event.preventDefault();
      run();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  });
}

function isTyping({ target }: KeyboardEvent): boolean {
  return target instanceof Element && target.closest('input:not([type=checkbox]), textarea, select, dialog') !== null;
}
