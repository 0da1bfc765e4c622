import { fromBase64 } from '../contract/base64.ts';
import type { AttachmentRow, MessageRow } from '../store/rows.ts';
import { readFields, readHeaders } from './mime/read-headers.ts';

/** A recipient that did not get a mail. */
interface Failure {
  /** The bare address. */
  readonly recipient: string;
  /** The status code (RFC 3463), such as `5.1.1`. */
  readonly statusCode: string;
}

/** What a report of a failed delivery says. */
export interface BounceReport {
  /** The recipients that did not get the mail; none if a free text does not name them. */
  readonly failures: readonly Failure[];
  /** The Message-IDs that the mail can have, the most certain first. */
  readonly messageIds: readonly string[];
}

/** The status of a failure about which a report says nothing else. */
export const UNKNOWN_STATUS = { statusCode: '5.0.0' };

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
  if (!isReport && !isFromMailSystem(message, headers)) return undefined;
  const files = listFiles();
  const status = files.find(({ contentType }) => /^message\/(?:global-)?delivery-status/i.test(contentType));
  if (!status && isReport) return undefined;
  const failures = status ? readStatus(textOf(status)) : readFreeText(message, headers);
  return failures && { failures, messageIds: findMessageIds(message, files) };
}

type Headers = Readonly<Record<string, string>>;

function isFromMailSystem({ from, fromAddress, subject }: MessageRow, headers: Headers): boolean {
  return (
    headers['x-failed-recipients'] !== undefined ||
    (headers['return-path'] === '<>' && FAILURE.test(subject)) ||
    /^(?:mailer-daemon|postmaster|mail-?daemon)@/.test(fromAddress) ||
    /^"?mail delivery (?:sub)?system\b/i.test(from)
  );
}

function textOf({ content }: AttachmentRow): string {
  return new TextDecoder().decode(fromBase64(content));
}

/** Reads the failures from a status for programs: `undefined` if it names none (RFC 3464, section 2.3). */
function readStatus(text: string): Failure[] | undefined {
  const failures = text
    .split(/(?:\r?\n){2,}/)
    .map((group) => readFields(group.split(/\r?\n(?![ \t])/)))
    .filter(({ action }) => /^failed\b/i.test(action ?? ''))
    .map((fields) => ({
      recipient: readTypedAddress(fields['original-recipient'] ?? fields['final-recipient'] ?? ''),
      statusCode: findStatusCode(fields.status ?? '') ?? UNKNOWN_STATUS.statusCode,
    }));
  return failures.length > 0 ? failures : undefined;
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

const FAILURE =
  /undeliver|(?:not|n't|never) (?:be(?:en)? )?delivered|(?:delivery|message|mail)\b.{0,40}\bfail|failure notice|returned (?:mail|to sender)|permanent(?: fatal)? error|does ?n[o']t exist|\b5\.\d{1,3}\.\d{1,3}\b/i;

/** What a mail system writes about a mail that it still tries to deliver, or that it has delivered. */
const NO_FAILURE =
  /\bdelay|\bwarning\b|not yet been delivered|(?:keep|continue) (?:on )?trying|will (?:be retried|retry|try again)|do not need to re-?send|\bsuccess/i;

/** Where a report in free text begins to quote the mail. */
const QUOTE = /^(?:-{3}.*\b(?:original|copy|returned|below|message|header)|(?:return-path|received|message-id): )/im;

/** Reads the failures from a free text: `undefined` if it does not say that a delivery failed. */
function readFreeText({ subject, plainBody }: MessageRow, headers: Headers): Failure[] | undefined {
  const text = `${subject}\n${plainBody.split(QUOTE, 1)[0]}`;
  if (!FAILURE.test(text) || NO_FAILURE.test(text)) return undefined;
  const statusCode = findStatusCode(text) ?? UNKNOWN_STATUS.statusCode;
  const named = headers['x-failed-recipients']?.split(',') ?? text.match(/(?<=<)[^\s<>@]+@[^\s<>@]+(?=>)/g) ?? [];
  const recipients = named.map((address) => address.trim()).filter((address) => address !== '');
  return [...new Set(recipients)].map((recipient) => ({ recipient, statusCode }));
}

/** Finds a status code: of RFC 3463, or made from a reply code of SMTP. */
function findStatusCode(text: string): string | undefined {
  const enhanced = /(?<![\d.])[245]\.\d{1,3}\.\d{1,3}(?![\d.]*\d)/.exec(text)?.[0];
  const reply = /(?<![\d.])([45])[0-5]\d[ -](?=\S)/.exec(text)?.[1];
  return enhanced ?? (reply && `${reply}.0.0`);
}

/** Finds the Message-ID of the returned mail, then those that the report answers, then those in its text. */
function findMessageIds(message: MessageRow, files: readonly AttachmentRow[]): string[] {
  const returned = files.filter(({ contentType }) =>
    /^(?:message\/(?:rfc822|global)|text\/rfc822-headers|message\/global-headers)\b/i.test(contentType),
  );
  const texts = [...returned.map((file) => textOf(file).split(/\r?\n\r?\n/, 1)[0] ?? ''), message.plainBody];
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
