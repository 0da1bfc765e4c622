import { decodeBase64Text, toByteText } from './known-secrets.ts';

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
  /** The texts that were read from the same part of the shown text. A text that is read twice is searched once. */
  readonly seen: Set<string>;
  /** Returns the part of the shown text that encodes a part of this text. */
  locate(start: number, end: number): Range;
}

/** Returns the reading of a shown text in which nothing is decoded. */
export function readAsItIs(text: string): Reading {
  const locate = (start: number, end: number) => ({ start, end });
  return { text, searchedFor: 'all', depth: 0, isBase64: false, seen: new Set([text]), locate };
}

/**
 * Returns the readings that undo one encoding more. Bytes are read only if they have some printable text, or if
 * `mayHaveValue` says that a known value may be in them.
 */
export function* decodeOnce(reading: Reading, mayHaveValue: (bytes: Uint8Array) => boolean): Generator<Reading> {
  if (reading.searchedFor === 'values') return;
  for (const decode of DECODERS) {
    const decoded = decode(reading.text);
    if (!decoded || reading.seen.has(decoded.text)) continue;
    reading.seen.add(decoded.text);
    const locate = composeLocate(decoded, reading);
    yield { ...reading, text: decoded.text, searchedFor: 'all', depth: reading.depth + 1, locate };
  }
  yield* decodeRuns(reading, mayHaveValue);
}

/** A decoded text, and where its characters were before. */
interface Decoded {
  readonly text: string;
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
  ...{ Tab: '\t', NewLine: '\n', excl: '!', quot: '"', QUOT: '"', num: '#', dollar: '$', percnt: '%', amp: '&' },
  ...{ AMP: '&', apos: "'", lpar: '(', rpar: ')', ast: '*', midast: '*', plus: '+', comma: ',', period: '.' },
  ...{ sol: '/', colon: ':', semi: ';', lt: '<', LT: '<', equals: '=', gt: '>', GT: '>', quest: '?', commat: '@' },
  ...{ lsqb: '[', lbrack: '[', bsol: '\\', rsqb: ']', rbrack: ']', Hat: '^', lowbar: '_', UnderBar: '_' },
  ...{ grave: '`', DiacriticalGrave: '`', lcub: '{', lbrace: '{', verbar: '|', vert: '|', VerticalLine: '|' },
  ...{ rcub: '}', rbrace: '}', nbsp: ' ', NonBreakingSpace: ' ' },
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

/** Characters of base64, of both alphabets, or of hexadecimal digits. Fewer cannot encode a secret. */
const MIN_RUN_LENGTH = 8;
const RUN = /[\w+/-]{8,}/g;

/** The next line of the same run. */
const NEXT_LINE = /\r?\n[ \t]?([\w+/-]+)/y;

/** An id, which is no base64, so that the usual text of a journal needs little time. */
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;

/** Yields what the runs of base64 and of hexadecimal digits in a reading encode. A run of base64 may have several lines. */
function* decodeRuns(reading: Reading, mayHaveValue: (bytes: Uint8Array) => boolean): Generator<Reading> {
  const { text, depth } = reading;
  RUN.lastIndex = 0;
  let searchedTo = 0;
  for (const match of text.matchAll(RUN)) {
    if (match.index < searchedTo) continue;
    const lines = [match[0]];
    /** Where each line begins in the run, and in the text. */
    const lineStarts = [0];
    const places = [match.index];
    let length = match[0].length;
    searchedTo = match.index + length;
    for (;;) {
      NEXT_LINE.lastIndex = searchedTo;
      const next = NEXT_LINE.exec(text);
      const line = next?.[1];
      if (!next || line === undefined) break;
      searchedTo = next.index + next[0].length;
      lines.push(line);
      lineStarts.push(length);
      places.push(searchedTo - line.length);
      length += line.length;
    }
    const run = lines.join('');
    if (run.length === 36 && UUID.test(run)) continue;
    const placeOf = (index: number) => {
      const line = findLast(lineStarts, index);
      return (places[line] ?? 0) + index - (lineStarts[line] ?? 0);
    };
    const locateIn = (start: number, end: number) => reading.locate(placeOf(start), placeOf(end - 1) + 1);

    // The base64 of a secret may begin anywhere in the run, so there are four ways to divide it into groups.
    for (let skipped = 0; skipped < 4 && run.length - skipped >= MIN_RUN_LENGTH; skipped += 1) {
      const bytes = decodeGroups(run, skipped);
      if (!hasText(bytes) && !mayHaveValue(bytes)) continue;
      const locate = (start: number, end: number) => {
        const endOfGroups = skipped + Math.ceil(end / 3) * 4;
        return locateIn(skipped + Math.floor(start / 3) * 4, Math.min(endOfGroups, run.length));
      };
      yield* readBytes(bytes, { depth: depth + 1, isBase64: depth === 0, locate });
    }
    for (const { 0: digits, index } of run.matchAll(/[0-9a-f]{12,}/gi)) {
      for (const skipped of [0, 1]) {
        const bytes = decodeHex(digits, skipped);
        if (!hasText(bytes) && !mayHaveValue(bytes)) continue;
        const first = index + skipped;
        const locate = (start: number, end: number) => locateIn(first + start * 2, first + end * 2);
        yield* readBytes(bytes, { depth: depth + 1, isBase64: false, locate });
      }
    }
  }
}

/** The value of each character of base64, in both alphabets, by its code. */
const BASE64_VALUES = createBase64Values();

function createBase64Values(): Uint8Array {
  const values = new Uint8Array(128);
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  for (let value = 0; value < alphabet.length; value += 1) values[alphabet.charCodeAt(value)] = value;
  values['-'.charCodeAt(0)] = 62;
  values['_'.charCodeAt(0)] = 63;
  return values;
}

/** Decodes a run of base64 from one of its characters on. `atob` takes much longer, and knows one alphabet only. */
function decodeGroups(run: string, skipped: number): Uint8Array {
  const bytes = new Uint8Array(Math.floor(((run.length - skipped) * 3) / 4));
  let bits = 0;
  let bitCount = 0;
  let length = 0;
  for (let index = skipped; index < run.length; index += 1) {
    bits = ((bits << 6) | (BASE64_VALUES[run.charCodeAt(index)] ?? 0)) & 0xffff;
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
    const start = skipped + 2 * index;
    bytes[index] = Number.parseInt(digits.slice(start, start + 2), 16);
  }
  return bytes;
}

/** The shortest printable text in bytes that is searched for forms of secrets and for further encodings. */
const MIN_PRINTABLE = 8;

/** Returns whether bytes have so much printable text at one place. */
function hasText(bytes: Uint8Array): boolean {
  let printable = 0;
  for (const byte of bytes) {
    printable = (byte >= 0x20 && byte < 0x7f) || byte === 9 || byte === 10 || byte === 13 ? printable + 1 : 0;
    if (printable >= MIN_PRINTABLE) return true;
  }
  return false;
}

/**
 * Yields the readings of bytes, which often are no text at all: known values can be anywhere in them; only their printable
 * parts can have the form of a secret, or be encoded further.
 */
function* readBytes(bytes: Uint8Array, common: Pick<Reading, 'depth' | 'isBase64' | 'locate'>): Generator<Reading> {
  const text = toByteText(bytes);
  yield { ...common, text, searchedFor: 'values', seen: new Set() };
  // A text in UTF-8 also has bytes that are not ASCII.
  for (const { 0: printable, index } of text.matchAll(/[\t\r\n -~\x80-\xff]{8,}/g)) {
    if (!/[\t\r\n -~]{8}/.test(printable)) continue;
    const locate = (start: number, end: number) => common.locate(start + index, end + index);
    yield { ...common, text: printable, searchedFor: 'forms', seen: new Set([printable]), locate };
  }
}
