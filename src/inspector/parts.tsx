import type { ComponentChildren, Ref } from 'preact';

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
