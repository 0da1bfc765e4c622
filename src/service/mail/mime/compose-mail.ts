import { toBase64 } from '../../../basics/base64.ts';
import { formatAddress, isIncomingAddress, parseAddress } from '../../../contract/email-address.ts';
import type { AttachmentRow, MessageRow } from '../../../world/store/rows.ts';
import { CRLF, formatDate, headersWithoutTrace, isPlain, toWords, writeField } from './header.ts';
import { filePart, type MimePart, multipart, partTypeOf, textPart, writePart } from './mime-part.ts';

/**
 * Writes a message as RFC 5322 with MIME parts: text, then HTML, then attachments. Bcc is left out. The same message
 * gives the same bytes every time; a message that was received as raw bytes gives those bytes.
 */
export function composeMail(message: MessageRow, attachments: readonly AttachmentRow[]): Uint8Array<ArrayBuffer> {
  if (message.raw !== null) return message.raw;
  const { head, content } = contentOf(message, attachments);
  return new TextEncoder().encode(writePart({ head: [...fieldsOf(message), 'MIME-Version: 1.0', ...head], content }));
}

/** Writes the same after the fields of a trace. */
export function composeWithTrace(
  trace: readonly string[],
  message: MessageRow,
  attachments: readonly AttachmentRow[],
): Uint8Array<ArrayBuffer> {
  const head = new TextEncoder().encode(trace.map((field) => field + CRLF).join(''));
  const mail = composeMail(message, attachments);
  const bytes = new Uint8Array(head.length + mail.length);
  bytes.set(head);
  bytes.set(mail, head.length);
  return bytes;
}

/** The part of a message that its header fields are written from. */
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

/** Writes the header fields of a message that was not received as raw bytes, each folded. */
export function fieldsOf(message: MailHeader): string[] {
  const fields: [name: string, words: string[]][] = [
    ['From', message.from === '' ? [] : toAddresses([message.from])],
    ['To', toAddresses(message.to)],
    ['Cc', toAddresses(message.cc)],
    ['Reply-To', toAddresses(message.replyTo === null ? [] : [message.replyTo])],
    ['Subject', message.subject === '' ? [] : toWords(message.subject)],
    ['Date', [formatDate(new Date(message.receivedAt))]],
    ['Message-ID', toMessageIds([message.messageIdHeader])],
    ['In-Reply-To', toMessageIds(message.inReplyTo === null ? [] : [message.inReplyTo])],
    ['References', toMessageIds(message.references)],
    ...Object.entries(headersWithoutTrace(message)).map(([name, value]): [string, string[]] => [name, toWords(value)]),
  ];
  return fields.filter(([, words]) => words.length > 0).map(([name, words]) => writeField(name, words));
}

function toAddresses(addresses: readonly string[]): string[] {
  return addresses.flatMap((address, index) => {
    const words = toAddress(address);
    return index < addresses.length - 1 ? [...words.slice(0, -1), `${words.at(-1)},`] : words;
  });
}

function toAddress(text: string): string[] {
  const parsed = parseAddress(text, isIncomingAddress);
  if (parsed === undefined) return toWords(text);
  const { name, address } = parsed;
  return name === '' || isPlain(name) ? formatAddress(parsed).split(' ') : [...toWords(name), `<${address}>`];
}

/** Adds missing angle brackets, because Message-IDs in a fixture may lack them, and splits off other characters. */
function toMessageIds(texts: readonly string[]): string[] {
  const ids = texts.flatMap((text) => text.split(/[^!-~]+/)).filter((id) => id !== '');
  return ids.map((id) => (/^<.*>$/.test(id) ? id : `<${id}>`));
}

function contentOf(message: MessageRow, attachments: readonly AttachmentRow[]): MimePart {
  const body = bodyOf(message);
  const files = attachments.map(({ contentType, filename, content }) =>
    filePart(partTypeOf(contentType), filename, toBase64(content)),
  );
  return files.length > 0 ? multipart('mixed', message.id, [body, ...files]) : body;
}

function bodyOf({ id, plainBody, htmlBody }: MessageRow): MimePart {
  if (htmlBody === null) return textPart('text/plain', plainBody);
  const html = textPart('text/html', htmlBody);
  return plainBody === '' ? html : multipart('alternative', id, [textPart('text/plain', plainBody), html]);
}
