import type { ComponentChildren, Ref } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { parseRoute } from './page-route.ts';

/** Shows why something failed; nothing without an error. */
export function Failure({ error }: { readonly error: string | undefined }) {
  return error === undefined ? null : (
    <p class="error" role="alert">
      {error}
    </p>
  );
}

interface ScrollBoxProps {
  /** What it contains, for screen readers. */
  readonly label: string;
  readonly className: string;
  readonly box?: Ref<HTMLElement>;
  readonly children: ComponentChildren;
}

/** A part that can be scrolled, by keys too. */
export function ScrollBox({ label, className, box = null, children }: ScrollBoxProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without focus, keys could not scroll it.
    <section class={className} ref={box} tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}

/** Shows a text as it is, such as the source of a mail. */
export function Code({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <ScrollBox className="code" label={label}>
      <pre>{text}</pre>
    </ScrollBox>
  );
}

/** Shows a value as JSON. */
export function Json({ value, label }: { readonly value: unknown; readonly label: string }) {
  return <Code text={JSON.stringify(value, null, 2)} label={label} />;
}

/** Shows a time as the emulator writes it, in UTC; in a list without the year and the seconds. */
export function Time({ at, isShort = false }: { readonly at: string; readonly isShort?: boolean }) {
  const text = at.replace('T', ' ').replace(/\.\d+Z$/, '');
  return (
    <time dateTime={at} title={at}>
      {isShort ? text.slice(5, 16) : text}
    </time>
  );
}

/** Returns a number with its noun, such as `1 inbox`. */
export function countOf(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** A labelled field of a form. */
export function Field({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is among the children.
    <label class="field">
      <span>{label}</span>
      {children}
    </label>
  );
}

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

/** Resolves with the bytes of a file in base64, as the control plane takes them. */
export function toBase64(file: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''));
    reader.onerror = () => reject(new Error('The browser could not read the file.'));
    reader.readAsDataURL(file);
  });
}

/** Lets the browser save bytes or a text as a file, which it never shows as a page. */
export function saveFile(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content.slice(0, content.size, 'application/octet-stream'));
  link.download = name;
  link.click();
  // The browser has taken the bytes once the click is handled.
  setTimeout(() => URL.revokeObjectURL(link.href));
}

const MARKS: Readonly<Record<string, string>> = { good: '✓', warn: '!', bad: '✗', plain: '·' };

/** A state with a colour and a sign. */
export function Chip({ tone, children }: { readonly tone: string; readonly children: ComponentChildren }) {
  return (
    <span class={`chip ${tone}`}>
      <span aria-hidden="true">{MARKS[tone]}</span> {children}
    </span>
  );
}
