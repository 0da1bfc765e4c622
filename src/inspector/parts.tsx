import { Check, Circle, Copy, type IconNode, ListFilter, TriangleAlert, X, Zap } from 'lucide';
import { type ComponentChildren, h, type JSX, type Ref, type TargetedSubmitEvent } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useInspector } from './inspector.ts';
import { linkTo, parseRoute } from './page-route.ts';
import { UserText } from './text.tsx';

/** An icon of the icon set. Screen readers skip it. */
export function Icon({ icon }: { readonly icon: IconNode }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      {icon.map(([tag, attributes]) => h(tag, attributes))}
    </svg>
  );
}

interface FrameProps {
  readonly title: string;
  /** What can be done in the view, such as its tabs and buttons. */
  readonly children?: ComponentChildren;
}

/** The head of a view: its title on the left, and its tools on the right. */
export function Frame({ title, children }: FrameProps) {
  return (
    <header class="frame">
      <h1>{title}</h1>
      {children}
    </header>
  );
}

/** Shows why something failed, or nothing if there is no error. */
export function Failure({ error }: { readonly error: string | undefined }) {
  return error === undefined ? null : (
    <p class="error" role="alert">
      {error}
    </p>
  );
}

interface ScrollBoxProps {
  /** What the box contains, for screen readers. */
  readonly label: string;
  readonly className: string;
  readonly box?: Ref<HTMLElement>;
  readonly handleKey?: (event: KeyboardEvent) => void;
  readonly children: ComponentChildren;
}

/** A box that can be scrolled, also with the keyboard. */
export function ScrollBox({ label, className, box = null, handleKey, children }: ScrollBoxProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without focus, keys could not scroll it.
    <section class={className} ref={box} tabIndex={0} aria-label={label} onKeyDown={handleKey}>
      {children}
    </section>
  );
}

/** Shows a text as it is, such as the source of a mail. */
export function Code({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <ScrollBox className="code" label={label}>
      <pre>
        <UserText text={text} />
      </pre>
    </ScrollBox>
  );
}

/** Shows a value as JSON. */
export function Json({ value, label }: { readonly value: unknown; readonly label: string }) {
  return <Code text={JSON.stringify(value, null, 2)} label={label} />;
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

type TextFieldProps = { readonly label: string; readonly isLong?: boolean } & JSX.IntrinsicElements['input'] &
  JSX.IntrinsicElements['textarea'];

/** A labelled field for a text. With `isLong`, it has more than one line. */
export function TextField({ label, isLong, ...attributes }: TextFieldProps) {
  return <Field label={label}>{h(isLong ? 'textarea' : 'input', attributes as object)}</Field>;
}

interface FormProps {
  /** The name of the form, for screen readers. */
  readonly label?: string;
  readonly className?: string;
  /** Receives what the fields contain. */
  readonly submit: (data: FormData, event: TargetedSubmitEvent<HTMLFormElement>) => unknown;
  /** Is called when somebody changes a field. */
  readonly change?: () => void;
  readonly children: ComponentChildren;
}

/** A form whose content goes to `submit`. The browser does not send it. */
export function Form({ label, className = 'fields', submit, change, children }: FormProps) {
  const handle = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    submit(new FormData(event.currentTarget), event);
  };
  return (
    <form class={className} aria-label={label} onSubmit={handle} onInput={change}>
      {children}
    </form>
  );
}

/** A choice that is on or off. */
export function CheckBox({ text, isOn, change }: { text: string; isOn: boolean; change(isOn: boolean): void }) {
  return (
    <label class="check">
      <input type="checkbox" checked={isOn} onChange={({ currentTarget }) => change(currentTarget.checked)} />
      {text}
    </label>
  );
}

/** Returns what a field of a form contains. */
export function textIn(data: FormData, name: string): string {
  return String(data.get(name) ?? '');
}

type ButtonProps = { readonly icon?: IconNode; readonly text: ComponentChildren };

function withIcon(icon: IconNode | undefined, text: ComponentChildren) {
  if (!icon) return text;
  return (
    <>
      <Icon icon={icon} /> {text}
    </>
  );
}

/** Filters beside a search. On a phone they are behind one button, which says how many of them are set. */
export function Filters({ count, children }: { readonly count: number; readonly children: ComponentChildren }) {
  const [isOpen, setOpen] = useState(false);
  const text = count > 0 ? `Filter (${count})` : 'Filter';
  return (
    <>
      <Button
        icon={ListFilter}
        text={text}
        class="filter-button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      />
      <div class={isOpen ? 'filters' : 'filters closed'}>{children}</div>
    </>
  );
}

/** A button. A button that submits a form needs the type `submit`. */
export function Button({ icon, text, ...attributes }: ButtonProps & JSX.IntrinsicElements['button']) {
  return (
    <button type="button" {...attributes}>
      {withIcon(icon, text)}
    </button>
  );
}

/** A link that looks like a button. */
export function ButtonLink({ icon, text, isPrimary, ...attributes }: ButtonProps & LinkProps) {
  return (
    <a class={isPrimary ? 'button primary' : 'button'} {...attributes}>
      {withIcon(icon, text)}
    </a>
  );
}

type LinkProps = JSX.IntrinsicElements['a'] & { readonly isPrimary?: boolean };

type SearchFieldProps = { readonly label: string; readonly value: string; readonly search: (text: string) => void };

/** The search starts when nothing was typed for this time. */
const PAUSE_MS = 150;

/** A field for a search. The key `/` moves the focus to it. */
export function SearchField({ label, value, search }: SearchFieldProps) {
  const [text, setText] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const input = useRef<HTMLInputElement>(null);
  // Another filter may change before the search starts. The `search` of an earlier render would undo this change.
  const latestSearch = useRef(search);
  latestSearch.current = search;
  useEffect(() => {
    // While a person types, `value` may be the text of an earlier search, so it must not replace the text.
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
          // Another view may already be open. The search would open this view again.
          if (parseRoute(location.hash).view === view) latestSearch.current(currentTarget.value);
        }, PAUSE_MS);
      }}
      onKeyDown={({ key, currentTarget }) => key === 'Escape' && currentTarget.blur()}
    />
  );
}

/** Reads a file, and resolves with its bytes in base64, as the control plane expects them. */
export function toBase64(file: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''));
    reader.onerror = () => reject(new Error('The browser could not read the file.'));
    reader.readAsDataURL(file);
  });
}

/** Lets the browser save bytes or a text as a file. The type is binary, so that no browser opens the file as a page. */
export function saveFile(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content.slice(0, content.size, 'application/octet-stream'));
  link.download = name;
  link.click();
  // After the click has been handled, the browser has its own copy of the bytes.
  setTimeout(() => URL.revokeObjectURL(link.href));
}

/** How well something went. The tone decides the colour and the icon. */
export type Tone = 'good' | 'warn' | 'bad' | 'plain';

const ICONS: Readonly<Record<Tone, IconNode>> = { good: Check, warn: TriangleAlert, bad: X, plain: Circle };

type ChipProps = { readonly tone?: Tone; readonly icon?: IconNode | undefined; readonly text: ComponentChildren };

/** A short label, such as a state, with a colour and an icon. */
export function Chip({ tone = 'plain', icon = ICONS[tone], text }: ChipProps) {
  return (
    <span class={`chip ${tone}`}>
      <Icon icon={icon} /> {text}
    </span>
  );
}

/** Links to the faults that applied, or nothing if none applied. */
export function FaultLinks({ ids, text = 'fault' }: { readonly ids: readonly string[]; readonly text?: string }) {
  return (
    <>
      {ids.map((id) => (
        <a key={id} href={linkTo('time', id)} title={`Struck by the fault ${id}`}>
          <Chip tone="warn" icon={Zap} text={text} />
        </a>
      ))}
    </>
  );
}

/**
 * Shows that something is not loaded yet, as grey lines in the place of the text, or why it could not be loaded. Tools
 * around it stay where they will be.
 */
export function Loading({ error, lines = 3 }: { readonly error: string | undefined; readonly lines?: number }) {
  const { feed } = useInspector();
  const [state, setState] = useState(feed.state);
  useEffect(() => {
    setState(feed.state);
    return feed.subscribe({ onState: setState });
  }, [feed]);
  if (error !== undefined) return <Failure error={error} />;
  if (state === 'lost') return <p class="hint loading">The emulator does not answer. This is loaded when it does.</p>;
  return (
    <div class="loading" role="status">
      <span class="hidden">Loading…</span>
      {Array.from({ length: lines }, (_, line) => (
        <SkeletonLine key={line} />
      ))}
    </div>
  );
}

/** A grey line in the place of a text that is not loaded yet. */
export function SkeletonLine() {
  return <i class="skeleton" aria-hidden="true" />;
}

/** A list of names with their values. A name without a value is left out. */
export function Facts({ facts }: { readonly facts: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

interface SelectProps<Value> {
  readonly label: string;
  readonly value: Value;
  /** The values. In a pair, the second text is shown for the value. */
  readonly options: readonly (Value | readonly [value: Value, text: string])[];
  readonly choose: (value: Value) => void;
}

/** Lets a person choose one value, such as a filter. The label is for screen readers. */
export function Select<Value extends string>({ label, value, options, choose }: SelectProps<Value>) {
  return (
    <select aria-label={label} value={value} onChange={({ currentTarget }) => choose(currentTarget.value as Value)}>
      {options.map((option) => {
        const [optionValue, text] = typeof option === 'string' ? [option, option] : option;
        return (
          <option key={optionValue} value={optionValue}>
            {text}
          </option>
        );
      })}
    </select>
  );
}

const COPIED = 'Copied';

/** A button that copies a text, and says whether the browser allowed it. */
export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const [note, setNote] = useState('');
  useEffect(() => {
    // After a while, the label returns, because it distinguishes this button from others like it.
    const timer = note === COPIED ? setTimeout(() => setNote(''), 3_000) : undefined;
    return () => clearTimeout(timer);
  }, [note]);
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setNote(COPIED),
      // Browsers allow this only on pages of this machine or over HTTPS.
      () => setNote('The browser does not allow it. Select the text and copy it.'),
    );
  const button = (
    <button type="button" class="quiet" onClick={copy}>
      <Icon icon={note === COPIED ? Check : Copy} /> <span aria-live="polite">{note || label}</span>
    </button>
  );
  // A link is nowhere else on the page, so that it could be selected.
  if (note === '' || note === COPIED || !URL.canParse(text)) return button;
  return (
    <>
      {button} <input readOnly value={text} aria-label={label} onFocus={(event) => event.currentTarget.select()} />
    </>
  );
}
