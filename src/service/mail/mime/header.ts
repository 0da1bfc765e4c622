import { toBase64 } from '../../../basics/base64.ts';
import { NAME } from '../../../basics/version.ts';
import { DEFAULT_DOMAIN, domainOf, formatAddress, parseAddress } from '../../../contract/addresses/email-address.ts';
import type { ReadBehaviour } from '../../../contract/behaviours.ts';
import type { MailAuth } from '../../../contract/mail-envelope.ts';
import type { MessageRow } from '../../../world/store/rows.ts';

/** The line ending of a mail. */
export const CRLF = '\r\n';

/** The maximum length of a line. Only a line with a word that cannot be broken may be longer. */
export const LINE_LENGTH = 76;

/** The maximum length of a word without encoding, so that it fits on a line with its field name. */
const WORD_LENGTH = 50;

/** The maximum size of the content of an encoded word, so that the encoded word fits on a line with its field name. */
const ENCODED_WORD_BYTES = 39;

/** The columns of a message from which its header fields are written. */
export type MailHeader = Pick<
  MessageRow,
  | 'from'
  | 'to'
  | 'cc'
  | 'replyTo'
  | 'subject'
  | 'receivedAt'
  | 'messageIdHeader'
  | 'inReplyTo'
  | 'references'
  | 'headers'
>;

/** Writes the header fields of a message that was not received as raw bytes. Each field is folded. */
export function writeHeaderFields(message: MailHeader): string[] {
  const fields: [name: string, words: string[]][] = [
    ['From', message.from === '' ? [] : addressesToWords([message.from])],
    ['To', addressesToWords(message.to)],
    ['Cc', addressesToWords(message.cc)],
    ['Reply-To', addressesToWords(message.replyTo === null ? [] : [message.replyTo])],
    ['Subject', message.subject === '' ? [] : toWords(message.subject)],
    ['Date', [formatDate(new Date(message.receivedAt))]],
    ['Message-ID', toMessageIds([message.messageIdHeader])],
    ['In-Reply-To', toMessageIds(message.inReplyTo === null ? [] : [message.inReplyTo])],
    ['References', toMessageIds(message.references)],
    ...Object.entries(headersWithoutTrace(message)).map(([name, value]): [string, string[]] => [name, toWords(value)]),
  ];
  return fields.filter(([, words]) => words.length > 0).map(([name, words]) => writeField(name, words));
}

function addressesToWords(addresses: readonly string[]): string[] {
  return addresses.flatMap((address, index) => {
    const words = addressToWords(address);
    return index < addresses.length - 1 ? [...words.slice(0, -1), `${words.at(-1)},`] : words;
  });
}

function addressToWords(text: string): string[] {
  const parsed = parseAddress(text, (address) => address !== '');
  if (parsed === undefined) return toWords(text);
  const { name, address } = parsed;
  return name === '' || isPlain(name) ? formatAddress(parsed).split(' ') : [...toWords(name), `<${address}>`];
}

/**
 * Splits texts into Message-IDs at spaces and at characters that are not ASCII. Adds missing angle brackets, because
 * Message-IDs in a fixture may lack them.
 */
export function toMessageIds(texts: readonly string[]): string[] {
  const ids = texts.flatMap((text) => text.split(/[^!-~]+/)).filter((id) => id !== '');
  return ids.map((id) => (/^<.*>$/.test(id) ? id : `<${id}>`));
}

/** Writes a header field, folded between its words. */
export function writeField(name: string, words: readonly string[]): string {
  const [firstWord = '', ...furtherWords] = words;
  const lines = [`${name}: ${firstWord}`];
  for (const word of furtherWords) {
    const line = `${lines.at(-1)} ${word}`;
    if (line.length > LINE_LENGTH) lines.push(` ${word}`);
    else lines[lines.length - 1] = line;
  }
  return lines.join(CRLF);
}

/** Writes a time in the format of the Date field. */
export function formatDate(date: Date): string {
  return date.toUTCString().replace('GMT', '+0000');
}

/** Splits a text into words for a header field. Encodes a text that would be invalid or ambiguous without encoding. */
export function toWords(text: string): string[] {
  return isPlain(text) ? text.split(' ') : toEncodedWords(text);
}

/** Returns whether a text needs no encoding in a header field: short ASCII words with one space between two words. */
export function isPlain(text: string): boolean {
  return /^[!-~]+(?: [!-~]+)*$/.test(text) && !text.includes('=?') && !text.split(' ').some(isLong);
}

/** Returns whether a word is too long for a line with its field name. */
export function isLong(word: string): boolean {
  return word.length > WORD_LENGTH;
}

/** Encodes a text as encoded words (RFC 2047). No character is split between two words. */
function toEncodedWords(text: string): string[] {
  const encoder = new TextEncoder();
  const words = [''];
  let size = 0;
  for (const character of text) {
    const bytes = character < '\x80' ? 1 : encoder.encode(character).byteLength;
    size += bytes;
    if (size <= ENCODED_WORD_BYTES) words[words.length - 1] += character;
    else {
      words.push(character);
      size = bytes;
    }
  }
  return words.map((word) => `=?UTF-8?B?${toBase64(encoder.encode(word))}?=`);
}

/** The envelope of a mail for one inbox. */
interface Envelope {
  /** The bare address of the sender; empty for the null sender. */
  readonly from: string;
  /** The bare address of the recipient. */
  readonly to: string;
  readonly auth: MailAuth;
}

/** The header fields that the emulator puts before a mail that came with an envelope, in this order. */
const TRACE_FIELDS = ['Return-Path', 'Authentication-Results', 'Received'] as const;

type Trace = Record<(typeof TRACE_FIELDS)[number], string>;

/**
 * Creates the trace of a mail: the header fields that a receiving server adds (RFC 5321, section 4.4, and RFC 8601).
 * `fromAddress` is the bare address in From.
 */
export function createTrace({ from, to, auth }: Envelope, fromAddress: string, at: Date): Trace {
  // RFC 8601 requires the name of the server that checked the mail. The part in parentheses is a comment.
  const server = `${DEFAULT_DOMAIN} (${NAME})`;
  const methods = [
    ['spf', auth.spf, 'smtp.mailfrom', from],
    ['dkim', auth.dkim, 'header.d', domainOf(fromAddress)],
    ['dmarc', auth.dmarc, 'header.from', domainOf(fromAddress)],
  ] as const;
  const results = methods.flatMap(([method, result, property, value]) =>
    result === undefined ? [] : [`${method}=${result}${value === '' ? '' : ` ${property}=${value}`}`],
  );
  return {
    'Return-Path': `<${from}>`,
    'Authentication-Results': [server, ...(results.length > 0 ? results : ['none'])].join('; '),
    Received: `by ${server} for <${to}>; ${formatDate(at)}`,
  };
}

/** Writes the trace of a message, each field folded. Returns no fields if the message came without an envelope. */
export function writeTrace({ headers }: Pick<MessageRow, 'headers'>): string[] {
  return TRACE_FIELDS.flatMap((name) => {
    const value = headers?.[name];
    return value === undefined ? [] : [writeField(name, value.split(' '))];
  });
}

/**
 * Writes the trace with which the raw form of a message begins. Returns no fields if `messages.raw.trace` is `hidden`.
 */
export function writeTraceFields(message: Pick<MessageRow, 'headers'>, readBehaviour: ReadBehaviour): string[] {
  const trace = writeTrace(message);
  return trace.length === 0 || readBehaviour('messages.raw.trace') === 'shown' ? trace : [];
}

/** Returns the header fields in `headers` of a message that are not part of its trace. */
export function headersWithoutTrace({ headers }: Pick<MessageRow, 'headers'>): Record<string, string> {
  const trace: readonly string[] = TRACE_FIELDS;
  return Object.fromEntries(Object.entries(headers ?? {}).filter(([name]) => !trace.includes(name)));
}

/** How much of a raw mail is searched for its header. */
const MAX_HEADER_BYTES = 192 * 1024;

/**
 * Returns the values of the header fields of a message by lower-case name, unfolded. If several fields have the same
 * name, the last field is used. A field of the trace has priority over a field of the mail.
 */
export function readHeaders(message: MessageRow): Record<string, string> {
  const { raw } = message;
  const mailFields = raw === null ? writeHeaderFields(message) : splitRawHeader(raw);
  return readFields([...mailFields, ...writeTrace(message)]);
}

/** A header field of a message. */
export interface HeaderField {
  /** The name, as the mail writes it. */
  readonly name: string;
  /** The value, unfolded. */
  readonly value: string;
  /** Whether the field is part of the trace, which the emulator puts before a mail, as a receiving server does. */
  readonly isTrace: boolean;
}

/** Returns every header field of the raw form of a mail, in order: first the trace, then the fields of the mail. */
export function listHeaders(trace: readonly string[], mail: Uint8Array): HeaderField[] {
  return [...splitFields(trace, true), ...splitFields(splitRawHeader(mail))];
}

/**
 * Returns the unfolded values of header fields by lower-case name. The last of several fields with one name is used.
 */
export function readFields(fields: readonly string[]): Record<string, string> {
  return Object.fromEntries(splitFields(fields).map(({ name, value }) => [name.toLowerCase(), value]));
}

/** Splits each header field into its name and its unfolded value. A text that is not a header field is left out. */
export function splitFields(fields: readonly string[], isTrace = false): HeaderField[] {
  return fields.flatMap((field) => {
    const [, name, value] = /^([!-9;-~]+)[ \t]*:\s*(.*)$/s.exec(field.replace(/\r?\n(?=[ \t])/g, '')) ?? [];
    return name === undefined || value === undefined ? [] : [{ name, value: value.trim(), isTrace }];
  });
}

/** Splits the header of a raw mail into its fields. If the header is too long, reads only its beginning. */
function splitRawHeader(mail: Uint8Array): string[] {
  const bytes = repairLineEnds(mail.subarray(0, MAX_HEADER_BYTES));
  const text = new TextDecoder().decode(bytes).replace(/\r?\n/g, CRLF);
  const [header = ''] = text.split(CRLF + CRLF, 1);
  return header.split(/\r\n(?![ \t])/);
}

const [LF, CR] = [0x0a, 0x0d];

/**
 * Replaces each CR by LF in a mail without any LF, so that its lines can be found. An LF at the end does not count,
 * because SMTP ends each mail with CRLF.
 */
export function repairLineEnds(mail: Uint8Array): Uint8Array {
  const first = mail.indexOf(LF);
  return first >= 0 && first < mail.length - 1 ? mail : mail.map((byte) => (byte === CR ? LF : byte));
}
