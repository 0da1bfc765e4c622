import { toBase64 } from '../../contract/base64.ts';

/** The line ending of a mail. */
export const CRLF = '\r\n';

/** The maximum length of a line; only a word that cannot be broken may be longer. */
export const LINE_LENGTH = 76;

/** The maximum length of a word without encoding, so that it fits on a line with its field name. */
const WORD_LENGTH = 50;

/** The maximum size of the content of an encoded word, so that it fits on such a line too. */
const ENCODED_WORD_BYTES = 39;

/** Writes a header field, folded between its words. */
export function writeField(name: string, words: readonly string[]): string {
  const [first = '', ...rest] = words;
  const lines = [`${name}: ${first}`];
  for (const word of rest) {
    const line = `${lines.at(-1)} ${word}`;
    if (line.length > LINE_LENGTH) lines.push(` ${word}`);
    else lines[lines.length - 1] = line;
  }
  return lines.join(CRLF);
}

/** Writes a time as a header field has it. */
export function formatDate(date: Date): string {
  return date.toUTCString().replace('GMT', '+0000');
}

/** Splits a text into words for a header field; encodes it unless the plain text is valid and unambiguous there. */
export function toWords(text: string): string[] {
  return isPlain(text) ? text.split(' ') : toEncodedWords(text);
}

/** Returns whether a text needs no encoding in a header field: short ASCII words with single spaces between them. */
export function isPlain(text: string): boolean {
  return /^[!-~]+(?: [!-~]+)*$/.test(text) && !text.includes('=?') && !text.split(' ').some(isLong);
}

/** Returns whether a word is too long for a line with its field name. */
export function isLong(word: string): boolean {
  return word.length > WORD_LENGTH;
}

/** Encodes a text as words of RFC 2047 without splitting a character. */
function toEncodedWords(text: string): string[] {
  const encoder = new TextEncoder();
  const words = [''];
  for (const character of text) {
    const longer = words.at(-1) + character;
    if (encoder.encode(longer).byteLength > ENCODED_WORD_BYTES) words.push(character);
    else words[words.length - 1] = longer;
  }
  return words.map((word) => `=?UTF-8?B?${toBase64(encoder.encode(word))}?=`);
}
