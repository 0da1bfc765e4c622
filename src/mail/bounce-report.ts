import type { AttachmentRow, MessageRow } from '../store/rows.ts';
import {
  bodyOf,
  type FailureReport,
  findStatusCode,
  isMailSystem,
  isNullSender,
  readFreeText,
  UNKNOWN_STATUS,
} from './bounce-text.ts';
import { readFields, readHeaders } from './mime/read-headers.ts';

/** What a report of a failed delivery says. */
export interface BounceReport extends FailureReport {
  /** The Message-IDs that the mail can have, the most certain first. */
  readonly messageIds: readonly string[];
}

/**
 * Reads an inbound message as a report of a failed delivery: by RFC 3464, or in free text. Returns `undefined` for any
 * other message, also for a report of a delay, of a success, or that a mail was read.
 */
export function readBounceReport(
  message: MessageRow,
  listFiles: () => readonly AttachmentRow[],
): BounceReport | undefined {
  // Mail between inboxes of this emulator has neither.
  if (message.raw === null && message.headers === null) return undefined;
  const headers = readHeaders(message);
  const isReport = /^multipart\/report\b/i.test(headers['content-type'] ?? '');
  if (!isReport && !isNullSender(headers) && !isMailSystem(message)) return undefined;
  const files = listFiles();
  const status = files.find(({ contentType }) => /^message\/(?:global-)?delivery-status/i.test(contentType));
  if (!status && isReport) return undefined;
  const returned = files.filter(({ contentType }) => RETURNED_TYPE.test(contentType));
  const report = status ? readStatus(textOf(status)) : readFreeText(message, headers, returned.length > 0);
  return report && { ...report, messageIds: findMessageIds(message, returned) };
}

/** The media types of a returned mail, or of its header. */
const RETURNED_TYPE = /^(?:message\/(?:rfc822|global)|text\/rfc822-headers|message\/global-headers)\b/i;

function textOf({ content }: AttachmentRow): string {
  return new TextDecoder().decode(content);
}

/** Reads the failures from a status for programs: `undefined` if it names none (RFC 3464, section 2.3). */
function readStatus(text: string): FailureReport | undefined {
  const failures = text
    .split(/(?:\r?\n){2,}/)
    .map((group) => readFields(group.split(/\r?\n(?![ \t])/)))
    .filter(({ action }) => /^failed\b/i.test(action ?? ''))
    .map((fields) => ({
      recipient: readTypedAddress(fields['original-recipient'] ?? fields['final-recipient'] ?? ''),
      statusCode: findStatusCode(fields.status ?? '') ?? UNKNOWN_STATUS,
    }));
  return failures.length > 0 ? { failures, isExact: true, statusCode: UNKNOWN_STATUS } : undefined;
}

/** Reads an address with its type, such as `rfc822; dana@customer.test`, or one escaped as RFC 6533 says. */
function readTypedAddress(field: string): string {
  const address = field
    .replace(/^[^;]*;/, '')
    .trim()
    .replace(/^<(.*)>$/, '$1');
  return address.replace(/\\x\{([0-9a-f]{1,6})\}/gi, (escaped, hex: string) => {
    const code = Number.parseInt(hex, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : escaped;
  });
}

/** Finds the Message-ID of the returned mail, then those that the report answers, then those in its text. */
function findMessageIds(message: MessageRow, returned: readonly AttachmentRow[]): string[] {
  const texts = [...returned.map((file) => textOf(file).split(/\r?\n\r?\n/, 1)[0] ?? ''), bodyOf(message)];
  const [fromFiles, fromText] = [texts.slice(0, -1), texts.slice(-1)].map((parts) =>
    parts.flatMap((text) => Array.from(text.matchAll(/^message-id:\s*(<[^<>\s]+>)/gim), ([, id = '']) => id)),
  );
  const { inReplyTo, references } = message;
  return [
    ...(fromFiles ?? []),
    ...(inReplyTo === null ? [] : [inReplyTo]),
    ...references.toReversed(),
    ...(fromText ?? []),
  ];
}
