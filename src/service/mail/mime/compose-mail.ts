import { toBase64 } from '../../../basics/base64.ts';
import type { AttachmentRow, MessageRow } from '../../../world/store/rows.ts';
import { CRLF, fieldsOf } from './header.ts';
import { filePart, type MimePart, multipart, partTypeOf, textPart, writePart } from './mime-part.ts';

/**
 * Writes a message as RFC 5322 with MIME parts: text, then HTML, then attachments. Bcc is left out. The same message
 * gives the same bytes every time; a message that was received as raw bytes gives those bytes. With a trace, even an
 * empty one, its fields come first, and the result is a copy: without one, it may be what the message shares.
 */
export function composeMail(
  message: MessageRow,
  attachments: readonly AttachmentRow[],
  trace?: readonly string[],
): Uint8Array<ArrayBuffer> {
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
  return new TextEncoder().encode(writePart({ head: [...fieldsOf(message), 'MIME-Version: 1.0', ...head], content }));
}

function bodyOf({ id, plainBody, htmlBody }: MessageRow): MimePart {
  if (htmlBody === null) return textPart('text/plain', plainBody);
  const html = textPart('text/html', htmlBody);
  return plainBody === '' ? html : multipart('alternative', id, [textPart('text/plain', plainBody), html]);
}
