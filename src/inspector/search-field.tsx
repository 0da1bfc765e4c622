import { useEffect, useRef, useState } from 'preact/hooks';
import { parseRoute } from './page-route.ts';

interface SearchFieldProps {
  readonly label: string;
  readonly value: string;
  readonly search: (text: string) => void;
}

/** After this time without a key, the search starts. */
const PAUSE_MS = 150;

/** A field for a search, which the key `/` leads to. */
export function SearchField({ label, value, search }: SearchFieldProps) {
  const [text, setText] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const input = useRef<HTMLInputElement>(null);
  // Another filter may change before the search starts; an earlier function would undo that.
  const latestSearch = useRef(search);
  latestSearch.current = search;
  useEffect(() => {
    // The value of an earlier search may come back when somebody has typed more.
    if (document.activeElement !== input.current) setText(value);
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <input
      ref={input}
      type="search"
      aria-label={label}
      placeholder={label}
      value={text}
      onInput={({ currentTarget }) => {
        setText(currentTarget.value);
        clearTimeout(timer.current);
        const { view } = parseRoute(location.hash);
        timer.current = setTimeout(() => {
          // Another view may be open before this one is removed; a search would lead back.
          if (parseRoute(location.hash).view === view) latestSearch.current(currentTarget.value);
        }, PAUSE_MS);
      }}
      onKeyDown={({ key, currentTarget }) => key === 'Escape' && currentTarget.blur()}
    />
  );
}
