import type { Work } from '../../basics/work.ts';
import { type ListedAddress, readAddressList } from '../../contract/addresses/email-address-list.ts';
import {
  listNamedFields,
  listParameters,
  type MailPart,
  type MailText,
  textOfString,
} from '../mail/mime/split-parts.ts';
import { writeNString, writeString } from './argument.ts';

/** The header fields with addresses. If a mail has several fields with the same name, their addresses are joined. */
const ADDRESS_FIELDS: ReadonlySet<string> = new Set(['from', 'sender', 'reply-to', 'to', 'cc', 'bcc']);

/** How much of a field is shown. */
const MAX_FIELD_LENGTH = 32 * 1024;

/** The header fields that an ENVELOPE shows. */
const ENVELOPE_FIELDS: ReadonlySet<string> = new Set([
  ...ADDRESS_FIELDS,
  'date',
  'subject',
  'in-reply-to',
  'message-id',
]);

/** Returns the fields for an ENVELOPE by lower-case name. If other fields have the same name, the last is used. */
export function envelopeFields(header: string): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const { name, value } of listNamedFields(textOfString(header), 0, header.length, ENVELOPE_FIELDS)) {
    const key = name.toLowerCase();
    const shown = value.slice(0, MAX_FIELD_LENGTH);
    const before = fields[key] ?? '';
    if (!ADDRESS_FIELDS.has(key) || before === '') fields[key] = shown;
    else if (before.length < MAX_FIELD_LENGTH) fields[key] = `${before}, ${shown}`;
  }
  return fields;
}

/** How many addresses and groups of a field, and of a group, are shown. */
const MAX_ADDRESSES = 1_000;

/** Writes an ENVELOPE (RFC 3501, section 7.4.2) from header fields by lower-case name. */
export function writeEnvelope(fields: Readonly<Record<string, string>>): string {
  const from = writeAddresses(fields.from);
  const list = (name: string) => {
    const written = writeAddresses(fields[name]);
    return written === 'NIL' && (name === 'sender' || name === 'reply-to') ? from : written;
  };
  const [date, subject, ...ids] = ['date', 'subject', 'in-reply-to', 'message-id'].map((name) =>
    writeNString(fields[name]),
  );
  return `(${[date, subject, from, ...['sender', 'reply-to', 'to', 'cc', 'bcc'].map(list), ...ids].join(' ')})`;
}

/** Writes a list of addresses, which may contain groups. */
function writeAddresses(field = ''): string {
  const { entries } = readAddressList(field);
  const written = entries.slice(0, MAX_ADDRESSES).flatMap((entry) => {
    if (!('members' in entry)) return writeAddress(entry);
    const members = entry.members.slice(0, MAX_ADDRESSES).map(writeAddress);
    return [`(NIL NIL ${writeString(entry.name)} NIL)`, ...members, '(NIL NIL NIL NIL)'];
  });
  return written.length === 0 ? 'NIL' : `(${written.join('')})`;
}

/** Writes an address. A missing domain is empty, because NIL in its place marks a group. */
function writeAddress({ name, route, local, domain }: ListedAddress): string {
  return `(${writeNString(name || undefined)} ${writeNString(route)} ${writeString(local)} ${writeString(domain)})`;
}

/** Writes the BODYSTRUCTURE of a mail, or its BODY, which has no extension data (RFC 3501, section 7.4.2). */
export function* writeStructure(root: MailPart, text: MailText, isExtended: boolean): Work<string> {
  const writer = new StructureWriter(text, yield* LineIndex.create(text), isExtended);
  return yield* writer.write(root);
}

/** How much of the header of a mail within a mail is read for its ENVELOPE. */
const MAX_INNER_HEADER = 64 * 1024;

/** How many addresses the mails within a mail show together, because each address is shown up to three times. */
const MAX_INNER_ADDRESSES = 10_000;

class StructureWriter {
  readonly #text: MailText;
  readonly #lines: LineIndex;
  readonly #isExtended: boolean;
  #addressesLeft = MAX_INNER_ADDRESSES;

  constructor(text: MailText, lines: LineIndex, isExtended: boolean) {
    this.#text = text;
    this.#lines = lines;
    this.#isExtended = isExtended;
  }

  *write(part: MailPart): Work<string> {
    yield;
    const { type, subtype, parts, fields } = part;
    const parameters = part.hasMediaType ? readParameters(fields['content-type']) : {};
    const extension = this.#isExtended ? ` ${writeExtension(part)}` : '';
    if (type !== 'multipart') return `(${yield* this.#writeLeaf(part, parameters)}${extension})`;
    const inner: string[] = [];
    for (const each of parts) inner.push(yield* this.write(each));
    const shown = this.#isExtended ? ` ${writeParameters(parameters)}` : '';
    return `(${inner.join('')} ${writeString(subtype)}${shown}${extension})`;
  }

  *#writeLeaf(part: MailPart, parameters: Readonly<Record<string, string>>): Work<string> {
    const { type, subtype, fields, message, bodyStart, bodyEnd } = part;
    const hasCharset = type !== 'text' || parameters.charset !== undefined;
    const written = [
      `${writeString(type)} ${writeString(subtype)}`,
      writeParameters(hasCharset ? parameters : { charset: 'us-ascii', ...parameters }),
      writeNString(fields['content-id']),
      writeNString(fields['content-description']),
      writeString(readToken(fields['content-transfer-encoding']) || '7bit'),
      String(bodyEnd - bodyStart),
    ];
    if (message) written.push(this.#writeInnerEnvelope(message), yield* this.write(message));
    if (message || type === 'text') written.push(String(this.#lines.count(bodyStart, bodyEnd)));
    if (this.#isExtended) written.push(writeNString(fields['content-md5']));
    return written.join(' ');
  }

  #writeInnerEnvelope({ headerStart, bodyStart }: MailPart): string {
    const header = this.#text.slice(headerStart, Math.min(bodyStart, headerStart + MAX_INNER_HEADER));
    const fields = envelopeFields(header);
    for (const name of ADDRESS_FIELDS) {
      const field = fields[name];
      if (field === undefined) continue;
      const count = field.split(/[,;]/).length;
      if (count > this.#addressesLeft) delete fields[name];
      else this.#addressesLeft -= count;
    }
    return writeEnvelope(fields);
  }
}

/** How many characters a block of a line index has. */
const BLOCK_LENGTH = 4 * 1024;

/** Counts the lines in a piece of a mail without reading all of the piece again. */
class LineIndex {
  readonly #text: MailText;
  /** The number of lines before each block. */
  readonly #linesBefore: number[];

  private constructor(text: MailText, linesBefore: number[]) {
    this.#text = text;
    this.#linesBefore = linesBefore;
  }

  static *create(text: MailText): Work<LineIndex> {
    const linesBefore: number[] = [];
    let lines = 0;
    for (let start = 0; start < text.length; start += BLOCK_LENGTH) {
      linesBefore.push(lines);
      lines += countLines(text, start, Math.min(start + BLOCK_LENGTH, text.length));
      if (linesBefore.length % 64 === 0) yield;
    }
    return new LineIndex(text, linesBefore);
  }

  count(from: number, to: number): number {
    return this.#countBefore(to) - this.#countBefore(from);
  }

  #countBefore(index: number): number {
    const block = Math.min(Math.floor(index / BLOCK_LENGTH), this.#linesBefore.length - 1);
    return (this.#linesBefore[block] ?? 0) + countLines(this.#text, block * BLOCK_LENGTH, index);
  }
}

/** Writes the disposition, the language and the location of a part. */
function writeExtension({ fields }: MailPart): string {
  const value = readToken(fields['content-disposition']);
  const parameters = writeParameters(readParameters(fields['content-disposition']));
  const disposition = value === '' ? 'NIL' : `(${writeString(value)} ${parameters})`;
  const languages = (fields['content-language'] ?? '').split(/[\s,]+/).filter((language) => language !== '');
  const language = languages.length === 0 ? 'NIL' : `(${languages.map(writeString).join(' ')})`;
  return `${disposition} ${language} ${writeNString(fields['content-location'])}`;
}

/** Reads parameters as they are written. Only the pieces of a parameter (RFC 2231) are joined. */
function readParameters(field = ''): Record<string, string> {
  const parameters = new Map<string, string>();
  const inOrder = listParameters(field).toSorted(([one], [other]) => pieceNumberOf(one) - pieceNumberOf(other));
  for (const [name, value] of inOrder) addParameter(parameters, name.toLowerCase(), value);
  return Object.fromEntries(parameters);
}

/** Returns the number of a piece of a parameter (RFC 2231), such as 1 of `name*1`, and 0 for any other parameter. */
function pieceNumberOf(name: string): number {
  return Number(/\*(\d{1,9})\*?$/.exec(name)?.[1] ?? 0);
}

function addParameter(parameters: Map<string, string>, name: string, value: string): void {
  const [, base, mark = ''] = /^([^*]+)\*\d+(\*?)$/.exec(name) ?? [];
  if (base === undefined) parameters.set(name, parameters.get(name) ?? value);
  else {
    const key = `${base}${parameters.has(`${base}*`) ? '*' : mark}`;
    parameters.set(key, `${parameters.get(key) ?? ''}${value}`);
  }
}

function writeParameters(parameters: Readonly<Record<string, string>>): string {
  const written = Object.entries(parameters).map(([name, value]) => `${writeString(name)} ${writeString(value)}`);
  return written.length === 0 ? 'NIL' : `(${written.join(' ')})`;
}

/** Returns a value without its comments and parameters. */
function readToken(field = ''): string {
  return /^[^\s;(]*/.exec(field.trimStart())?.[0] ?? '';
}

function countLines(text: MailText, from: number, to: number): number {
  let lines = 0;
  for (let index = from; index < to; index += 1) if (text.codeAt(index) === 0x0a) lines += 1;
  return lines;
}
