import { toBase64 } from '../../contract/base64.ts';

/** What ends a line of a mail. */
export const CRLF = '\r\n';

/** The most characters of a line; only a word that has no place to break at may be longer. */
export const LINE_LENGTH = 76;

/** The most characters of a word that is written as it is, so that it fits on a line with the name of its field. */
const WORD_LENGTH = 50;

/** The most bytes in an encoded word, so that it fits on such a line too. */
const ENCODED_WORD_BYTES = 39;

/** Writes a field, folded between its words. */
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

/** The words of a text in a header field, encoded unless the plain text is valid there and unambiguous. */
export function toWords(text: string): string[] {
  return isPlain(text) ? text.split(' ') : toEncodedWords(text);
}

/** Says whether a text needs no encoding in a header field: short ASCII words with one space between them. */
export function isPlain(text: string): boolean {
  return /^[!-~]+(?: [!-~]+)*$/.test(text) && !text.includes('=?') && !text.split(' ').some(isLong);
}

/** Says whether a word is too long for a line with the name of its field. */
export function isLong(word: string): boolean {
  return word.length > WORD_LENGTH;
}

/** RFC 2047; no character is cut in two. */
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
