import { fromBase64 } from '../../contract/base64.ts';
import type { MessageRow } from '../../store/rows.ts';
import { fieldsOf } from './compose-mail.ts';
import { CRLF } from './header.ts';
import { repairLineEnds } from './line-ends.ts';
import { writeTrace } from './trace.ts';

/** How much of a raw mail is searched for its header, in characters of base64: 192 KiB of bytes. */
const MAX_HEADER_LENGTH = 256 * 1024;

/**
 * Returns the header fields of a message by lower-case name, unfolded; of fields with one name, that of the trace, or
 * else the last.
 */
export function readHeaders(message: MessageRow): Record<string, string> {
  return Object.fromEntries(listHeaders(message).map(({ name, value }) => [name.toLowerCase(), value]));
}

/** A header field of a message. */
export interface HeaderField {
  /** The name, as the mail writes it. */
  readonly name: string;
  /** The value, unfolded. */
  readonly value: string;
}

/** Returns every header field of a message, in order. */
export function listHeaders(message: MessageRow): HeaderField[] {
  const fields = message.raw === null ? fieldsOf(message) : splitHeader(message.raw);
  return splitFields([...fields, ...writeTrace(message)]);
}

/** Returns the values of header fields by lower-case name, unfolded; of fields with one name, the last. */
export function readFields(fields: readonly string[]): Record<string, string> {
  return Object.fromEntries(splitFields(fields).map(({ name, value }) => [name.toLowerCase(), value]));
}

/** Reads header fields; what is none is left out. */
export function splitFields(fields: readonly string[]): HeaderField[] {
  return fields.flatMap((field) => {
    const [, name, value] = /^([!-9;-~]+)[ \t]*:\s*(.*)$/s.exec(field.replace(/\r?\n(?=[ \t])/g, '')) ?? [];
    return name === undefined || value === undefined ? [] : [{ name, value: value.trim() }];
  });
}

/** Splits the header of a raw mail, in base64, into its fields. */
function splitHeader(raw: string): string[] {
  const bytes = repairLineEnds(fromBase64(raw.slice(0, MAX_HEADER_LENGTH)));
  const text = new TextDecoder().decode(bytes).replace(/\r?\n/g, CRLF);
  const [header = ''] = text.split(CRLF + CRLF, 1);
  return header.split(/\r\n(?![ \t])/);
}
