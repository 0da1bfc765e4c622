import { fromBase64 } from '../../contract/base64.ts';
import type { MessageRow } from '../../store/rows.ts';
import { fieldsOf } from './compose-mail.ts';
import { CRLF } from './header.ts';
import { writeTrace } from './trace.ts';

/** How much of a raw mail is searched for its header, in characters of base64: 192 KiB of bytes. */
const MAX_HEADER_LENGTH = 256 * 1024;

/**
 * Returns the header fields of a message by lower-case name, unfolded; of fields with one name, that of the trace, or
 * else the last.
 */
export function readHeaders(message: MessageRow): Record<string, string> {
  const fields = message.raw === null ? fieldsOf(message) : splitHeader(message.raw);
  return readFields([...fields, ...writeTrace(message)]);
}

/** Returns the values of header fields by lower-case name, unfolded; of fields with one name, the last. */
export function readFields(fields: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    fields.flatMap((field): [string, string][] => {
      const [, name, value] = /^([!-9;-~]+):\s*(.*)$/s.exec(field.replace(/\r?\n(?=[ \t])/g, '')) ?? [];
      return name === undefined || value === undefined ? [] : [[name.toLowerCase(), value.trim()]];
    }),
  );
}

/** Splits the header of a raw mail, in base64, into its fields. */
function splitHeader(raw: string): string[] {
  const text = new TextDecoder().decode(fromBase64(raw.slice(0, MAX_HEADER_LENGTH))).replace(/\r?\n/g, CRLF);
  const [header = ''] = text.split(CRLF + CRLF, 1);
  return header.split(/\r\n(?![ \t])/);
}
