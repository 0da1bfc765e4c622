import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

/** The time of the emulator, which may differ from the real time. */
export interface Now {
  /** By how much the clock of the emulator is ahead of the real time, in milliseconds. */
  readonly offsetMs: number;
  readonly isFrozen: boolean;
  /** Whether it is that of only some of the tenants that are shown. */
  readonly differ: boolean;
  /** The real time, in milliseconds. It is updated each second. */
  readonly realMs: number;
}

/** Gives `Time` the present time. */
export const NowContext = createContext<Now>({ offsetMs: 0, isFrozen: false, differ: false, realMs: 0 });

/** Returns the time of the emulator, and renders again each second. */
export function useNow(): Now {
  return useContext(NowContext);
}

type TimeProps = { readonly at: string; readonly isReal?: boolean };

/** Shows how long ago a time was, or when it will be; the whole time is in the tooltip. */
export function Time({ at, isReal = false }: TimeProps) {
  const { realMs, offsetMs } = useNow();
  return (
    <time dateTime={at} title={`${fullTime(at)}${isReal ? ', real time' : ''}`}>
      {timeBetween(Date.parse(at), realMs + (isReal ? 0 : offsetMs))}
    </time>
  );
}

/** Shows a whole time in UTC. */
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

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** Formats a span of time by its two largest units, such as `4 min 55 s`. */
export function formatSpan(spanMs: number): string {
  let rest = Math.max(0, Math.ceil(spanMs / 1_000) * 1_000);
  const parts: string[] = [];
  for (const [name, size] of UNITS) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(`${count} ${name}`);
  }
  return parts.slice(0, 2).join(' ') || '0 s';
}

/** Returns a time as seen from `now`: `12 s ago`, `in 5 min`; more than a day away as a date. */
function timeBetween(ms: number, now: number): string {
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
