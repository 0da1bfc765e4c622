import { type ComponentChildren, createContext, Fragment, h, type JSX } from 'preact';
import { useContext } from 'preact/hooks';
import { tryParseJson } from '../basics/foreign-json.ts';
import { parseSearch } from '../control/journal/from-entries/search-terms.ts';
import { bareAddress, nameOf } from './views/mail/mail-types.ts';

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
export function UserText({ text, find = [], inside, class: className }: UserTextProps) {
  // The pattern has a group, so `split` also returns the control characters: each second part is such a character.
  const shown = (
    <bdi dir="auto">
      {text
        .split(DIRECTION_CONTROL)
        .map((part, index) => (index % 2 === 1 ? <DirectionControl text={part} /> : mark(part, find)))}
    </bdi>
  );
  return inside ? h(inside, { class: className }, shown) : shown;
}

function DirectionControl({ text }: { readonly text: string }) {
  const code = `U+${text.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;
  return (
    <span class="control" title="A character that changes the direction of the text">
      {code}
    </span>
  );
}

/** Marks each of the words wherever the text contains it. */
function mark(text: string, words: readonly string[]): ComponentChildren {
  const lowerText = text.toLowerCase();
  // Letters such as İ become longer in lower case, so a position in `lowerText` would be wrong in `text`.
  if (lowerText.length !== text.length) return text;
  const parts: ComponentChildren[] = [];
  let end = 0;
  for (let start = 0; start < text.length; start += 1) {
    const word = words.find((each) => each !== '' && lowerText.startsWith(each, start));
    if (!word) continue;
    parts.push(text.slice(end, start), <mark>{text.slice(start, start + word.length)}</mark>);
    end = start + word.length;
    start = end - 1;
  }
  return end === 0 ? text : [...parts, text.slice(end)];
}

/**
 * A person such as `Dana <dana@customer.test>`: the name, and behind it the address, each in the direction of its own
 * language. Otherwise the address of an Arabic name would stand on the other side of it.
 */
export function Person({ person, inside }: { readonly person: string; readonly inside?: UserTextProps['inside'] }) {
  const name = nameOf(person);
  return (
    <>
      <UserText inside={inside} text={name} />
      {name !== person && (
        <span class="soft">
          {' '}
          <UserText text={bareAddress(person)} />
        </span>
      )}
    </>
  );
}

/** Several persons, as {@link Person} shows each. */
export function People({ people, inside }: { people: readonly string[]; inside?: UserTextProps['inside'] }) {
  return (
    <>
      {people.map((person, index) => (
        <Fragment key={person}>
          {index > 0 && ', '}
          <Person person={person} inside={inside} />
        </Fragment>
      ))}
    </>
  );
}

/** Returns what a search looks for in a list of something else than mail: its words and quoted texts, in lower case. */
export function wordsOf(search: string): string[] {
  return parseSearch(search).map(({ text, written }) => text || written.toLowerCase());
}

/** Shortens each id in a text to its first and last four digits. */
export function shortenIds(text: string): string {
  return text.replace(/\b([\da-f]{4})[\da-f]{4}-(?:[\da-f]{4}-){3}[\da-f]{8}([\da-f]{4})\b/gi, '$1…$2');
}

/** Indents JSON; other texts stay as they are. */
export function indentJson(text: string): string {
  const value = tryParseJson(text);
  return value === undefined ? text : JSON.stringify(value, null, 2);
}

/** The time of the emulator, which may differ from the real time. */
export interface Now {
  /** By how much the clock of the emulator is ahead of the real time, in milliseconds. */
  readonly offsetMs: number;
  readonly isFrozen: boolean;
  /** Whether the clocks of the tenants that are shown differ. */
  readonly clocksDiffer: boolean;
  /** The real time, in milliseconds. It is updated each second. */
  readonly realMs: number;
  /** In a trace, when its run began, in milliseconds, by the clock of the emulator and in real time. */
  readonly start?: { readonly atMs: number; readonly realMs: number } | undefined;
}

/** Provides the present time to `Time`. */
export const NowContext = createContext<Now>({ offsetMs: 0, isFrozen: false, clocksDiffer: false, realMs: 0 });

/** Returns the time of the emulator, and renders the component again each second. */
export function useNow(): Now {
  return useContext(NowContext);
}

/**
 * A moment: the time of the emulator `at`, and the real time of the same moment, if that is known. On a server, the real
 * time is shown if there is one.
 */
type TimeProps = { readonly at: string; readonly realTime?: string | undefined };

/**
 * Shows a time relative to now, such as `12 s ago`; in a trace, the time of day and how long after the start of the run it
 * was, such as `09:00:03 +1:05`. The tooltip has the date and time in full.
 */
export function Time(props: TimeProps) {
  return <TimeElement {...props} show={formatRelative} />;
}

/** Shows the time of day in UTC, and beside it how long ago it was, such as `09:00:03 12 s ago`, for a row of a list. */
export function ClockTime(props: TimeProps) {
  const show = (timeMs: number, nowMs: number) => (
    <>
      <span class="clock-time">{formatClock(timeMs, nowMs)}</span>{' '}
      <span class="ago">{formatDistance(timeMs, nowMs)}</span>
    </>
  );
  return <TimeElement {...props} show={show} />;
}

/**
 * Shows the time of day in UTC; in a trace, also how long after the start of the run it was. The tooltip has the date and
 * time in full and, with `after`, how much later it was than that real time.
 */
export function TimeOfDay({ after, ...time }: TimeProps & { readonly after?: string | undefined }) {
  const gap = after && time.realTime && formatSpan(Date.parse(time.realTime) - Date.parse(after));
  return <TimeElement {...time} more={gap ? `, ${gap} after the one above` : ''} show={formatClock} />;
}

type TimeElementProps = TimeProps & {
  /** What the tooltip says besides the time. */
  readonly more?: string;
  show(timeMs: number, nowMs: number): ComponentChildren;
};

/** A time as `show` writes it or, in a trace, the time of day. The tooltip has the date and time in full. */
function TimeElement({ at, realTime, more = '', show }: TimeElementProps) {
  const { realMs, offsetMs, start } = useNow();
  if (start) {
    return (
      <time dateTime={at} title={formatFullTime(at) + more}>
        <span class="clock-time">{formatClock(Date.parse(at), start.atMs)}</span> <Offset realTime={realTime} />
      </time>
    );
  }
  const isReal = realTime !== undefined;
  const shownAt = realTime ?? at;
  return (
    <time dateTime={shownAt} title={`${formatFullTime(shownAt)}${isReal ? ', real time' : ''}${more}`}>
      {show(Date.parse(shownAt), realMs + (isReal ? 0 : offsetMs))}
    </time>
  );
}

/** In a trace, shows how much real time after the start of the run something was, if that is known. */
function Offset({ realTime }: Pick<TimeProps, 'realTime'>) {
  const { start } = useNow();
  if (!start || realTime === undefined) return null;
  return (
    <span class="ago" title="Real time since the start of the run">
      {formatOffset(Date.parse(realTime) - start.realMs)}
    </span>
  );
}

/** Shows a date and time in full, in UTC. */
export function FullTime({ at, realTime }: TimeProps) {
  const { start } = useNow();
  if (start) {
    return (
      <>
        <time dateTime={at}>{formatFullTime(at)}</time> <Offset realTime={realTime} />
      </>
    );
  }
  return (
    <>
      <time dateTime={realTime ?? at}>{formatFullTime(realTime ?? at)}</time> (<Time at={at} realTime={realTime} />)
    </>
  );
}

/** Formats how long after the start of a run something was, such as `+1:05` or `+1:02:05`. */
export function formatOffset(offsetMs: number): string {
  const seconds = Math.max(0, Math.floor(offsetMs / 1_000));
  const [h, min, s] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  const two = (count: number) => String(count).padStart(2, '0');
  return h > 0 ? `+${h}:${two(min)}:${two(s)}` : `+${min}:${two(s)}`;
}

/** Returns a time such as `2026-03-01 09:00:00 UTC`. */
export function formatFullTime(at: string): string {
  return `${at.replace('T', ' ').replace(/(?:\.\d+)?Z$/, '')} UTC`;
}

/** The units of a span of time, in milliseconds, the largest first. */
const UNITS = { d: 86_400_000, h: 3_600_000, min: 60_000, s: 1_000 };

/** Formats a span of time in its two largest units, such as `4 min 55 s`. */
export function formatSpan(spanMs: number): string {
  let remainingMs = Math.max(0, Math.ceil(spanMs / 1_000) * 1_000);
  const parts: string[] = [];
  for (const [name, size] of Object.entries(UNITS)) {
    const count = Math.floor(remainingMs / size);
    remainingMs -= count * size;
    if (count > 0) parts.push(`${count} ${name}`);
  }
  return parts.slice(0, 2).join(' ') || '0 s';
}

/** Formats a duration, such as `0.4 ms` or `120 ms`. */
export function formatMs(durationMs: number): string {
  const isShort = durationMs < 10 && !Number.isInteger(durationMs);
  return `${isShort ? durationMs.toFixed(1) : Math.round(durationMs).toLocaleString('en')} ms`;
}

/** Returns the time of a day in UTC, such as `09:00:03`. */
export function timeOfDay(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(11, 19);
}

/** Formats a time such as `09:00:03`, or with its date if that is not the date of today. */
export function formatClock(timeMs: number, nowMs: number): string {
  const at = new Date(timeMs).toISOString();
  return at.slice(0, 10) === new Date(nowMs).toISOString().slice(0, 10) ? timeOfDay(timeMs) : formatDate(timeMs, nowMs);
}

/** Formats how far a time is from now, in the largest unit, such as `12 s ago` or `in 5 min`. */
export function formatDistance(timeMs: number, nowMs: number): string {
  const distanceMs = Math.abs(nowMs - timeMs);
  const [unit, size] = Object.entries(UNITS).find(([, size]) => distanceMs >= size) ?? ['s', UNITS.s];
  const count = Math.floor(distanceMs / size);
  return timeMs > nowMs && count > 0 ? `in ${count} ${unit}` : `${count} ${unit} ago`;
}

/** Formats a time such as `12 s ago` or `in 5 min`, or as a date if it is a day or more away from now. */
function formatRelative(timeMs: number, nowMs: number): string {
  const distanceMs = Math.floor(Math.abs(nowMs - timeMs) / 1_000) * 1_000;
  if (distanceMs >= UNITS.d) return formatDate(timeMs, nowMs);
  const text = formatSpan(distanceMs < UNITS.h ? distanceMs : distanceMs - (distanceMs % UNITS.min));
  return timeMs > nowMs && distanceMs > 0 ? `in ${text}` : `${text} ago`;
}

/** Formats a time such as `3 Mar, 09:00`. The first use of `Intl` in a page takes longer than all other formatting. */
function formatDate(timeMs: number, nowMs: number): string {
  const [, day, month, year, time = ''] = new Date(timeMs).toUTCString().split(' ');
  const isThisYear = Number(year) === new Date(nowMs).getUTCFullYear();
  return `${Number(day)} ${month}${isThisYear ? '' : ` ${year}`}, ${time.slice(0, 5)}`;
}
