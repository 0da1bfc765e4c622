import { useLayoutEffect } from 'preact/hooks';

/** What a key does, by the key. */
export type Shortcuts = Readonly<Record<string, () => void>>;

const OFF_KEY = 'agent-mailbox-mock.shortcuts';

/** Returns whether keys without Ctrl or Alt do something. People who use speech input may switch that off. */
export function areShortcutsOn(): boolean {
  return localStorage.getItem(OFF_KEY) !== 'off';
}

/** Switches the keys on or off, in this browser. */
export function switchShortcuts(isOn: boolean): void {
  localStorage.setItem(OFF_KEY, isOn ? 'on' : 'off');
}

/** Lets keys do something while the component is shown, except in a field in which a person types. */
export function useShortcuts(shortcuts: Shortcuts): void {
  // Before the browser shows what was rendered: a person presses a key as soon as something is there.
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
