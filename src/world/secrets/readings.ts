import { lazy } from '../../basics/lazy-schema.ts';
import { decodeBase64Text, type KnownSecrets, toByteText } from './known-secrets.ts';

/** A part of a text, from the index of its first character to the index after its last. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** What can be looked for in a reading: everything, only known values, or only what has the form of a secret. */
type SearchedFor = 'all' | 'values' | 'forms';

/** A text as somebody may read it who undoes an encoding of a shown text, or of a part of it. */
export interface Reading {
  readonly text: string;
  readonly searchedFor: SearchedFor;
  /** How many encodings were undone, one after the other. */
  readonly depth: number;
  /** Whether the shown text itself has this as base64, without another encoding around. */
  readonly isBase64: boolean;
  /**
   * The parts of the text that are new, in order. What has none of them was searched before for runs of base64, in the
   * text that this one was decoded from.
   */
  readonly changes: readonly Range[];
  /** The texts that were read from the same part of the shown text. A text that is read twice is searched once. */
  readonly seen: string[];
  /** Returns the part of the shown text that encodes a part of this text. */
  locate(start: number, end: number): Range;
}

/** Returns the reading of a shown text in which nothing is decoded. */
export function readAsItIs(text: string): Reading {
  const locate = (start: number, end: number) => ({ start, end });
  return { text, searchedFor: 'all', depth: 0, isBase64: false, changes: wholeOf(text), seen: [text], locate };
}

function wholeOf(text: string): readonly Range[] {
  return [{ start: 0, end: text.length }];
}

/**
 * Returns the readings that undo one encoding more. Bytes are read only if they have some printable text, or may have a
 * known secret.
 */
export function* decodeOnce(reading: Reading, known: KnownSecrets): Generator<Reading> {
  if (reading.searchedFor === 'values') return;
  for (const decode of DECODERS) {
    const decoded = decode(reading.text);
    if (!decoded || reading.seen.includes(decoded.text)) continue;
    reading.seen.push(decoded.text);
    const locate = composeLocate(decoded, reading);
    yield {
      ...reading,
      text: decoded.text,
      searchedFor: 'all',
      depth: reading.depth + 1,
      changes: decoded.changes,
      locate,
    };
  }
  yield* decodeRuns(reading, known);
}

/** A decoded text, and where its characters were before. */
interface Decoded {
  readonly text: string;
  readonly changes: readonly Range[];
  locate(start: number, end: number): Range;
}

function composeLocate(decoded: Pick<Decoded, 'locate'>, reading: Reading): Reading['locate'] {
  return (start, end) => {
    const range = decoded.locate(start, end);
    return reading.locate(range.start, range.end);
  };
}

type Decoder = (text: string) => Decoded | undefined;

const DECODERS: readonly Decoder[] = [
  decodePercent,
  decodeEscapes,
  decodeEntities,
  decodeQuotedPrintable,
  decodeEncodedWords,
  decodeUtf8,
];

function decodePercent(text: string): Decoded | undefined {
  if (!text.includes('%')) return undefined;
  return replaceAll(text, /%([0-9a-f]{2})/gi, ([, hex = '']) => String.fromCharCode(Number.parseInt(hex, 16)));
}

const ESCAPED: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** Decodes the escapes of JSON, and those that strings in programs have. */
function decodeEscapes(text: string): Decoded | undefined {
  if (!text.includes('\\')) return undefined;
  return replaceAll(
    text,
    /\\(?:u([0-9a-f]{4})|u\{([0-9a-f]{1,6})\}|x([0-9a-f]{2})|(["'`\\/bfnrt]))/gi,
    ([, unicode, braced, byte, letter]) => {
      if (letter !== undefined) return ESCAPED[letter] ?? letter;
      return fromCode(Number.parseInt(unicode ?? braced ?? byte ?? '', 16));
    },
  );
}

/** The names of the characters of ASCII in HTML. */
const ENTITIES: Readonly<Record<string, string>> = {
  Tab: '\t',
  NewLine: '\n',
  excl: '!',
  quot: '"',
  QUOT: '"',
  num: '#',
  dollar: '$',
  percnt: '%',
  amp: '&',
  AMP: '&',
  apos: "'",
  lpar: '(',
  rpar: ')',
  ast: '*',
  midast: '*',
  plus: '+',
  comma: ',',
  period: '.',
  sol: '/',
  colon: ':',
  semi: ';',
  lt: '<',
  LT: '<',
  equals: '=',
  gt: '>',
  GT: '>',
  quest: '?',
  commat: '@',
  lsqb: '[',
  lbrack: '[',
  bsol: '\\',
  rsqb: ']',
  rbrack: ']',
  Hat: '^',
  lowbar: '_',
  UnderBar: '_',
  grave: '`',
  DiacriticalGrave: '`',
  lcub: '{',
  lbrace: '{',
  verbar: '|',
  vert: '|',
  VerticalLine: '|',
  rcub: '}',
  rbrace: '}',
  nbsp: ' ',
  NonBreakingSpace: ' ',
};

function decodeEntities(text: string): Decoded | undefined {
  if (!text.includes('&')) return undefined;
  return replaceAll(text, /&(?:#(\d{1,12});?|#x([0-9a-f]{1,12});?|([a-z]{2,16});)/gi, ([, decimal, hex, name]) => {
    if (name !== undefined) return Object.hasOwn(ENTITIES, name) ? ENTITIES[name] : undefined;
    return fromCode(decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal));
  });
}

/** Decodes the quoted-printable encoding of mail (RFC 2045, section 6.7), with its soft line breaks. */
function decodeQuotedPrintable(text: string): Decoded | undefined {
  if (!text.includes('=')) return undefined;
  return replaceAll(text, /=(?:([0-9a-f]{2})|[ \t]{0,80}\r?\n)/gi, ([, hex]) =>
    hex === undefined ? '' : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/** Decodes the encoded words of header fields (RFC 2047). The white space between two of them is no part of the text; in a form it is `+`. */
function decodeEncodedWords(text: string): Decoded | undefined {
  if (!text.includes('=?')) return undefined;
  return replaceAll(
    text,
    /=\?[^?\s]{1,80}\?([bq])\?([^?\s]*)\?=(?:[\s+]{1,80}(?==\?))?/gi,
    ([, encoding, encoded = '']) =>
      encoding?.toLowerCase() === 'b'
        ? decodeBase64Text(encoded)
        : encoded
            .replaceAll('_', ' ')
            .replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
  );
}

/** Decodes UTF-8 in a text with a character for each byte, as the other decoders return it. */
function decodeUtf8(text: string): Decoded | undefined {
  return replaceAll(text, /[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}/g, ([found]) =>
    new TextDecoder().decode(Uint8Array.from(found, (byte) => byte.charCodeAt(0))),
  );
}

/** Returns the character with a code; undefined if there is none. */
function fromCode(code: number): string | undefined {
  return code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
}

/**
 * Replaces what a pattern matches; `decode` may return `undefined` to leave a match as it is. Returns `undefined` if
 * nothing was replaced. Between two replacements, a character of the result has the same distance from the first as it
 * had before; so `locate` needs only the places of the replacements.
 */
function replaceAll(
  text: string,
  pattern: RegExp,
  decode: (match: RegExpExecArray) => string | undefined,
): Decoded | undefined {
  const parts: string[] = [];
  /** For each replacement: where it begins and ends in the result, and where its match began and ended. */
  const starts: number[] = [];
  const ends: number[] = [];
  const matchStarts: number[] = [];
  const matchEnds: number[] = [];
  let copied = 0;
  let length = 0;
  for (const match of text.matchAll(pattern)) {
    const decoded = decode(match);
    if (decoded === undefined) continue;
    parts.push(text.slice(copied, match.index), decoded);
    length += match.index - copied;
    starts.push(length);
    length += decoded.length;
    ends.push(length);
    copied = match.index + match[0].length;
    matchStarts.push(match.index);
    matchEnds.push(copied);
  }
  if (starts.length === 0) return undefined;
  parts.push(text.slice(copied));
  return {
    text: parts.join(''),
    changes: starts.map((start, index) => ({ start, end: ends[index] ?? start })),
    locate(start, end) {
      const first = findLast(starts, start);
      const last = findLast(starts, end - 1);
      const isStartDecoded = start < (ends[first] ?? 0);
      const isEndDecoded = end <= (ends[last] ?? 0);
      return {
        start: isStartDecoded ? (matchStarts[first] ?? 0) : start - (ends[first] ?? 0) + (matchEnds[first] ?? 0),
        end: isEndDecoded ? (matchEnds[last] ?? 0) : end - (ends[last] ?? 0) + (matchEnds[last] ?? 0),
      };
    },
  };
}

/** Returns the index of the last number of an ascending list that is not above a limit; -1 if all are. */
function findLast(ascending: readonly number[], limit: number): number {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] ?? 0) <= limit) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Digits of base64, in both alphabets, or of hexadecimal numbers. Fewer cannot encode a secret. */
const MIN_RUN_LENGTH = 8;
const RUN = /[\w+/-]{8,}/g;

/** A run of such digits, which may have several lines. */
interface Run {
  /** Its digits. */
  readonly text: string;
  /** Where each line begins in these, and in the text. */
  readonly lineStarts: readonly number[];
  readonly places: readonly number[];
  /** The bit n is 1 if the run without its first n digits may be base64. */
  readonly base64: number;
  readonly mayBeHex: boolean;
}

/** An id, which encodes nothing, so that the usual text of a journal needs little time. */
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}[^\r\n]?$/;
const UUID_LENGTH = 36;

/** The line break before the next line of a run. The lines after the first are indented in the same way. */
const LINE_BREAK = /\r?\n([ \t]?)(?=[\w+/-])/y;

/** Finds the runs that have a changed part of a text, or touch one, and may encode something. */
function findRuns({ text, changes }: Reading, known: KnownSecrets): Run[] {
  const runs: Run[] = [];
  /** The next run, if it was found already: before it, there is none. */
  let next = -1;
  let endOfLine = 0;
  let searchedTo = 0;
  for (const { start, end } of changes) {
    if (end < searchedTo) continue;
    let from = start <= next ? next : startOfRun(text, start, Math.max(searchedTo, next));
    for (;;) {
      if (next < from) {
        RUN.lastIndex = from;
        if (!RUN.test(text)) return runs;
        // To look back takes less time than to create a match for each word.
        endOfLine = RUN.lastIndex;
        next = endOfLine - MIN_RUN_LENGTH;
        while (next > from && digitAt(text, next - 1) !== 0) next -= 1;
      }
      if (next > end) break;
      const isUuid = endOfLine - next === UUID_LENGTH && UUID.test(text.slice(next, endOfLine + 1));
      searchedTo = isUuid ? endOfLine : readRun(text, next, known, runs);
      from = searchedTo;
    }
  }
  return runs;
}

/** Returns where a run begins that has the character before an index, or a line break there; at least `least`. */
function startOfRun(text: string, index: number, least: number): number {
  let start = index;
  for (;;) {
    while (start > least && digitAt(text, start - 1) !== 0) start -= 1;
    let before = start - 1;
    if (text[before] === ' ' || text[before] === '\t') before -= 1;
    if (text[before] !== '\n') return Math.max(start, least);
    before -= text[before - 1] === '\r' ? 2 : 1;
    if (before < least || digitAt(text, before) === 0) return Math.max(start, least);
    start = before;
  }
}

/**
 * Reads the run that begins at an index, adds it to a list if it may encode printable text or a known secret, and returns
 * where it ends. Most words and ids cannot: in base64, printable text has two whole groups of four digits that encode
 * printable characters only, and a known secret has its start.
 */
function readRun(text: string, start: number, known: KnownSecrets, runs: Run[]): number {
  const { starts, base64Starts } = known;
  /** Where each line after the first begins in the run, and in the text. */
  let lines: { lineStart: number; place: number }[] | undefined;
  let index = start;
  let indentation: string | undefined;
  let length = 0;
  let base64 = 0;
  let mayBeHex = false;
  /** The five latest digits of base64, and the eight latest hexadecimal ones, as one number. */
  let latest = 0;
  let latestHex = 0;
  /** The bit n is 1 if the latest n + 1 digits can be the first ones of two groups, or of eight bytes, that are printable. */
  let printable = 0;
  let printableHex = 0;
  for (;;) {
    for (let digit = digitAt(text, index); digit !== 0; digit = digitAt(text, index)) {
      index += 1;
      length += 1;
      latest = ((latest << 6) | (digit & 0x3f)) & 0x3fffffff;
      printable = ((printable << 1) | 1) & (digit >> 8);
      if (printable >= 0x80) base64 |= 1 << (length & 3);
      if (base64Starts.mayHave(latest)) base64 = 0xf;
      if ((digit & IS_HEX) === 0) {
        latestHex = 0;
        printableHex = 0;
        continue;
      }
      const hex = hexValueOf(digit);
      latestHex = (latestHex << 4) | hex;
      printableHex = ((printableHex << 1) | 1) & (hex === 0 || (hex >= 2 && hex < 8) ? 0xffff : 0xaaaa);
      if (printableHex >= 0x8000 || starts.mayHave(latestHex)) mayBeHex = true;
    }
    const code = text.charCodeAt(index);
    if (code !== 10 && code !== 13) break;
    LINE_BREAK.lastIndex = index;
    const [lineBreak, indent] = LINE_BREAK.exec(text) ?? [];
    if (lineBreak === undefined || (indentation ?? indent) !== indent) break;
    indentation = indent;
    index += lineBreak.length;
    lines ??= [];
    lines.push({ lineStart: length, place: index });
  }
  if (base64 === 0 && !mayBeHex) return index;
  const lineStarts = [0, ...(lines ?? []).map(({ lineStart }) => lineStart)];
  const places = [start, ...(lines ?? []).map(({ place }) => place)];
  const parts = places.map((place, line) =>
    text.slice(place, place + (lineStarts[line + 1] ?? length) - (lineStarts[line] ?? 0)),
  );
  runs.push({ text: parts.join(''), lineStarts, places, base64, mayBeHex });
  return index;
}

/** Yields what the runs of base64 and of hexadecimal digits in a reading encode. */
function* decodeRuns(reading: Reading, known: KnownSecrets): Generator<Reading> {
  const { depth } = reading;
  for (const { text: run, lineStarts, places, base64, mayBeHex } of findRuns(reading, known)) {
    const placeOf = (index: number) => {
      const line = findLast(lineStarts, index);
      return (places[line] ?? 0) + index - (lineStarts[line] ?? 0);
    };
    const locateIn = (start: number, end: number) => reading.locate(placeOf(start), placeOf(end - 1) + 1);

    // The base64 of a secret may begin anywhere in the run, so there are four ways to divide it into groups.
    for (let skipped = 0; skipped < 4 && run.length - skipped >= MIN_RUN_LENGTH; skipped += 1) {
      if ((base64 & (1 << skipped)) === 0) continue;
      const locate = (start: number, end: number) => {
        const endOfGroups = skipped + Math.ceil(end / 3) * 4;
        return locateIn(skipped + Math.floor(start / 3) * 4, Math.min(endOfGroups, run.length));
      };
      yield* readBytes(decodeGroups(run, skipped), known, { depth: depth + 1, isBase64: depth === 0, locate });
    }
    for (const { 0: digits, index } of mayBeHex ? run.matchAll(/[0-9a-f]{12,}/gi) : []) {
      for (const skipped of [0, 1]) {
        const first = index + skipped;
        const locate = (start: number, end: number) => locateIn(first + start * 2, first + end * 2);
        yield* readBytes(decodeHex(digits, skipped), known, { depth: depth + 1, isBase64: false, locate });
      }
    }
  }
}

/** Returns what is known of a digit; 0 if the text has none at this index. */
function digitAt(text: string, index: number): number {
  if (index >= text.length) return 0;
  const code = text.charCodeAt(index);
  return code < 128 ? (digitTable()[code] ?? 0) : 0;
}

const IS_DIGIT = 0x40;
const IS_HEX = 0x80;

/**
 * What is known of each digit of base64, in both alphabets, by its code: in the lowest six bits its value, then whether
 * it is a digit, also of hexadecimal numbers, and from the ninth bit on at which places of two groups it can be if these
 * encode printable characters.
 */
const digitTable = lazy((): Uint16Array => {
  const printable = Array.from({ length: 0x80 }, (_, byte) => byte).filter(isPrintable);
  const atPlace = [
    (value: number) => printable.some((byte) => byte >> 2 === value),
    (value: number) => printable.some((byte) => byte >> 4 === (value & 0xf)),
    (value: number) => printable.some((byte) => (byte & 0xf) === value >> 2) && (value & 0x3) < 2,
    () => true,
  ];
  const digits = new Uint16Array(128);
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_';
  for (let index = 0; index < alphabet.length; index += 1) {
    const value = index < 64 ? index : index - 2;
    const places = atPlace.reduce((bits, mayBe, place) => (mayBe(value) ? bits | (0x11 << place) : bits), 0);
    const isHex = /[0-9a-f]/i.test(alphabet.charAt(index));
    digits[alphabet.charCodeAt(index)] = (places << 8) | (isHex ? IS_HEX : 0) | IS_DIGIT | value;
  }
  return digits;
});

/** Decodes a run of base64 from one of its characters on. `atob` takes much longer, and knows one alphabet only. */
function decodeGroups(run: string, skipped: number): Uint8Array {
  const bytes = new Uint8Array(Math.floor(((run.length - skipped) * 3) / 4));
  let bits = 0;
  let bitCount = 0;
  let length = 0;
  for (let index = skipped; index < run.length; index += 1) {
    bits = ((bits << 6) | (digitAt(run, index) & 0x3f)) & 0xffff;
    bitCount += 6;
    if (bitCount < 8) continue;
    bitCount -= 8;
    bytes[length] = (bits >> bitCount) & 0xff;
    length += 1;
  }
  return bytes;
}

function decodeHex(digits: string, skipped: number): Uint8Array {
  const bytes = new Uint8Array((digits.length - skipped) >> 1);
  for (let index = 0; index < bytes.length; index += 1) {
    const first = skipped + 2 * index;
    bytes[index] = (hexValueOf(digitAt(digits, first)) << 4) | hexValueOf(digitAt(digits, first + 1));
  }
  return bytes;
}

/** Returns the value of a hexadecimal digit, from its value in base64, where capitals are first and decimals last. */
function hexValueOf(digit: number): number {
  const value = digit & 0x3f;
  if (value >= 52) return value - 52;
  return value >= 26 ? value - 16 : value + 10;
}

/** The shortest printable text in bytes that is searched for forms of secrets and for further encodings. */
const MIN_PRINTABLE = 8;

function isPrintable(byte: number): boolean {
  return (byte >= 0x20 && byte < 0x7f) || byte === 9 || byte === 10 || byte === 13;
}

/**
 * Yields the readings of bytes, which often are no text at all: known values can be anywhere in them; only their printable
 * parts can have the form of a secret, or be encoded further.
 */
function* readBytes(
  bytes: Uint8Array,
  known: KnownSecrets,
  common: Pick<Reading, 'depth' | 'isBase64' | 'locate'>,
): Generator<Reading> {
  if (known.mayBeIn(bytes)) yield { ...common, text: toByteText(bytes), searchedFor: 'values', changes: [], seen: [] };
  let start = 0;
  let printable = 0;
  let hasText = false;
  for (let index = 0; index <= bytes.length; index += 1) {
    const byte = bytes[index] ?? 0;
    if (isPrintable(byte)) {
      printable += 1;
      if (printable === MIN_PRINTABLE) hasText = true;
      continue;
    }
    printable = 0;
    // A text in UTF-8 also has bytes that are not ASCII.
    if (byte >= 0x80) continue;
    if (hasText) {
      const first = start;
      const text = toByteText(bytes.subarray(first, index));
      const locate = (from: number, to: number) => common.locate(first + from, first + to);
      yield { ...common, text, searchedFor: 'forms', changes: wholeOf(text), seen: [text], locate };
    }
    start = index + 1;
    hasText = false;
  }
}
