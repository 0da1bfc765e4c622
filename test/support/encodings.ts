/** Ways to write a text, by their names. The text can be found in each by undoing it. */
export const ENCODINGS: Readonly<Record<string, (text: string) => string>> = {
  'as it is': (text) => text,
  'percent-encoded': (text) => encodeURIComponent(text),
  'percent-encoded, each byte': (text) => bytesOf(text, (byte) => `%${hex(byte)}`),
  'percent-encoded, in upper case': (text) => bytesOf(text, (byte) => `%${hex(byte).toUpperCase()}`),
  'in a form': (text) => new URLSearchParams({ q: text }).toString(),
  base64: (text) => toBase64(text),
  'base64 after one byte': (text) => toBase64(`:${text};)`),
  'base64 after two bytes': (text) => toBase64(`(:${text};`),
  base64url: (text) => Buffer.from(`?>${text}<?`).toString('base64url'),
  'base64 in lines': (text) => toBase64(`${'a line '.repeat(9)}${text}${'z'.repeat(50)}`).replace(/(.{24})/g, '$1\r\n'),
  'JSON with base64': (text) => toBase64(JSON.stringify({ deep: [{ value: text }] })),
  'decimal entities': (text) => [...text].map((each) => `&#${each.codePointAt(0)};`).join(''),
  'hexadecimal entities': (text) => [...text].map((each) => `&#x00${each.codePointAt(0)?.toString(16)};`).join(''),
  'named entities': (text) => text.replace(/[&"<_+=/]/g, (each) => `&${NAMES[each]};`),
  'in JSON': (text) => JSON.stringify({ value: text }),
  'JSON in JSON': (text) => JSON.stringify({ value: JSON.stringify({ value: JSON.stringify(text) }) }),
  'JSON escapes': (text) =>
    unitsOf(text)
      .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
      .join(''),
  'some JSON escapes': (text) =>
    unitsOf(text)
      .map((unit, index) =>
        index % 3 === 0
          ? `\\u${unit.toString(16).padStart(4, '0').toUpperCase()}`
          : JSON.stringify(String.fromCharCode(unit)).slice(1, -1),
      )
      .join(''),
  'quoted-printable': (text) =>
    bytesOf(text, (byte, index) => `=${hex(byte).toUpperCase()}${index % 5 === 4 ? '=\r\n' : ''}`),
  'soft line breaks': (text) => [...text].map((each) => (each === '=' ? '=3D' : each)).join('=\n'),
  'an encoded word in base64': (text) => `=?utf-8?B?${toBase64(text)}?=`,
  'an encoded word, quoted': (text) => `=?UTF-8?q?${bytesOf(text, (byte) => `=${hex(byte).toUpperCase()}`)}?=`,
  'two encoded words': (text) => {
    const bytes = Buffer.from(text);
    const [first, second] = [bytes.subarray(0, 4), bytes.subarray(4)].map((part) => part.toString('base64'));
    return `=?utf-8?B?${first}?=\r\n =?utf-8?B?${second}?=`;
  },
  hexadecimal: (text) => Buffer.from(text).toString('hex'),
  'hexadecimal after half a byte': (text) => `f${Buffer.from(text).toString('hex').toUpperCase()}0`,
};

const NAMES: Readonly<Record<string, string>> = {
  '&': 'amp',
  '"': 'quot',
  '<': 'lt',
  _: 'lowbar',
  '+': 'plus',
  '=': 'equals',
  '/': 'sol',
};

const hex = (byte: number) => byte.toString(16).padStart(2, '0');

const toBase64 = (text: string) => Buffer.from(text).toString('base64');

const unitsOf = (text: string) => Array.from({ length: text.length }, (_, index) => text.charCodeAt(index));

const bytesOf = (text: string, write: (byte: number, index: number) => string) =>
  [...Buffer.from(text)].map(write).join('');

/** Returns a text, and what it says to somebody who undoes encodings of it, up to `maxDepth` around each other. */
export function readingsOf(text: string, maxDepth = 3): string[] {
  const readings = new Set([text]);
  let latest = [text];
  for (let depth = 0; depth < maxDepth; depth += 1) {
    latest = latest.flatMap((each) => DECODERS.map((decode) => decode(each))).filter((each) => !readings.has(each));
    for (const each of latest) readings.add(each);
  }
  return [...readings];
}

const fromHex = (digits: string) => String.fromCharCode(Number.parseInt(digits, 16));

/** Returns a text, and its bytes as UTF-8, if they are some. */
const withUtf8 = (binary: string) => `${binary}\n${Buffer.from(binary, 'latin1').toString('utf8')}`;

const runsOf = (text: string, run: RegExp, decode: (run: string) => string) =>
  Array.from(text.matchAll(run), ([found]) => decode(found)).join('\n');

const LINE_ENDS: Readonly<Record<string, string>> = { n: '\n', r: '\r' };

const BASE64_RUN = /[\w+/-]{8,}/g;

const DECODERS: readonly ((text: string) => string)[] = [
  (text) => withUtf8(text.replaceAll('+', ' ').replace(/%([\da-f]{2})/gi, (_, digits) => fromHex(digits))),
  (text) => withUtf8(text.replace(/%([\da-f]{2})/gi, (_, digits) => fromHex(digits))),
  (text) =>
    text
      .replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code) % 0x110000))
      .replace(/&#x([\da-f]{1,6});/gi, (_, code) => String.fromCodePoint(Number.parseInt(code, 16) % 0x110000))
      .replace(/&(\w+);/g, (entity, name) => Object.keys(NAMES).find((each) => NAMES[each] === name) ?? entity),
  (text) =>
    text.replace(/\\u([\da-f]{4})|\\(["\\/nr])/gi, (_, digits, character) =>
      digits ? fromHex(digits) : (LINE_ENDS[character] ?? character),
    ),
  (text) => withUtf8(text.replace(/=\r?\n/g, '').replace(/=([\da-f]{2})/gi, (_, digits) => fromHex(digits))),
  (text) =>
    withUtf8(
      text
        .replace(/\?=\s+=\?/g, '?==?')
        .replace(/=\?[^?\s]+\?b\?([^?\s]*)\?=/gi, (_, encoded) => Buffer.from(encoded, 'base64').toString('latin1')),
    ),
  (text) =>
    runsOf(text.replace(/\r?\n/g, ''), /[\da-f]{12,}/gi, (run) =>
      [0, 1].map((start) => Buffer.from(run.slice(start), 'hex').toString('utf8')).join('\n'),
    ),
  ...[0, 1, 2, 3].map(
    (start) => (text: string) =>
      runsOf(text.replace(/\r?\n/g, ''), BASE64_RUN, (run) => Buffer.from(run.slice(start), 'base64').toString('utf8')),
  ),
];
