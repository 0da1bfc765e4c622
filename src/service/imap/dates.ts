const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Writes a time as an INTERNALDATE: `07-Feb-2026 21:52:25 +0000`. */
export function formatInternalDate(time: string): string {
  const date = new Date(time);
  const day = String(date.getUTCDate()).padStart(2, '0');
  return `${day}-${MONTHS[date.getUTCMonth()]}-${date.getUTCFullYear()} ${date.toISOString().slice(11, 19)} +0000`;
}

/** Reads an INTERNALDATE, or returns `undefined`. */
export function parseInternalDate(text: string): string | undefined {
  const [, day, month, year, time, zone] = /^([ \d]\d)-(\w{3})-(\d{4}) (\d\d:\d\d:\d\d) ([+-]\d{4})$/.exec(text) ?? [];
  const date = new Date(`${day} ${month} ${year} ${time} ${zone}`);
  return month === undefined || Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/** Parses the day of a search, such as `7-Feb-2026`, as the number of days since 1970-01-01, or returns `undefined`. */
export function parseEpochDay(text: string): number | undefined {
  const [, day, month = '', year] = /^(\d{1,2})-(\w{3})-(\d{4})$/.exec(text) ?? [];
  const index = MONTHS.findIndex((name) => name.toLowerCase() === month.toLowerCase());
  return index < 0 ? undefined : Date.UTC(Number(year), index, Number(day)) / DAY_MS;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Returns the day of a time in UTC, as the number of days since 1970-01-01. */
export function epochDayOf(time: string): number {
  return Math.floor(Date.parse(time) / DAY_MS);
}

/** Returns the same number for the day that a Date field names, in its own time zone, or `undefined`. */
export function epochDayOfField(field: string | undefined): number | undefined {
  const [, day, month, year] = /(\d{1,2})\s+([A-Za-z]{3})[a-z]*\s+(\d{4})/.exec(field?.slice(0, 200) ?? '') ?? [];
  return month === undefined ? undefined : parseEpochDay(`${day}-${month}-${year}`);
}
