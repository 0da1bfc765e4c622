/** A part of a mail: the lines of its head, and its content as it travels. */
export interface MimePart {
  readonly head: readonly string[];
  readonly content: string;
}

const CRLF = '\r\n';

/** The most characters of a line; only a word that has no place to break at may be longer. */
const LINE_LENGTH = 76;

/** The most characters of a word that is written as it is, so that it fits on a line with the name of its field. */
const WORD_LENGTH = 50;

/** The most bytes in an encoded word, so that it fits there too. */
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

/** The words of a text in a head, encoded unless it can stand there as it is and be read in no other way. */
export function toWords(text: string): string[] {
  return isPlain(text) ? text.split(' ') : toEncodedWords(text);
}

/** Says whether a text may stand in a head as it is: short words of ASCII with one space between them. */
export function isPlain(text: string): boolean {
  return /^[!-~]+(?: [!-~]+)*$/.test(text) && !text.includes('=?') && !text.split(' ').some(isLong);
}

function isLong(word: string): boolean {
  return word.length > WORD_LENGTH;
}

/** RFC 2047; no character is cut in two. */
function toEncodedWords(text: string): string[] {
  const words = [''];
  for (const character of text) {
    const longer = words.at(-1) + character;
    if (byteLength(longer) > ENCODED_WORD_BYTES) words.push(character);
    else words[words.length - 1] = longer;
  }
  return words.map((word) => `=?UTF-8?B?${toBase64(word)}?=`);
}

/** A part of text, which can be read as it is where it is ASCII. */
export function textPart(type: string, text: string): MimePart {
  return {
    head: [`Content-Type: ${type}; charset=utf-8`, 'Content-Transfer-Encoding: quoted-printable'],
    content: text
      .split(/\r\n|\r|\n/)
      .map(toQuotedPrintable)
      .join(CRLF),
  };
}

/** RFC 2045, section 6.7: a line of text, broken softly where it is long. */
function toQuotedPrintable(line: string): string {
  const quoted = line.replace(/[^\t -<>-~]+|[\t ]$/gu, quote);
  const lines: string[] = [];
  for (let start = 0; start === 0 || start < quoted.length; ) {
    const end = start + LINE_LENGTH - 1;
    // A quoted byte is three characters, which stay together.
    const cut = end < quoted.length ? quoted.slice(end - 2, end).indexOf('=') : -1;
    const stop = cut < 0 ? end : end - 2 + cut;
    lines.push(quoted.slice(start, stop));
    start = stop;
  }
  return lines.join(`=${CRLF}`);
}

function quote(text: string): string {
  const bytes = new TextEncoder().encode(text);
  return Array.from(bytes, (byte) => `=${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
}

/** A part that is a file, from its base64. */
export function filePart(type: string, filename: string, base64: string): MimePart {
  return {
    head: [
      writeField('Content-Type', type.split(' ')),
      writeField('Content-Disposition', ['attachment;', ...fileNameParameters(filename)]),
      'Content-Transfer-Encoding: base64',
    ],
    content: (base64.match(/.{1,76}/g) ?? []).join(CRLF),
  };
}

/** RFC 2231, where the name cannot stand there as it is. */
function fileNameParameters(filename: string): string[] {
  if (/^[\w.-]+(?: [\w.-]+)*$/.test(filename) && !isLong(filename)) return [`filename="${filename}"`];
  const encoded = filename.replace(/[^A-Za-z0-9._-]/gu, (character) => quote(character).replaceAll('=', '%'));
  const pieces = `utf-8''${encoded}`.match(/(?:%..|[^%]){1,18}/g) ?? [];
  return pieces.map((piece, index) => `filename*${index}*=${piece}${index < pieces.length - 1 ? ';' : ''}`);
}

/** A part that holds others. No line of theirs looks like the boundary: `=_` is in neither encoding. */
export function multipart(kind: 'mixed' | 'alternative', id: string, parts: readonly MimePart[]): MimePart {
  const boundary = `=_${kind}_${id}`;
  const opened = parts.map((part) => `--${boundary}${CRLF}${writeInner(part)}${CRLF}`).join('');
  return {
    head: [writeField('Content-Type', [`multipart/${kind};`, `boundary="${boundary}"`])],
    content: `${opened}--${boundary}--${CRLF}`,
  };
}

/** An empty part ends with its head: parsers take a further line for a newline of its content. */
function writeInner(part: MimePart): string {
  return part.content === '' ? part.head.join(CRLF) + CRLF : writePart(part);
}

/** Writes a part with its head. */
export function writePart({ head, content }: MimePart): string {
  return [...head, '', content].join(CRLF);
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).byteLength;
}

function toBase64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}
