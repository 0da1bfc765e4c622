import { toBase64 } from '../../../basics/base64.ts';
import type { AttachmentRow, MessageRow } from '../../../world/store/rows.ts';
import { CRLF, isLong, LINE_LENGTH, writeField, writeHeaderFields } from './header.ts';

/**
 * Writes a message as RFC 5322 with MIME parts: text, then HTML, then attachments. Bcc is left out. The same message
 * gives the same bytes every time; a message that was received as raw bytes gives those bytes. If `trace` is given, the
 * mail begins with these fields, and the result is always a copy. Otherwise, the result may be `raw` of the message
 * itself.
 */
export function composeMail(message: MessageRow, attachments: readonly AttachmentRow[], trace?: readonly string[]) {
  const mail = message.raw ?? compose(message, attachments);
  if (!trace) return mail;
  const head = new TextEncoder().encode(trace.map((field) => field + CRLF).join(''));
  const bytes = new Uint8Array(head.length + mail.length);
  bytes.set(head);
  bytes.set(mail, head.length);
  return bytes;
}

function compose(message: MessageRow, attachments: readonly AttachmentRow[]): Uint8Array<ArrayBuffer> {
  const body = bodyOf(message);
  const files = attachments.map(({ contentType, filename, content }) =>
    filePart(partTypeOf(contentType), filename, toBase64(content)),
  );
  const { head, content } = files.length > 0 ? multipart('mixed', message.id, [body, ...files]) : body;
  const mail = writePart({ head: [...writeHeaderFields(message), 'MIME-Version: 1.0', ...head], content });
  return new TextEncoder().encode(mail);
}

function bodyOf({ id, plainBody, htmlBody }: MessageRow): ComposedPart {
  if (htmlBody === null) return textPart('text/plain', plainBody);
  const html = textPart('text/html', htmlBody);
  return plainBody === '' ? html : multipart('alternative', id, [textPart('text/plain', plainBody), html]);
}

/** A part of a mail to write: its header lines and its encoded content. */
export interface ComposedPart {
  readonly head: readonly string[];
  readonly content: string;
}

/** Creates a text part in quoted-printable, in which ASCII stays readable. */
export function textPart(type: string, text: string): ComposedPart {
  return {
    head: [`Content-Type: ${type}; charset=utf-8`, 'Content-Transfer-Encoding: quoted-printable'],
    content: text
      .split(/\r\n|\r|\n/)
      .map(toQuotedPrintable)
      .join(CRLF),
  };
}

/** Encodes one line of text, with soft line breaks if it is long (RFC 2045, section 6.7). */
function toQuotedPrintable(line: string): string {
  const quoted = line.replace(/[^\t -<>-~]+|[\t ]$/gu, quoteBytes);
  const lines: string[] = [];
  for (let start = 0; start === 0 || start < quoted.length; ) {
    const end = start + LINE_LENGTH - 1;
    // The three characters of a quoted byte must stay together.
    const equalsIndex = end < quoted.length ? quoted.slice(end - 2, end).indexOf('=') : -1;
    const lineEnd = equalsIndex < 0 ? end : end - 2 + equalsIndex;
    lines.push(quoted.slice(start, lineEnd));
    start = lineEnd;
  }
  return lines.join(`=${CRLF}`);
}

function quoteBytes(text: string): string {
  const bytes = new TextEncoder().encode(text);
  return Array.from(bytes, (byte) => `=${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
}

/** Creates a part for a file from its base64 content. */
export function filePart(type: string, filename: string, base64: string): ComposedPart {
  return {
    head: [
      writeField('Content-Type', type.split(' ')),
      writeField('Content-Disposition', ['attachment;', ...fileNameParameters(filename)]),
      'Content-Transfer-Encoding: base64',
    ],
    content: (base64.match(/.{1,76}/g) ?? []).join(CRLF),
  };
}

/** Writes the parameters for a file name. A name that is long or has special characters is encoded (RFC 2231). */
function fileNameParameters(filename: string): string[] {
  if (/^[\w.-]+(?: [\w.-]+)*$/.test(filename) && !isLong(filename)) return [`filename="${filename}"`];
  const encoded = filename.replace(/[^A-Za-z0-9._-]/gu, (character) => quoteBytes(character).replaceAll('=', '%'));
  const pieces = `utf-8''${encoded}`.match(/(?:%..|[^%]){1,18}/g) ?? [];
  return pieces.map((piece, index) => `filename*${index}*=${piece}${index < pieces.length - 1 ? ';' : ''}`);
}

/**
 * Creates a part that contains other parts. The other parts must be encoded or ASCII. None of their lines can equal the
 * boundary, because no encoding produces `=_`.
 */
export function multipart(
  kind: 'mixed' | 'alternative' | 'report',
  id: string,
  parts: readonly ComposedPart[],
  parameters: readonly string[] = [],
): ComposedPart {
  const boundary = `=_${kind}_${id}`;
  // An empty part has no blank line after its header, because parsers would read that line as a part of the content.
  const write = (part: ComposedPart) => (part.content === '' ? part.head.join(CRLF) + CRLF : writePart(part));
  const written = parts.map((part) => `--${boundary}${CRLF}${write(part)}${CRLF}`).join('');
  return {
    head: [writeField('Content-Type', [`multipart/${kind};`, ...parameters, `boundary="${boundary}"`])],
    content: `${written}--${boundary}--${CRLF}`,
  };
}

/** Writes a part with its header. */
export function writePart({ head, content }: ComposedPart): string {
  return [...head, '', content].join(CRLF);
}

/** Replaces a media type that cannot be used. */
const BINARY = 'application/octet-stream';

/**
 * Returns the media type that a sender gave, if it is valid and safe in a header; otherwise `application/octet-stream`.
 */
export function mediaTypeOf(contentType: string): string {
  return /^[\w.+-]+\/[\w.+-]+(?:;[\x20-\x7e]*)?$/.test(contentType) && contentType.length <= 200 ? contentType : BINARY;
}

/** Returns the media type of a file in base64, which must not be `multipart` or `message` (RFC 2045, section 6.4). */
function partTypeOf(contentType: string): string {
  return /^(?:multipart|message)\//i.test(contentType) ? BINARY : mediaTypeOf(contentType);
}
