import { type ComponentChildren, createContext, h, type JSX } from 'preact';
import { useContext } from 'preact/hooks';

/** The characters that change the direction of a text. They can make a text look like a different text. */
const DIRECTION_CONTROL = /([\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069])/;

interface UserTextProps {
  readonly text: string;
  /** The words of a search. The text is marked where it contains them. */
  readonly find?: readonly string[] | undefined;
  /** The element around the text, such as `strong`. `class` is the class of this element. */
  readonly inside?: keyof JSX.IntrinsicElements | undefined;
  readonly class?: string;
}

/**
 * Shows a text that may come from a stranger, in the direction of its own language. Characters that change the
 * direction are made visible.
 */
export function UserText({ text, find = [], inside, class: name }: UserTextProps) {
  const shown = (
    <bdi dir="auto">
      {text
        .split(DIRECTION_CONTROL)
        .map((part, index) => (index % 2 === 1 ? <DirectionControl text={part} /> : mark(part, find)))}
    </bdi>
  );
  return inside ? h(inside, { class: name }, shown) : shown;
}

function DirectionControl({ text }: { readonly text: string }) {
  const code = `U+${text.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;
  return (
    <span class="control" title="A character that changes the direction of the text">
      {code}
    </span>
  );
}

/** Marks the given words wherever the text contains one of them. */
function mark(text: string, words: readonly string[]): ComponentChildren {
  const lower = text.toLowerCase();
  // Letters such as İ become longer in lower case, so a position in `lower` would be wrong in `text`.
  if (lower.length !== text.length) return text;
  const parts: ComponentChildren[] = [];
  let end = 0;
  for (let at = 0; at < text.length; at += 1) {
    const word = words.find((each) => each !== '' && lower.startsWith(each, at));
    if (!word) continue;
    parts.push(text.slice(end, at), <mark>{text.slice(at, at + word.length)}</mark>);
    end = at + word.length;
    at = end - 1;
  }
  return end === 0 ? text : [...parts, text.slice(end)];
}

/** Returns the words of a search in lower case, without the prefixes `from:`, `to:` and `subject:`. */
export function wordsOf(search: string): string[] {
  const words = search.toLowerCase().match(/"[^"]*"|[^\s"]+/g) ?? [];
  return words.map((word) => word.replace(/^(?:from|to|subject):/, '').replaceAll('"', '')).filter(Boolean);
}

/** Shortens each id in a text to its first and last four digits. */
export function shortenIds(text: string): string {
  return text.replace(/\b([\da-f]{4})[\da-f]{4}-(?:[\da-f]{4}-){3}[\da-f]{8}([\da-f]{4})\b/gi, '$1…$2');
}

/** Indents JSON; other texts stay as they are. */
export function indentJson(text: string): string {
  const value = parseJson(text);
  return value === undefined ? text : JSON.stringify(value, null, 2);
}

/** Returns the value of a JSON text; `undefined` if the text is not JSON. */
export function parseJson(text: string | null): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}

/** The time of the emulator, which may differ from the real time. */
export interface Now {
  /** By how much the clock of the emulator is ahead of the real time, in milliseconds. */
  readonly offsetMs: number;
  readonly isFrozen: boolean;
  /** Whether the clocks of the tenants that are shown differ. */
  readonly differ: boolean;
  /** The real time, in milliseconds. It is updated each second. */
  readonly realMs: number;
}

/** Provides the present time to `Time`. */
export const NowContext = createContext<Now>({ offsetMs: 0, isFrozen: false, differ: false, realMs: 0 });

/** Returns the time of the emulator, and renders the component again each second. */
export function useNow(): Now {
  return useContext(NowContext);
}

type TimeProps = { readonly at: string; readonly isReal?: boolean };

/**
 * Shows how long ago a time was, or in how long it will come. The tooltip has the date and time in full. `isReal` means
 * that `at` is a real time, not one of the emulator.
 */
export function Time({ at, isReal = false }: TimeProps) {
  const { realMs, offsetMs } = useNow();
  return (
    <time dateTime={at} title={`${fullTime(at)}${isReal ? ', real time' : ''}`}>
      {formatRelative(Date.parse(at), realMs + (isReal ? 0 : offsetMs))}
    </time>
  );
}

/** Shows a date and time in full, in UTC. */
export function FullTime({ at, isReal = false }: TimeProps) {
  return (
    <>
      <time dateTime={at}>{fullTime(at)}</time> (<Time at={at} isReal={isReal} />)
    </>
  );
}

/** Returns a time such as `2026-03-01 09:00:00 UTC`. */
export function fullTime(at: string): string {
  return `${at.replace('T', ' ').replace(/(?:\.\d+)?Z$/, '')} UTC`;
}

/** The units of a span of time, in milliseconds, the largest first. */
const UNITS = { d: 86_400_000, h: 3_600_000, min: 60_000, s: 1_000 };

/** Formats a span of time by its two largest units, such as `4 min 55 s`. */
export function formatSpan(spanMs: number): string {
  let rest = Math.max(0, Math.ceil(spanMs / 1_000) * 1_000);
  const parts: string[] = [];
  for (const [name, size] of Object.entries(UNITS)) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(`${count} ${name}`);
  }
  return parts.slice(0, 2).join(' ') || '0 s';
}

/** Formats a time relative to `now`, such as `12 s ago` or `in 5 min`. A time more than a day away is a date. */
function formatRelative(ms: number, now: number): string {
  const distance = Math.floor(Math.abs(now - ms) / 1_000) * 1_000;
  if (distance >= 86_400_000) return formatDate(ms, now);
  const text = formatSpan(distance < 3_600_000 ? distance : distance - (distance % 60_000));
  return ms > now && distance > 0 ? `in ${text}` : `${text} ago`;
}

function formatDate(ms: number, now: number): string {
  const [date, today] = [new Date(ms), new Date(now)];
  const year = date.getUTCFullYear() === today.getUTCFullYear() ? undefined : 'numeric';
  const parts = { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', year, timeZone: 'UTC' } as const;
  return date.toLocaleString('en-GB', parts);
}
