/** The charset of a text that does not name one and is not UTF-8, as in the usual mail programs. */
const DEFAULT_CHARSET = 'windows-1252';

/**
 * Prepares a raw mail for the parser, which reads header fields and bodies without a charset as UTF-8. A header with
 * bytes of another charset is converted to UTF-8, and a body in another one gets a charset. Bytes of the body stay.
 */
export function toUtf8Header(mail: Uint8Array): Uint8Array {
  const end = findHeaderEnd(mail);
  const header = mail.subarray(0, end);
  const isForeign = !isUtf8(header) || hasIsoShift(header);
  const text = isForeign ? decode(header, findCharset(mail)) : new TextDecoder().decode(header);
  const named = nameCharset(text);
  const needsCharset = named !== text && !isUtf8(mail.subarray(end));
  if (!isForeign && !needsCharset) return mail;
  const converted = new TextEncoder().encode(needsCharset ? named : text);
  const result = new Uint8Array(converted.length + mail.length - end);
  result.set(converted);
  result.set(mail.subarray(end), converted.length);
  return result;
}

const [LF, CR, ESCAPE, DOLLAR] = [0x0a, 0x0d, 0x1b, 0x24];

/** Returns the position of the empty line after the header, or the end of the mail. */
function findHeaderEnd(mail: Uint8Array): number {
  for (let at = 0; at >= 0; at = mail.indexOf(LF, at) + 1 || -1) {
    if (mail[at] === LF || (mail[at] === CR && mail[at + 1] === LF)) return at;
  }
  return mail.length;
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes) !== undefined;
  } catch {
    return false;
  }
}

/** Returns whether a text shifts to Japanese by ISO-2022-JP, whose bytes are all ASCII. */
function hasIsoShift(bytes: Uint8Array): boolean {
  return bytes.some((byte, at) => byte === ESCAPE && bytes[at + 1] === DOLLAR);
}

/** How much of a mail is searched for a charset, in bytes. */
const SEARCHED_BYTES = 64 * 1024;

/** Returns the first charset that a mail names, in its header or in that of a part. */
function findCharset(mail: Uint8Array): string {
  const start = mail.subarray(0, SEARCHED_BYTES);
  if (hasIsoShift(start)) return 'iso-2022-jp';
  return /charset\s*=\s*"?([\w.:-]+)/i.exec(decode(start, DEFAULT_CHARSET))?.[1] ?? DEFAULT_CHARSET;
}

function decode(bytes: Uint8Array, charset: string): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder(DEFAULT_CHARSET).decode(bytes);
  }
}

/** Adds a charset to the header of a text that names none. */
function nameCharset(header: string): string {
  const type = /^content-type:[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*/im.exec(header)?.[0];
  if (type === undefined) return `Content-Type: text/plain; charset=${DEFAULT_CHARSET}\r\n${header}`;
  if (/charset|^content-type:(?!\s*text\/)/i.test(type)) return header;
  return header.replace(type, () => `${type}; charset=${DEFAULT_CHARSET}`);
}
