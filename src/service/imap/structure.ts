import { type ListedAddress, readAddressList } from '../../contract/email-address-list.ts';
import { listParameters, listUnfoldedFields, type MailPart } from '../mail/mime/split-parts.ts';
import { writeNString, writeString } from './argument.ts';

/** The header fields with addresses. If a mail has several fields with the same name, their addresses are joined. */
const ADDRESS_FIELDS: ReadonlySet<string> = new Set(['from', 'sender', 'reply-to', 'to', 'cc', 'bcc']);

/** Returns the fields for an ENVELOPE by lower-case name. If other fields have the same name, the last is used. */
export function envelopeFields(header: string): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const { name, value } of listUnfoldedFields(header)) {
    const key = name.toLowerCase();
    fields[key] = ADDRESS_FIELDS.has(key) && fields[key] !== undefined ? `${fields[key]}, ${value}` : value;
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
export function writeStructure(part: MailPart, text: string, isExtended: boolean): string {
  const { type, subtype, parts, fields } = part;
  const parameters = part.hasMediaType ? readParameters(fields['content-type']) : {};
  const extension = isExtended ? ` ${writeExtension(part)}` : '';
  if (type !== 'multipart') return `(${writeLeaf(part, text, parameters, isExtended)}${extension})`;
  const inner =
    parts.map((each) => writeStructure(each, text, isExtended)).join('') ||
    `(${EMPTY_PART}${isExtended ? ' NIL NIL NIL NIL' : ''})`;
  return `(${inner} ${writeString(subtype)}${isExtended ? ` ${writeParameters(parameters)}` : ''}${extension})`;
}

/** A `multipart` without parts is shown with this empty part, because IMAP has no empty list of parts. */
const EMPTY_PART = '"text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 0 0';

function writeLeaf(
  { type, subtype, fields, message, bodyStart, bodyEnd }: MailPart,
  text: string,
  parameters: Readonly<Record<string, string>>,
  isExtended: boolean,
): string {
  const hasCharset = type !== 'text' || parameters.charset !== undefined;
  const written = [
    `${writeString(type)} ${writeString(subtype)}`,
    writeParameters(hasCharset ? parameters : { charset: 'us-ascii', ...parameters }),
    writeNString(fields['content-id']),
    writeNString(fields['content-description']),
    writeString(readToken(fields['content-transfer-encoding']) || '7bit'),
    String(bodyEnd - bodyStart),
    ...(message
      ? [
          writeEnvelope(envelopeFields(text.slice(message.headerStart, message.bodyStart))),
          writeStructure(message, text, isExtended),
        ]
      : []),
    ...(message || type === 'text' ? [String(countLines(text, bodyStart, bodyEnd))] : []),
    ...(isExtended ? [writeNString(fields['content-md5'])] : []),
  ];
  return written.join(' ');
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
  for (const [name, value] of listParameters(field)) addParameter(parameters, name.toLowerCase(), value);
  return Object.fromEntries(parameters);
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

function countLines(text: string, from: number, to: number): number {
  let lines = 0;
  for (let at = text.indexOf('\n', from); at >= 0 && at < to; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}
