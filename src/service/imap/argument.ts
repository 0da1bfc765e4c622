/** An atom or a string of a command. One character stands for each byte. */
export interface Word {
  readonly text: string;
  /** Whether it is an atom, and not a quoted text or a literal. */
  readonly isAtom: boolean;
  /** The bytes of a literal. */
  readonly bytes?: Uint8Array<ArrayBuffer>;
  /** The arguments in brackets after an atom, as in `BODY[HEADER]`. */
  readonly section?: readonly Argument[];
  /** The range after the brackets, such as `0.100`. */
  readonly partial?: string;
}

/** An argument of a command: a word, or a list in parentheses. */
export type Argument = Word | readonly Argument[];

/** An error for an invalid command. The reply is BAD. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** An error for a valid command that is refused. The reply is NO with the response code `code`, such as `CANNOT`. */
export class RefusedCommand extends Error {
  override readonly name = 'RefusedCommand';
  readonly code: string | undefined;

  constructor(message: string, code?: string) {
    super(message);
    this.code = code;
  }
}

/** Returns whether an argument is a list in parentheses. */
export function isList(argument: Argument | undefined): argument is readonly Argument[] {
  return Array.isArray(argument);
}

/** Returns the text of a word. @throws {CommandError} if the argument is missing or is a list. */
export function needText(argument: Argument | undefined, what: string): string {
  if (argument !== undefined && !isList(argument)) return argument.text;
  throw new CommandError(`${what} is missing.`);
}

/** Returns the items of a list, or a list that contains only the argument. */
export function itemsOf(argument: Argument | undefined, what: string): readonly Argument[] {
  if (argument === undefined) throw new CommandError(`${what} is missing.`);
  return isList(argument) ? argument : [argument];
}

/** A number or a range of a sequence set, such as `3`, `3:5` or `3:*`. */
const RANGE = /^([1-9]\d{0,9}|\*)(?::([1-9]\d{0,9}|\*))?$/;

/**
 * Returns the numbers of a sequence set in order, as ranges without overlaps; `last` stands for `*`.
 *
 * @throws {CommandError} if the text is not a sequence set.
 */
export function parseSequence(text: string, last: number): [from: number, to: number][] {
  const numberOf = (each: string) => (each === '*' ? last : Number(each));
  const ranges = text.split(',').map((range): [number, number] => {
    const [, one, other = one] = RANGE.exec(range) ?? [];
    if (one === undefined || other === undefined) {
      throw new CommandError('The sequence set must be numbers and ranges such as 1,3:5,8:*.');
    }
    // The ends of a range may have any order.
    const ends = [numberOf(one), numberOf(other)];
    return [Math.min(...ends), Math.max(...ends)];
  });
  ranges.sort((a, b) => a[0] - b[0]);
  const merged: [number, number][] = [];
  for (const [from, to] of ranges) {
    const before = merged.at(-1);
    if (before && from <= before[1] + 1) before[1] = Math.max(before[1], to);
    else merged.push([from, to]);
  }
  return merged;
}

/** Writes ascending numbers as a sequence set. */
export function writeSequence(numbers: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last && last[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}:${to}`)).join(',');
}

/** Writes a text, in which one character stands for each byte, as a quoted string or a literal. */
export function writeString(text: string): string {
  if (text.length < 1_000 && /^[\t -~]*$/.test(text)) return `"${text.replace(/["\\]/g, '\\$&')}"`;
  return `{${text.length}}\r\n${text}`;
}

/** Writes a text, or NIL if there is none. */
export function writeNString(text: string | undefined): string {
  return text === undefined ? 'NIL' : writeString(text);
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Writes a time as an INTERNALDATE: `07-Feb-2026 21:52:25 +0000`. */
export function formatInternalDate(time: string): string {
  const date = new Date(time);
  const day = String(date.getUTCDate()).padStart(2, '0');
  return `${day}-${MONTHS[date.getUTCMonth()]}-${date.getUTCFullYear()} ${date.toISOString().slice(11, 19)} +0000`;
}

/** Parses an INTERNALDATE, and returns the time as ISO 8601. Returns `undefined` if it is invalid. */
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

/**
 * Returns the day in a Date field, in the time zone of the field, as the number of days since 1970-01-01. A year may
 * have two or three digits (RFC 5322, section 4.3).
 */
export function epochDayOfField(field: string | undefined): number | undefined {
  const pattern = /(\d{1,2})\s+([A-Za-z]{3})[a-z]*\s+(\d{2,4})(?!\d)/;
  const [, day, month, digits = ''] = pattern.exec(field?.slice(0, 200) ?? '') ?? [];
  if (month === undefined) return undefined;
  let year = Number(digits);
  if (digits.length === 2 && year < 50) year += 2000;
  else if (digits.length < 4) year += 1900;
  return parseEpochDay(`${day}-${month}-${year}`);
}
