import { PARAMETER, QUOTED_OR_COMMENT } from '../mail/mime/split-parts.ts';
import { writeNString, writeString } from './argument.ts';
import { writeEnvelope } from './envelope.ts';
import { envelopeFields, type MailPart } from './mail-parts.ts';

/** Writes the BODYSTRUCTURE of a mail, or its BODY, which has no extension data (RFC 3501, section 7.4.2). */
export function writeStructure(part: MailPart, text: string, isExtended: boolean): string {
  const { type, subtype, parts, fields } = part;
  const parameters = part.isTyped ? readParameters(fields['content-type']) : {};
  const extension = isExtended ? ` ${writeExtension(part)}` : '';
  if (type !== 'multipart') return `(${writeLeaf(part, text, parameters, isExtended)}${extension})`;
  const inner =
    parts.map((each) => writeStructure(each, text, isExtended)).join('') ||
    `(${EMPTY_PART}${isExtended ? ' NIL NIL NIL NIL' : ''})`;
  return `(${inner} ${writeString(subtype)}${isExtended ? ` ${writeParameters(parameters)}` : ''}${extension})`;
}

/** A `multipart` without parts is shown with one that is empty, because a list of parts cannot be. */
const EMPTY_PART = '"text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 0 0';

function writeLeaf(
  { type, subtype, fields, message, bodyAt, to }: MailPart,
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
    String(to - bodyAt),
    ...(message
      ? [
          writeEnvelope(envelopeFields(text.slice(message.from, message.bodyAt))),
          writeStructure(message, text, isExtended),
        ]
      : []),
    ...(message || type === 'text' ? [String(countLines(text, bodyAt, to))] : []),
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

/** Reads parameters as they are written; only the pieces of one (RFC 2231) are joined. */
function readParameters(field = ''): Record<string, string> {
  const text = field.replace(QUOTED_OR_COMMENT, (found) => (found.startsWith('"') ? found : ''));
  const parameters = new Map<string, string>();
  for (const [, written = '', quoted, token = ''] of text.matchAll(PARAMETER)) {
    const value = quoted?.replace(/\\(.)/gs, '$1') ?? token.trim();
    addParameter(parameters, written.toLowerCase(), value);
  }
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
