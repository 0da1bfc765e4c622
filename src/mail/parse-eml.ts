import type { Address, Attachment, Email } from 'postal-mime';
import { countBytes, toBase64 } from '../contract/base64.ts';
import {
  formatAddress,
  isIncomingAddress,
  MAX_ADDRESS_LENGTH,
  MAX_ADDRESSES,
  parseAddress,
} from '../contract/email-address.ts';
import { ApiError } from '../contract/errors.ts';
import { MAIL_LIMITS } from '../contract/incoming-message.ts';
import { MAX_SUBJECT_LENGTH } from '../contract/operations/sending.ts';
import { cut } from './cut.ts';
import { repairMail } from './mime/repair-mail.ts';
import { toUtf8Header } from './mime/utf8-header.ts';
import { repairWindows1252 } from './mime/windows-1252.ts';
import type { IncomingMail } from './receive-mail.ts';
import type { AttachedFile } from './store-message.ts';

/** A parsed mail, with every recipient that its header names. */
export interface ParsedMail {
  readonly mail: Omit<IncomingMail, 'raw' | 'headers'>;
  readonly recipients: readonly string[];
  /** The address in Delivered-To, which a mail server added; empty if there is none. */
  readonly deliveredTo: readonly string[];
  /** The value of the Date field, as ISO 8601 if it is a date; `undefined` if there is none. */
  readonly date: string | undefined;
}

/**
 * Parses an RFC 5322 message with MIME parts. Each part is cut to the limits of a composed mail. A sender that is
 * missing is empty, and a Message-ID that is missing is the given one.
 *
 * @throws {ApiError} VALIDATION_ERROR if it cannot be parsed.
 */
export async function parseEml(bytes: Uint8Array, fallbackId: string): Promise<ParsedMail> {
  const parsed = await parse(toUtf8Header(repairMail(bytes)));
  const [from = ''] = toAddresses([parsed.from ?? [], parsed.sender ?? []].flat());
  const [to, cc, bcc] = [toAddresses(parsed.to), toAddresses(parsed.cc), toAddresses(parsed.bcc)];
  return {
    recipients: [...to, ...cc, ...bcc],
    deliveredTo: parsed.deliveredTo === undefined ? [] : [parsed.deliveredTo],
    date: parsed.date,
    mail: {
      from,
      to: to.slice(0, MAX_ADDRESSES),
      cc: cc.slice(0, MAX_ADDRESSES),
      replyTo: toAddresses(parsed.replyTo)[0] ?? null,
      subject: cut(toSingleLine(parsed.subject || writtenSubject(parsed)), MAX_SUBJECT_LENGTH),
      plainBody: cut(repairWindows1252(parsed.text ?? ''), MAIL_LIMITS.body),
      htmlBody: parsed.html === undefined ? null : cut(repairWindows1252(parsed.html), MAIL_LIMITS.body),
      messageIdHeader: findIds(parsed.messageId)[0] ?? fallbackId,
      inReplyTo: findIds(parsed.inReplyTo)[0] ?? null,
      references: findIds(parsed.references).slice(-MAIL_LIMITS.references),
      attachments: parsed.attachments.slice(0, MAIL_LIMITS.attachments).map(toFile),
    },
  };
}

/** Returns the subject as it is written, for one that cannot be decoded. */
function writtenSubject({ headers }: Pick<Email, 'headers'>): string {
  return headers.find(({ key }) => key === 'subject')?.value ?? '';
}

/** The names of files that come without a name. */
const FILE_NAMES: Readonly<Record<string, string>> = {
  'message/rfc822': 'message.eml',
  'message/global': 'message.eml',
  'message/delivery-status': 'delivery-status.txt',
  'text/rfc822-headers': 'headers.txt',
  'text/calendar': 'invite.ics',
  'application/ms-tnef': 'winmail.dat',
};

/** Returns the name of a file of a mail that comes without a name. */
export function fileNameOf(mediaType: string): string {
  return FILE_NAMES[mediaType] ?? 'attachment';
}

function toFile({ filename, mimeType, method, content }: Attachment): AttachedFile {
  const file = typeof content === 'string' ? new TextEncoder().encode(content) : new Uint8Array(content);
  // The parser replaces the line breaks of parts without encoding.
  const base64 = mimeType === 'message/rfc822' ? withWindowsNewlines(toBase64(file)) : toBase64(file);
  const name = cut(toSingleLine(filename ?? ''), MAIL_LIMITS.filename);
  const type = method === undefined ? mimeType : `${mimeType}; method=${method}`;
  return {
    filename: name || fileNameOf(mimeType),
    contentType: cut(type, MAIL_LIMITS.contentType),
    content: base64,
    sizeBytes: countBytes(base64),
  };
}

function withWindowsNewlines(base64: string): string {
  return btoa(atob(base64).replace(/\r?\n/g, '\r\n'));
}

/** Returns the display forms of all valid addresses; a group is replaced by its members. */
function toAddresses(addresses: readonly Address[] = []): string[] {
  return addresses
    .flatMap((each) => (each.group ? each.group : [each]))
    .flatMap(({ name, address = '' }) => {
      const forms = [formatAddress({ name: toSingleLine(name), address }), address];
      return (
        forms.find(
          (text) => text.length <= MAX_ADDRESS_LENGTH && parseAddress(text, isIncomingAddress) !== undefined,
        ) ?? []
      );
    });
}

/** Parses a mail. The parser is loaded for the first one, because many processes receive none. */
async function parse(bytes: Uint8Array) {
  const { default: PostalMime } = await import('postal-mime');
  try {
    return await PostalMime.parse(bytes, { attachmentEncoding: 'arraybuffer', forceRfc822Attachments: true });
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
  return repairWindows1252(text).replace(/[\r\n\0]+/g, ' ');
}
