import { toBase64 } from '../../../basics/base64.ts';
import type { AttachmentRow, MessageRow } from '../../../world/store/rows.ts';
import { CRLF, fieldsOf } from './header.ts';
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
