import { decodeWords as decode } from 'postal-mime';
import { toBase64 } from '../../../basics/base64.ts';

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
