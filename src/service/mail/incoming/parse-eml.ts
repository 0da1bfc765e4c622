import { cut } from '../../../basics/text.ts';
import {
  formatAddress,
  isIncomingAddress,
  MAX_ADDRESS_LENGTH,
  MAX_ADDRESSES,
  parseAddress,
  parseAddressList,
  toBareAddress,
} from '../../../contract/email-address.ts';
import { MAIL_LIMITS } from '../../../contract/incoming-message.ts';
import { MAX_SUBJECT_LENGTH } from '../../../contract/schemas.ts';
import type { MessageRow } from '../../../world/store/rows.ts';
import { type MailHeader, repairLineEnds } from '../mime/header.ts';
import { readContents } from '../mime/read-contents.ts';
import { decodeField, decodeWords, listFields, splitParts, toBinary, toSingleLine } from '../mime/split-parts.ts';
import type { AttachedFile } from '../store-message.ts';

/** A mail to store in an inbox. */
export interface IncomingMail
  extends Omit<MailHeader, 'receivedAt'>,
    Pick<MessageRow, 'plainBody' | 'htmlBody' | 'raw'> {
  readonly attachments: readonly AttachedFile[];
}

/** A parsed mail, with the recipients that its header names, at most 1,000 in each field. */
export interface ParsedMail {
  readonly mail: Omit<IncomingMail, 'raw' | 'headers'>;
  readonly recipients: readonly string[];
  /** The recipients in Bcc, at most as many as a mail may have. */
  readonly bcc: readonly string[];
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
export function parseEml(bytes: Uint8Array, fallbackId: string): ParsedMail {
  const text = toBinary(repairLineEnds(bytes));
  const parts = splitParts(text);
  const fields = listFields(parts[0]?.head ?? '').map(({ name, value }) => ({ name: name.toLowerCase(), value }));
  const first = (name: string) => fields.find((field) => field.name === name)?.value;
  const addresses = (values: readonly string[]) => toAddresses(decodeField(values.join('\n,'), text));
  const firstAddress = (name: string) => addresses([first(name) ?? '']).slice(0, 1);
  // A list of recipients may be in several fields.
  const list = (name: string) => addresses(fields.filter((field) => field.name === name).map(({ value }) => value));
  const [to, cc, bcc] = [list('to'), list('cc'), list('bcc')];
  const [from = ''] = [...firstAddress('from'), ...firstAddress('sender')];
  const subject = decodeField(first('subject') ?? '', text);
  return {
    recipients: [...to, ...cc, ...bcc],
    bcc: bcc.slice(0, MAX_ADDRESSES),
    deliveredTo: firstAddress('delivered-to').map(toBareAddress),
    date: readDate(first('date')),
    mail: {
      from,
      to: to.slice(0, MAX_ADDRESSES),
      cc: cc.slice(0, MAX_ADDRESSES),
      replyTo: list('reply-to')[0] ?? null,
      subject: cut(toSingleLine(decodeWords(subject) || subject), MAX_SUBJECT_LENGTH),
      ...readContents(parts, text),
      messageIdHeader: findIds(first('message-id'))[0] ?? fallbackId,
      inReplyTo: findIds(first('in-reply-to'))[0] ?? null,
      references: findIds(first('references')).slice(-MAIL_LIMITS.references),
    },
  };
}

/** Returns a date as ISO 8601, and any other text unchanged. */
function readDate(text: string | undefined): string | undefined {
  const date = new Date(text?.slice(0, 100) ?? '');
  return Number.isNaN(date.getTime()) ? text : date.toISOString();
}

/** Returns the display forms of all valid addresses of a list; a group is replaced by its members. */
function toAddresses(list: string): string[] {
  return parseAddressList(list).flatMap(({ name, address }) => {
    const forms = [formatAddress({ name: toSingleLine(name), address }), address];
    return (
      forms.find((text) => text.length <= MAX_ADDRESS_LENGTH && parseAddress(text, isIncomingAddress) !== undefined) ??
      []
    );
  });
}

/** Finds the Message-IDs in a header field. */
function findIds(field = ''): string[] {
  return (field.match(/<[^<>\s]+>/g) ?? []).filter((id) => id.length <= MAIL_LIMITS.messageId);
}
