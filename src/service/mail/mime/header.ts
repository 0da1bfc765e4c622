import { toBase64 } from '../../../basics/base64.ts';
import { NAME } from '../../../basics/version.ts';
import type { ReadBehaviour } from '../../../contract/behaviours.ts';
import { DEFAULT_DOMAIN, domainOf } from '../../../contract/email-address.ts';
import type { MailAuth } from '../../../contract/mail-envelope.ts';
import type { MessageRow } from '../../../world/store/rows.ts';

/** The line ending of a mail. */
export const CRLF = '\r\n';

/** The maximum length of a line; only a word that cannot be broken may be longer. */
export const LINE_LENGTH = 76;

/** The maximum length of a word without encoding, so that it fits on a line with its field name. */
const WORD_LENGTH = 50;

/** The maximum size of the content of an encoded word, so that it fits on such a line too. */
const ENCODED_WORD_BYTES = 39;

/** Writes a header field, folded between its words. */
export function writeField(name: string, words: readonly string[]): string {
  const [first = '', ...rest] = words;
  const lines = [`${name}: ${first}`];
  for (const word of rest) {
    const line = `${lines.at(-1)} ${word}`;
    if (line.length > LINE_LENGTH) lines.push(` ${word}`);
    else lines[lines.length - 1] = line;
  }
  return lines.join(CRLF);
}

/** Writes a time as a header field has it. */
export function formatDate(date: Date): string {
  return date.toUTCString().replace('GMT', '+0000');
}

/** Splits a text into words for a header field; encodes it unless the plain text is valid and unambiguous there. */
export function toWords(text: string): string[] {
  return isPlain(text) ? text.split(' ') : toEncodedWords(text);
}

/** Returns whether a text needs no encoding in a header field: short ASCII words with single spaces between them. */
export function isPlain(text: string): boolean {
  return /^[!-~]+(?: [!-~]+)*$/.test(text) && !text.includes('=?') && !text.split(' ').some(isLong);
}

/** Returns whether a word is too long for a line with its field name. */
export function isLong(word: string): boolean {
  return word.length > WORD_LENGTH;
}

/** Encodes a text as words of RFC 2047 without splitting a character. */
function toEncodedWords(text: string): string[] {
  const encoder = new TextEncoder();
  const words = [''];
  for (const character of text) {
    const longer = words.at(-1) + character;
    if (encoder.encode(longer).byteLength > ENCODED_WORD_BYTES) words.push(character);
    else words[words.length - 1] = longer;
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

/** Creates the trace of a mail (RFC 5321, section 4.4, and RFC 8601). `fromAddress` is the bare address in From. */
export function createTrace({ from, to, auth }: Envelope, fromAddress: string, at: Date): Trace {
  // RFC 8601 demands the name of the server that checked; the comment says that it is this emulator.
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

/** Writes the trace of a message, each field folded; nothing if the message came without an envelope. */
export function writeTrace({ headers }: Pick<MessageRow, 'headers'>): string[] {
  return TRACE_FIELDS.flatMap((name) => {
    const value = headers?.[name];
    return value === undefined ? [] : [writeField(name, value.split(' '))];
  });
}

const SHOWN_TRACES = { shown: writeTrace, hidden: (): string[] => [] };

/** Writes the trace that the raw form of a message begins with; nothing under `messages.raw.trace=hidden`. */
export function writeShownTrace(message: Pick<MessageRow, 'headers'>, readBehaviour: ReadBehaviour): string[] {
  return writeTrace(message).length === 0 ? [] : SHOWN_TRACES[readBehaviour('messages.raw.trace')](message);
}

/** Returns the further header fields of a message without its trace. */
export function headersWithoutTrace({ headers }: Pick<MessageRow, 'headers'>): Record<string, string> {
  const trace: readonly string[] = TRACE_FIELDS;
  return Object.fromEntries(Object.entries(headers ?? {}).filter(([name]) => !trace.includes(name)));
}
