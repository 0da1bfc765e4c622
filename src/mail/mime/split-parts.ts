import { readFields } from './read-headers.ts';

/** A mail or a part of it, as it is written: one character stands for each byte. */
export interface RawPart {
  /** The header lines. */
  readonly head: string;
  /** The header fields by lower-case name, unfolded; of fields with one name, the last. */
  readonly fields: Readonly<Record<string, string>>;
  /** The content, in its encoding; empty if it was split into parts. */
  readonly body: string;
}

/** Lists the mail and its parts; each `multipart` comes before what it contains. Mails within the mail are not split. */
export function splitParts(mail: string): RawPart[] {
  const part = readPart(mail);
  const pieces = splitMultipart(part);
  return pieces.length > 0 ? [{ ...part, body: '' }, ...pieces.flatMap(splitParts)] : [part];
}

/** Splits a `multipart` at its boundary; returns nothing for a part of another type, or without its boundary. */
export function splitMultipart({ fields, body }: RawPart): string[] {
  const named = /^multipart\/.*\bboundary\s*=\s*(?:"([^"]+)"|([^\s;"]+))/is.exec(fields['content-type'] ?? '');
  if (!named) return [];
  const boundary = (named[1] ?? named[2] ?? '').replace(/[^\w\s]/g, '\\$&');
  const [, ...pieces] = `\n${body}`.split(new RegExp(`\\n--${boundary}(--)?[ \\t]*\\r?(?=\\n|$)`));
  // Before each piece comes what the group has matched: the mark that ends the parts, or nothing.
  return pieces.filter((_, at) => at % 2 === 1 && pieces[at - 1] === undefined).map((piece) => piece.slice(1));
}

/** Reads the header of a mail or of a part. */
export function readPart(mail: string): RawPart {
  const end = /(?:^|\n)\r?\n/.exec(mail);
  const head = mail.slice(0, end?.index);
  const body = end ? mail.slice(end.index + end[0].length) : '';
  return { head, fields: readFields(head.split(/\r?\n(?![ \t])/)), body };
}
