import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

/** The time of the emulator, which may differ from the real time. */
export interface Now {
  /** By how much the clock of the emulator is ahead of the real time, in milliseconds. */
  readonly offsetMs: number;
  readonly isFrozen: boolean;
  /** The real time at which the page was last shown, in milliseconds; it moves on each second. */
  readonly realMs: number;
}

/** Gives `Time` the present time. */
export const NowContext = createContext<Now>({ offsetMs: 0, isFrozen: false, realMs: 0 });

interface TimeProps {
  /** ISO 8601. */
  readonly at: string;
  /** Whether it is real time, and not that of the clock of the emulator. */
  readonly isReal?: boolean;
}

/** Shows how long ago a time was, or when it will be; the whole time is in the tooltip. */
export function Time({ at, isReal = false }: TimeProps) {
  const { realMs, offsetMs } = useContext(NowContext);
  return (
    <time dateTime={at} title={`${fullTime(at)}${isReal ? ', real time' : ''}`}>
      {timeBetween(Date.parse(at), realMs + (isReal ? 0 : offsetMs))}
    </time>
  );
}

/** Shows a whole time in UTC. */
export function FullTime({ at }: { readonly at: string }) {
  return (
    <>
      <time dateTime={at}>{fullTime(at)}</time> (<Time at={at} />)
    </>
  );
}

/** Returns a time such as `2026-03-01 09:00:00 UTC`. */
export function fullTime(at: string): string {
  return `${at.replace('T', ' ').replace(/(?:\.\d+)?Z$/, '')} UTC`;
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** Returns a span of time in its two largest units, such as `2 h 5 min`; below one second `0 s`. */
export function formatDuration(ms: number): string {
  const first = UNITS.findIndex(([, size]) => ms >= size);
  if (first === -1) return '0 s';
  let rest = ms;
  const parts = UNITS.slice(first, first + 2).map(([unit, size]) => {
    const count = Math.floor(rest / size);
    rest -= count * size;
    return count === 0 ? '' : `${count} ${unit}`;
  });
  return parts.filter(Boolean).join(' ');
}

/** Returns a time as seen from `now`: `12 s ago`, `in 5 min`; more than a day away as a date. */
function timeBetween(ms: number, now: number): string {
  const distance = Math.abs(now - ms);
  if (distance >= 86_400_000) return formatDate(ms, now);
  const text = formatDuration(distance < 3_600_000 ? distance : distance - (distance % 60_000));
  return ms > now + 999 ? `in ${text}` : `${text} ago`;
}

function formatDate(ms: number, now: number): string {
  const [date, today] = [new Date(ms), new Date(now)];
  const year = date.getUTCFullYear() === today.getUTCFullYear() ? undefined : 'numeric';
  const parts = { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', year, timeZone: 'UTC' } as const;
  return date.toLocaleString('en-GB', parts);
}
