import type { Address } from 'postal-mime';
import { toBase64 } from '../contract/base64.ts';
import { formatAddress, MAX_ADDRESS_LENGTH, MAX_ADDRESSES, parseAddress } from '../contract/email-address.ts';
import { ApiError } from '../contract/errors.ts';
import { MAIL_LIMITS } from '../contract/incoming-message.ts';
import { MAX_SUBJECT_LENGTH } from '../contract/operations/sending.ts';
import { cut } from './cut.ts';
import type { IncomingMail } from './receive-mail.ts';

/** A parsed mail, with every recipient that its header names. */
export interface ParsedMail {
  readonly mail: Omit<IncomingMail, 'raw'>;
  readonly recipients: readonly string[];
}

/**
 * Parses an RFC 5322 message with MIME parts. Each part is cut to the limits of a composed mail.
 *
 * @throws {ApiError} VALIDATION_ERROR if it cannot be parsed or From has no valid address.
 */
export async function parseEml(bytes: Uint8Array, fallbackId: string): Promise<ParsedMail> {
  const parsed = await parse(bytes);
  const [from] = toAddresses(parsed.from ? [parsed.from] : []);
  if (from === undefined) throw new ApiError('VALIDATION_ERROR', 'The message has no From with an e-mail address.');
  const [to, cc, bcc] = [toAddresses(parsed.to), toAddresses(parsed.cc), toAddresses(parsed.bcc)];
  return {
    recipients: [...to, ...cc, ...bcc],
    mail: {
      from,
      to: to.slice(0, MAX_ADDRESSES),
      cc: cc.slice(0, MAX_ADDRESSES),
      replyTo: toAddresses(parsed.replyTo)[0] ?? null,
      subject: cut(toSingleLine(parsed.subject ?? ''), MAX_SUBJECT_LENGTH),
      plainBody: cut(parsed.text ?? '', MAIL_LIMITS.body),
      htmlBody: parsed.html === undefined ? null : cut(parsed.html, MAIL_LIMITS.body),
      messageIdHeader: findIds(parsed.messageId)[0] ?? fallbackId,
      inReplyTo: findIds(parsed.inReplyTo)[0] ?? null,
      references: findIds(parsed.references).slice(-MAIL_LIMITS.references),
      headers: null,
      attachments: parsed.attachments.slice(0, MAIL_LIMITS.attachments).map(({ filename, mimeType, content }) => {
        const file = typeof content === 'string' ? new TextEncoder().encode(content) : new Uint8Array(content);
        return {
          filename: cut(toSingleLine(filename ?? ''), MAIL_LIMITS.filename) || 'attachment',
          contentType: cut(mimeType, MAIL_LIMITS.contentType),
          content: toBase64(file),
          sizeBytes: file.byteLength,
        };
      }),
    },
  };
}

/** Returns the display forms of all valid addresses; a group is replaced by its members. */
function toAddresses(addresses: readonly Address[] = []): string[] {
  return addresses
    .flatMap((each) => (each.group ? each.group : [each]))
    .flatMap(({ name, address = '' }) => {
      const forms = [formatAddress({ name: toSingleLine(name), address }), address];
      return forms.find((text) => text.length <= MAX_ADDRESS_LENGTH && parseAddress(text) !== undefined) ?? [];
    });
}

/** Parses a mail. The parser is loaded for the first one, because many processes receive none. */
async function parse(bytes: Uint8Array) {
  const { default: PostalMime } = await import('postal-mime');
  try {
    return await PostalMime.parse(bytes, { attachmentEncoding: 'arraybuffer' });
  } catch {
    throw new ApiError(
      'VALIDATION_ERROR',
      'The message cannot be parsed: its headers are too large or its parts are nested too deeply.',
    );
  }
}

/** Finds the Message-IDs in a header field. */
function findIds(field = ''): string[] {
  return (field.match(/<[^<>\s]+>/g) ?? []).filter((id) => id.length <= MAIL_LIMITS.messageId);
}

/** Replaces line breaks, which decoded header fields may contain. */
function toSingleLine(text: string): string {
  return text.replace(/[\r\n\0]+/g, ' ');
}
