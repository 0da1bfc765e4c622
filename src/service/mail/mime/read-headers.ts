import type { MessageRow } from '../../../world/store/rows.ts';
import { fieldsOf } from './compose-mail.ts';
import { CRLF, writeTrace } from './header.ts';

/** How much of a raw mail is searched for its header. */
const MAX_HEADER_BYTES = 192 * 1024;

/**
 * Returns the header fields of a message by lower-case name, unfolded; of fields with one name, that of the trace, or
 * else the last.
 */
export function readHeaders(message: MessageRow): Record<string, string> {
  const { raw } = message;
  const own = raw === null ? fieldsOf(message) : splitHeader(raw);
  return readFields([...own, ...writeTrace(message)]);
}

/** A header field of a message. */
export interface HeaderField {
  /** The name, as the mail writes it. */
  readonly name: string;
  /** The value, unfolded. */
  readonly value: string;
  /** Whether it is part of the trace that the emulator puts before a mail, as a receiving server does. */
  readonly isTrace: boolean;
}

/** Returns every header field of the raw form of a mail, in order: the fields of the trace, then those of the mail. */
export function listHeaders(trace: readonly string[], mail: Uint8Array): HeaderField[] {
  return [...splitFields(trace, true), ...splitFields(splitHeader(mail))];
}

/** Returns the values of header fields by lower-case name, unfolded; of fields with one name, the last. */
export function readFields(fields: readonly string[]): Record<string, string> {
  return Object.fromEntries(splitFields(fields).map(({ name, value }) => [name.toLowerCase(), value]));
}

/** Reads header fields; what is none is left out. */
export function splitFields(fields: readonly string[], isTrace = false): HeaderField[] {
  return fields.flatMap((field) => {
    const [, name, value] = /^([!-9;-~]+)[ \t]*:\s*(.*)$/s.exec(field.replace(/\r?\n(?=[ \t])/g, '')) ?? [];
    return name === undefined || value === undefined ? [] : [{ name, value: value.trim(), isTrace }];
  });
}

/** Splits the header of a raw mail, or of its first part, into its fields. */
function splitHeader(mail: Uint8Array): string[] {
  const bytes = repairLineEnds(mail.subarray(0, MAX_HEADER_BYTES));
  const text = new TextDecoder().decode(bytes).replace(/\r?\n/g, CRLF);
  const [header = ''] = text.split(CRLF + CRLF, 1);
  return header.split(/\r\n(?![ \t])/);
}

const [LF, CR] = [0x0a, 0x0d];

/** Makes CR a line end of a mail that has no LF. */
export function repairLineEnds(mail: Uint8Array): Uint8Array {
  return mail.includes(LF) ? mail : mail.map((byte) => (byte === CR ? LF : byte));
}
