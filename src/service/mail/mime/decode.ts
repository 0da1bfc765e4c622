import { decodeWords as decodeWithPostalMime } from 'postal-mime';
import { toBase64 } from '../../../basics/base64.ts';
import { decodeRareCharset, isRareCharset } from './charsets.ts';

/**
 * The characters of the bytes 0x80 to 0x9F in windows-1252. Five of these bytes have no character and stay as they are.
 */
const WINDOWS_1252_CHARACTERS = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8DŽ\x8F\x90‘’“”•–—˜™š›œ\x9DžŸ';

/**
 * Corrects a text in windows-1252 that the runtime has decoded as ISO-8859-1, as some versions of Node 20 and 22 do.
 * Typographic quotes and the euro sign are then control characters. If the runtime decodes correctly, the text is
 * returned unchanged.
 */
export function repairWindows1252(text: string): string {
  if (new TextDecoder('windows-1252').decode(Uint8Array.of(0x80)) === '€') return text;
  return text.replace(/[\x80-\x9F]/g, (character) => WINDOWS_1252_CHARACTERS.charAt(character.charCodeAt(0) - 0x80));
}

/** How many bytes are passed as arguments of one call. */
const MAX_ARGUMENTS = 1_000;

/** Returns a text in which one character stands for each byte. */
export function toBinary(bytes: Uint8Array): string {
  // For a short text, to create a decoder takes many times as long as to decode.
  if (bytes.length <= MAX_ARGUMENTS) return Reflect.apply(String.fromCharCode, null, bytes);
  // TextDecoder has no charset in which each byte is the character with the same number: its `latin1` is windows-1252.
  // UTF-16 is such a charset, if each byte becomes a number of 16 bits.
  return new TextDecoder('utf-16le').decode(new Uint16Array(bytes));
}

/** Returns the bytes of a text in which one character stands for each byte. */
export function bytesOf(binary: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index += 1) bytes[index] = binary.charCodeAt(index);
  return bytes;
}

/** Finds where the header of a mail ends: after the empty line. */
export function findHeaderEnd(text: string): number {
  const { index, 0: emptyLine } = /(?:^|\n)\r?\n/.exec(text) ?? { index: text.length, 0: '' };
  return index + emptyLine.length;
}

/** Splits a header into its fields. Each field stays as it is written, with its line breaks. */
export function splitHeader(header: string): string[] {
  return header.split(/(?<=\n)(?![ \t])/);
}

/** Decodes a body. In an unknown transfer encoding, it is returned as it is. */
export function decodeBody(body: string, encoding = ''): Uint8Array<ArrayBuffer> {
  if (/base64/i.test(encoding)) return new Base64Decoder().decode(body);
  return /quoted-printable/i.test(encoding) ? decodeQuoted(body) : bytesOf(body);
}

const EQUALS = 0x3d;

/** Decodes quoted-printable. A `=` at the end of a line joins this line to the next line. */
function decodeQuoted(text: string): Uint8Array<ArrayBuffer> {
  const values = digitValues('0123456789ABCDEF');
  // The letters in lower case have the same values.
  values.set(values.subarray(0x41, 0x47), 0x61);
  const valueAt = (index: number) => values[text.charCodeAt(index)] ?? -1;
  const bytes = new Uint8Array(text.length);
  let size = 0;
  for (let index = 0; index < text.length; index += 1) {
    const isEquals = text.charCodeAt(index) === EQUALS;
    const breakLength = isEquals ? breakLengthAt(text, index + 1) : 0;
    if (breakLength > 0) {
      index += breakLength;
      continue;
    }
    // `byte` is negative if one of the two characters after `=` is no hexadecimal digit.
    const byte = isEquals ? (valueAt(index + 1) << 4) | valueAt(index + 2) : -1;
    bytes[size] = byte < 0 ? text.charCodeAt(index) : byte;
    size += 1;
    if (byte >= 0) index += 2;
  }
  return bytes.slice(0, size);
}

/** Returns the length of the line break at a position; 0 if there is none. */
function breakLengthAt(text: string, index: number): number {
  if (text[index] === '\n') return 1;
  return text[index] === '\r' && text[index + 1] === '\n' ? 2 : 0;
}

const BASE64_DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/**
 * Decodes base64 piece by piece. After a `=`, another base64 text may begin. A character that base64 does not use is
 * ignored.
 */
export class Base64Decoder {
  readonly #values = digitValues(BASE64_DIGITS);
  #bits = 0;
  #bitCount = 0;

  decode(text: string): Uint8Array<ArrayBuffer> {
    const values = this.#values;
    const bytes = new Uint8Array(Math.ceil((text.length * 3) / 4) + 1);
    let [size, bits, bitCount] = [0, this.#bits, this.#bitCount];
    for (let index = 0; index < text.length; index += 1) {
      const value = values[text.charCodeAt(index)] ?? -1;
      if (value >= 0) {
        bits = ((bits << 6) | value) & 0xffff;
        bitCount += 6;
      } else if (text.charCodeAt(index) === EQUALS) bitCount = 0;
      if (bitCount < 8) continue;
      bitCount -= 8;
      bytes[size] = bits >> bitCount;
      size += 1;
    }
    this.#bits = bits;
    this.#bitCount = bitCount;
    return bytes.slice(0, size);
  }
}

/** Returns the value of each digit by its character code, and -1 for any other character. */
function digitValues(digits: string): Int8Array {
  const values = new Int8Array(256).fill(-1);
  for (let value = 0; value < digits.length; value += 1) values[digits.charCodeAt(value)] = value;
  return values;
}

/** The charset of a text that names no charset and is not UTF-8. The usual mail programs assume the same charset. */
const DEFAULT_CHARSET = 'windows-1252';

/**
 * Decodes a text in `charset`. Without a charset, decodes it as UTF-8 or, if it is not valid UTF-8, in the charset
 * `fallback`.
 */
export function decodeText(bytes: Uint8Array, charset?: string, fallback = DEFAULT_CHARSET): string {
  if (charset === undefined) return decodeUtf8(bytes) ?? decodeText(bytes, fallback);
  const rare = decodeRareCharset(bytes, charset);
  if (rare !== undefined) return rare;
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    // postal-mime knows more names of charsets than TextDecoder. It reads a text in an unknown charset as windows-1252.
    return decodeWithPostalMime(`=?${charset.replace(/[?*\s]+/g, '') || DEFAULT_CHARSET}?B?${toBase64(bytes)}?=`);
  }
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The escape sequence that switches to Japanese characters in ISO-2022-JP. All bytes of this charset are ASCII. */
const ISO_2022_JP_ESCAPE = '\x1b$';

/** How much of a mail is searched for a charset, in bytes. */
const SEARCHED_BYTES = 64 * 1024;

/**
 * Decodes the text of a header field that is not written as encoded words: as UTF-8 or, if it is not valid UTF-8, in
 * the first charset that the mail names.
 */
export function decodeRawField(written: string, mail: string): string {
  const field = escapeWordBytes(written);
  const hasEscape = field.includes(ISO_2022_JP_ESCAPE);
  if (!hasEscape && /^[\0-\x7f]*$/.test(field)) return field;
  const start = mail.slice(0, SEARCHED_BYTES);
  const [, namedCharset] = /charset\s*=\s*"?([\w.:-]+)/i.exec(start) ?? [];
  const charset = start.includes(ISO_2022_JP_ESCAPE) ? 'iso-2022-jp' : namedCharset;
  return decodeText(bytesOf(field), hasEscape ? charset : undefined, charset);
}

/** How much of a header field is searched for encoded words: more than the longest subject can be. */
const MAX_WORDS_LENGTH = 16_000;

/** Matches an encoded word: its charset without a language, its encoding, and its content. */
const ENCODED_WORD = /=\?([^?*\s]+)(?:\*[^?\s]*)?\?([QB])\?([^?]*)\?=/gi;

/**
 * Escapes the bytes above 127 within the encoded words of a field, in which one character stands for each byte. They are
 * not allowed there, and are bytes in the charset of the word, not in that of the field.
 */
export function escapeWordBytes(field: string): string {
  if (/^[\0-\x7f]*$/.test(field)) return field;
  return field.replace(ENCODED_WORD, (word, _, encoding: string) =>
    word.replace(/[\x80-\xff]/g, (character) =>
      encoding.toUpperCase() === 'Q' ? `=${character.charCodeAt(0).toString(16).toUpperCase()}` : '',
    ),
  );
}

/** Decodes the encoded words in a header field (RFC 2047). */
export function decodeWords(field: string): string {
  return decodeWithPostalMime(toUtf8Words(field.slice(0, MAX_WORDS_LENGTH)));
}

/** Encoded words in one charset with only white space between them. */
interface EncodedWords {
  readonly charset: string;
  /** The first of them. */
  readonly word: string;
  readonly contents: Uint8Array[];
}

/**
 * Encodes words again that are in a charset which postal-mime does not know, and words that share a character, because
 * postal-mime joins base64 only where a word ends with whole bytes.
 */
function toUtf8Words(field: string): string {
  const written: string[] = [];
  let end = 0;
  let open: EncodedWords | undefined;
  const close = () => {
    if (open) written.push(writeAsUtf8(open));
    open = undefined;
  };
  for (const { 0: word, 1: charset = '', 2: encoding = '', 3: content = '', index } of field.matchAll(ENCODED_WORD)) {
    const between = field.slice(end, index);
    end = index + word.length;
    if (open?.charset !== charset.toLowerCase() || !/^\s*$/.test(between)) {
      close();
      written.push(between);
      open = { charset: charset.toLowerCase(), word, contents: [] };
    }
    open.contents.push(decodeWord(encoding, content));
  }
  close();
  return [...written, field.slice(end)].join('');
}

function decodeWord(encoding: string, content: string): Uint8Array {
  if (encoding.toUpperCase() === 'B') return decodeBody(content, 'base64');
  return decodeBody(content.replaceAll('_', ' '), 'quoted-printable');
}

function writeAsUtf8({ charset, word, contents }: EncodedWords): string {
  if (contents.length === 1 && !isRareCharset(charset)) return word;
  const apart = contents.map((content) => decodeText(content, charset)).join('');
  // A character that is split between two words is not allowed, but many programs write it.
  const whole = apart.includes('\ufffd') ? decodeText(joinBytes(contents), charset) : apart;
  const text = whole.includes('\ufffd') ? apart : whole;
  return `=?utf-8?B?${toBase64(new TextEncoder().encode(text))}?=`;
}

function joinBytes(pieces: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let size = 0;
  for (const piece of pieces) {
    joined.set(piece, size);
    size += piece.length;
  }
  return joined;
}

/** Corrects windows-1252 in a decoded header field, and replaces line breaks and NUL by spaces. */
export function toCleanLine(text: string): string {
  return repairWindows1252(text).replace(/[\r\n\0]+/g, ' ');
}
