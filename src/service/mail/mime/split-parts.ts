import { decodeWords as decode } from 'postal-mime';
import { toBase64 } from '../../../basics/base64.ts';
import { ApiError } from '../../../contract/errors.ts';
import { type HeaderField, splitFields } from './header.ts';

/** What the bytes 0x80 to 0x9F are in windows-1252; five of them are nothing. */
const CHARACTERS = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8DŽ\x8F\x90‘’“”•–—˜™š›œ\x9DžŸ';

/**
 * Corrects a text that the decoder of the runtime may have read as windows-1252. Some versions of Node 20 and 22 read
 * it as ISO-8859-1, in which typographic quotes and the euro sign are control characters. Correct decoders change
 * nothing.
 */
export function repairWindows1252(text: string): string {
  if (new TextDecoder('windows-1252').decode(Uint8Array.of(0x80)) === '€') return text;
  return text.replace(/[\x80-\x9F]/g, (character) => CHARACTERS.charAt(character.charCodeAt(0) - 0x80));
}

/** Returns a text in which one character stands for each byte. */
export function toBinary(bytes: Uint8Array): string {
  // No charset of TextDecoder is that of single bytes, but in UTF-16 each number below 0x100 is that character.
  return new TextDecoder('utf-16le').decode(new Uint16Array(bytes));
}

/** Returns the bytes of such a text. */
export function bytesOf(binary: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

/** Returns the end of the header of a mail, behind the empty line. */
export function headerEnd(text: string): number {
  const { index, 0: found } = /(?:^|\n)\r?\n/.exec(text) ?? { index: text.length, 0: '' };
  return index + found.length;
}

/** Splits a header into its fields, each as it is written, with its line end. */
export function splitHeader(header: string): string[] {
  return header.split(/(?<=\n)(?![ \t])/);
}

/** A body with the header fields of its part. */
interface EncodedBody {
  readonly fields: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Returns the bytes of a body without its encoding; in an unknown encoding, as they are written. */
export function decodeBody({ fields, body }: EncodedBody): Uint8Array<ArrayBuffer> {
  const encoding = fields['content-transfer-encoding'] ?? '';
  if (/base64/i.test(encoding)) return decodeBase64(body);
  return /quoted-printable/i.test(encoding) ? decodeQuoted(body) : bytesOf(body);
}

const EQUALS = 0x3d;

/** Decodes quoted-printable, in which `=` at the end of a line joins it to the next. */
function decodeQuoted(text: string): Uint8Array<ArrayBuffer> {
  const values = valuesOf('0123456789ABCDEF');
  values.set(values.subarray(0x41, 0x47), 0x61);
  const valueAt = (at: number) => values[text.charCodeAt(at)] ?? -1;
  const bytes = new Uint8Array(text.length);
  let size = 0;
  for (let at = 0; at < text.length; at += 1) {
    const isMark = text.charCodeAt(at) === EQUALS;
    if (isMark && text[at + 1] === '\n') {
      at += 1;
      continue;
    }
    // It is negative if one of the two is no digit.
    const byte = isMark ? (valueAt(at + 1) << 4) | valueAt(at + 2) : -1;
    bytes[size] = byte < 0 ? text.charCodeAt(at) : byte;
    size += 1;
    if (byte >= 0) at += 2;
  }
  return bytes.slice(0, size);
}

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Decodes base64, in which each `=` ends a piece, and any other character is left out. */
function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  const values = valuesOf(BASE64);
  const bytes = new Uint8Array(Math.ceil((text.length * 3) / 4));
  let [size, bits, count] = [0, 0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const value = values[text.charCodeAt(at)] ?? -1;
    if (value >= 0) {
      bits = ((bits << 6) | value) & 0xffff;
      count += 6;
    } else if (text.charCodeAt(at) === EQUALS) count = 0;
    if (count < 8) continue;
    count -= 8;
    bytes[size] = bits >> count;
    size += 1;
  }
  return bytes.slice(0, size);
}

/** Returns the value of each digit by its character code, and -1 for any other character. */
function valuesOf(digits: string): Int8Array {
  const values = new Int8Array(256).fill(-1);
  for (let value = 0; value < digits.length; value += 1) values[digits.charCodeAt(value)] = value;
  return values;
}

/** The charset of a text that does not name one and is not UTF-8, as in the usual mail programs. */
const DEFAULT_CHARSET = 'windows-1252';

/** Decodes a text in a charset; without one in UTF-8, or else as `otherwise`. */
export function decodeText(bytes: Uint8Array, charset?: string, otherwise = DEFAULT_CHARSET): string {
  if (charset === undefined) return decodeUtf8(bytes) ?? decodeText(bytes, otherwise);
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    // The package knows more names of charsets, and reads a text in an unknown one as windows-1252.
    return decode(`=?${charset.replace(/[?*\s]+/g, '') || DEFAULT_CHARSET}?B?${toBase64(bytes)}?=`);
  }
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** What begins Japanese in ISO-2022-JP, whose bytes are all ASCII. */
const ISO_SHIFT = '\x1b$';

/** How much of a mail is searched for a charset, in bytes. */
const SEARCHED_BYTES = 64 * 1024;

/** Decodes what a header has without encoding: in UTF-8, or else in the first charset that the mail names. */
export function decodeField(field: string, mail: string): string {
  const isShifted = field.includes(ISO_SHIFT);
  if (!isShifted && /^[\0-\x7f]*$/.test(field)) return field;
  const start = mail.slice(0, SEARCHED_BYTES);
  const [, named] = /charset\s*=\s*"?([\w.:-]+)/i.exec(start) ?? [];
  const charset = start.includes(ISO_SHIFT) ? 'iso-2022-jp' : named;
  return decodeText(bytesOf(field), isShifted ? charset : undefined, charset);
}

/** How much of a header field is searched for encoded words: more than the longest subject can be. */
const MAX_WORDS_LENGTH = 16_000;

/** Decodes the encoded words in a header field (RFC 2047). */
export function decodeWords(field: string): string {
  return decode(field.slice(0, MAX_WORDS_LENGTH));
}

/** Replaces line breaks, which decoded header fields may contain. */
export function toSingleLine(text: string): string {
  return repairWindows1252(text).replace(/[\r\n\0]+/g, ' ');
}

/** A mail or a part of it, as it is written: one character stands for each byte, and lines end with `\n`. */
export interface RawPart {
  /** The `multipart` that contains it. */
  readonly parent: RawPart | undefined;
  /** The header lines. */
  readonly head: string;
  /** The header fields by lower-case name, unfolded; of fields with one name, the first. */
  readonly fields: Readonly<Record<string, string>>;
  /** The content, in its encoding; empty if it was split into parts. */
  readonly body: string;
}

/** How large the header of a mail or of a part may be, how deep parts may be nested, and how many are read. */
const MAX_HEADER_BYTES = 256 * 1024;
const MAX_DEPTH = 256;
const MAX_PARTS = 1_000;

/**
 * Lists the mail and its parts, at most the first 1,000; each `multipart` comes before what it contains. Mails within
 * the mail are not split. Each line is looked at once, however deep the parts are nested.
 *
 * @throws {ApiError} VALIDATION_ERROR if a header is too large or parts are nested too deeply.
 */
export function splitParts(mail: string): RawPart[] {
  const reader = new PartReader(mail);
  let at = mail.indexOf('\n--');
  for (; at >= 0 && reader.parts.length < MAX_PARTS; at = mail.indexOf('\n--', at + 1)) reader.readLine(at);
  // What follows the last part that is read is left out.
  reader.endPart(at >= 0 ? at : mail.length - (mail.endsWith('\n') ? 1 : 0));
  return reader.parts;
}

class PartReader {
  readonly parts: { -readonly [Key in keyof RawPart]: RawPart[Key] }[] = [];
  readonly #mail: string;
  /** Each `multipart` that has not ended, from the outermost, and all boundaries so far. */
  readonly #open: { readonly part: RawPart; readonly boundary: string }[] = [];
  readonly #boundaries = new Set<string>();
  /** Where the header and the content of the current part begin. After the end of a multipart, there is none. */
  #headAt: number | undefined = 0;
  #bodyAt: number | undefined;
  /** The latest empty line that was found: from the line break before it to its end. */
  #emptyLine = { from: -2, to: -2 };

  constructor(mail: string) {
    this.#mail = mail;
  }

  /** Reads the line that begins with two dashes after the line break at this position. */
  readLine(at: number): void {
    const end = this.#mail.indexOf('\n', at + 1);
    const line = this.#mail.slice(at + 3, end < 0 ? undefined : end).trimEnd();
    this.#readHead(at);
    const isEnd = !this.#boundaries.has(line) && line.endsWith('--');
    const name = isEnd ? line.slice(0, -2) : line;
    const level = this.#boundaries.has(name) ? this.#open.findLastIndex(({ boundary }) => boundary === name) : -1;
    if (level < 0) return;
    this.endPart(at, this.#open[level]?.part);
    this.#open.length = isEnd ? level : level + 1;
    this.#headAt = isEnd || end < 0 ? undefined : end + 1;
  }

  /** Ends the current part before the line break at this position; `owner` is the multipart whose boundary follows. */
  endPart(at: number, owner?: RawPart): void {
    this.#readHead(at);
    if (this.#headAt !== undefined && this.#bodyAt === undefined) this.#addPart(at, at + 1);
    const part = this.parts.at(-1);
    if (part && this.#bodyAt !== undefined && this.#bodyAt <= at && part !== owner) {
      part.body = linesOf(this.#mail.slice(this.#bodyAt, at));
    }
    this.#headAt = undefined;
    this.#bodyAt = undefined;
  }

  /** Reads the header of the current part if it ends before the line break at this position. */
  #readHead(at: number): void {
    if (this.#headAt === undefined || this.#bodyAt !== undefined) return;
    // An empty line that is still ahead is not searched again, because many parts may have none.
    if (this.#emptyLine.from < this.#headAt - 1) {
      const search = /(?:^|\n)\r*\n/g;
      search.lastIndex = Math.max(0, this.#headAt - 1);
      const { index, 0: found } = search.exec(this.#mail) ?? { index: Number.POSITIVE_INFINITY, 0: '' };
      this.#emptyLine = { from: index, to: index + found.length };
    }
    const { from, to } = this.#emptyLine;
    if (to <= at + 1) this.#addPart(from, to);
  }

  #addPart(headEnd: number, bodyAt: number): void {
    const written = this.#mail.slice(this.#headAt, Math.max(this.#headAt ?? 0, headEnd));
    if (written.length > MAX_HEADER_BYTES || this.#open.length > MAX_DEPTH) {
      throw new ApiError(
        'VALIDATION_ERROR',
        'The message cannot be parsed: its headers are too large or its parts are nested too deeply.',
      );
    }
    const head = linesOf(written);
    const part = { parent: this.#open.at(-1)?.part, head, fields: firstOf(listFields(head)), body: '' };
    const { value, parameters } = parseParameters(part.fields['content-type']);
    const boundary = parameters.boundary?.trimEnd() ?? '';
    this.parts.push(part);
    this.#bodyAt = bodyAt;
    if (boundary === '' || !value.startsWith('multipart/')) return;
    this.#open.push({ part, boundary });
    this.#boundaries.add(boundary);
  }
}

/** Makes `\n` the end of each line. */
function linesOf(text: string): string {
  return `${text}\n`.replace(/(?<!\r)\r+\n/g, '\n');
}

/** Returns the fields of such a header, in order. */
export function listFields(head: string): HeaderField[] {
  return splitFields(head.split(/\n(?![ \t])/));
}

function firstOf(fields: readonly HeaderField[]): Record<string, string> {
  return Object.fromEntries(fields.toReversed().map(({ name, value }) => [name.toLowerCase(), value]));
}

/** The value of a header field such as Content-Type. */
interface ParameterisedValue {
  /** What comes before the parameters, in lower case. */
  readonly value: string;
  /** The parameters by lower-case name, each in one piece; of parameters with one name, the first. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** A piece of a parameter. */
interface Piece {
  readonly text: string;
  readonly at: number;
  readonly isEncoded: boolean;
}

/** A quoted text, or a comment where one may stand. */
export const QUOTED_OR_COMMENT = /"(?:[^"\\]|\\.)*"?|(?<![^\s;])\((?:[^()\\]|\\.)*\)/gs;

/** A parameter behind a value; in quotes, or as a token. */
export const PARAMETER = /;\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"?|([^;"]*))/gs;

/** Reads a value with parameters (RFC 2045, section 5.1), which may be encoded and in pieces (RFC 2231). */
export function parseParameters(field = ''): ParameterisedValue {
  const text = field.replace(QUOTED_OR_COMMENT, (found) => (found.startsWith('"') ? found : ''));
  const plain = new Map<string, string>();
  const pieces = new Map<string, Piece[]>();
  for (const [, written = '', quoted, token = ''] of text.matchAll(PARAMETER)) {
    const value = quoted?.replace(/\\(.)/gs, '$1') ?? token.trim();
    const [, name = written, at = '0', mark] = /^([^*]+)(?=\*)(?:\*(\d+))?(\*)?$/.exec(written) ?? [];
    const key = name.toLowerCase();
    const list = pieces.get(key) ?? [];
    if (name === written) plain.set(key, plain.get(key) ?? value);
    else pieces.set(key, list);
    list.push({ text: value, at: Number(at), isEncoded: mark !== undefined });
  }
  const joined = Array.from(pieces, ([name, list]) => [name, joinPieces(list)] as const);
  return {
    value: /^[^\s;(]*/.exec(text.trimStart())?.[0].toLowerCase() ?? '',
    parameters: Object.fromEntries([...plain, ...joined]),
  };
}

function joinPieces(pieces: readonly Piece[]): string {
  const sorted = pieces.toSorted((a, b) => a.at - b.at);
  const isEncoded = sorted.some((piece) => piece.isEncoded);
  if (!isEncoded) return sorted.map(({ text }) => text).join('');
  const whole = sorted.map((piece) => (piece.isEncoded ? piece.text : encodeURIComponent(piece.text))).join('');
  const [, charset = '', encoded = whole] = (sorted[0]?.isEncoded && /^([^']*)'[^']*'(.*)$/s.exec(whole)) || [];
  const binary = encoded.replace(/%([\dA-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return decodeText(bytesOf(binary), charset || 'utf-8');
}
