import type { RefObject } from 'preact';
import { areShortcutsOn, switchShortcuts } from './shortcuts.ts';
import { VIEWS } from './views.ts';

const KEYS: readonly (readonly [key: string, action: string])[] = [
  ['j', 'Open the next item of the list'],
  ['k', 'Open the previous item of the list'],
  ['/', 'Go to the search'],
  ['?', 'Show this help'],
  ['Esc', 'Close what is open'],
  [`1 to ${VIEWS.length}`, 'Go to a view'],
];

/** The keys that the page knows. */
export function Help({ dialog }: { readonly dialog: RefObject<HTMLDialogElement | null> }) {
  return (
    <dialog ref={dialog} aria-labelledby="help-title">
      <form method="dialog">
        <h1 id="help-title">Keys</h1>
        <dl class="keys">
          {KEYS.map(([key, action]) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{action}</dd>
            </div>
          ))}
        </dl>
        <label>
          <input
            type="checkbox"
            defaultChecked={areShortcutsOn()}
            onChange={(event) => switchShortcuts(event.currentTarget.checked)}
          />{' '}
          Use these keys
        </label>
        <p>
          <button type="submit">Close</button>
        </p>
      </form>
    </dialog>
  );
}
