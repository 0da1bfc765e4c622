import { toAddressKey, toAddressText, toBareAddress } from '../../../contract/addresses/email-address.ts';
import { flattenAddresses, readAddressList } from '../../../contract/addresses/email-address-list.ts';
import type { AttachmentRow, MessageRow } from '../../../world/store/rows.ts';
import type { World } from '../../../world/store/world.ts';
import { readHtml } from '../html-text.ts';
import { messagesWithId } from '../message-id.ts';
import { readFields, readHeaders } from '../mime/header.ts';
import { parseParameters } from '../mime/split-parts.ts';
import { type MailContext, markBounced } from '../store-message.ts';

/**
 * If an inbound message reports that a mail of this inbox was not delivered, publishes `message.bounced` for that mail.
 */
export function reportBounce(context: MailContext, world: World, message: MessageRow): void {
  const report = readBounceReport(message, () => world.attachments.by('messageId', message.id));
  const mail = report && findReportedMail(world, message.inboxId, report);
  if (!report || !mail) return;
  const failures = failuresOf(report, mail);
  markBounced(context, world, mail, {
    recipient: failures.map(({ recipient }) => toBareAddress(recipient)).join(', '),
    statusCode: failures.map(({ statusCode }) => statusCode ?? report.statusCode).join(', '),
  });
}

type BounceReport = NonNullable<ReturnType<typeof readBounceReport>>;

/** Returns the recipients that failed: those that the report names or, if it names none, all recipients in To. */
function failuresOf({ failures, isExact }: BounceReport, mail: MessageRow): readonly Mention[] {
  if (failures.length === 0) return mail.to.map((recipient) => ({ recipient, statusCode: undefined }));
  if (isExact) return failures;
  const sentTo = prefer(failures, ({ recipient }) => isSentTo(mail, new Set([recipient])));
  return prefer(sentTo, hasStatus);
}

/** Returns the items that match, or all items if none matches. */
function prefer<T>(items: readonly T[], matches: (item: T) => boolean): readonly T[] {
  const found = items.filter(matches);
  return found.length > 0 ? found : items;
}

const hasStatus = ({ statusCode }: Mention) => statusCode !== undefined;

function isSentTo({ to, cc, bcc }: MessageRow, addresses: ReadonlySet<string>): boolean {
  return [...to, ...cc, ...bcc].some((recipient) => addresses.has(toAddressKey(recipient)));
}

/** Finds the reported mail by the Message-IDs in the report; otherwise the latest mail to an address in the report. */
function findReportedMail(world: World, inboxId: string, { messageIds, failures }: BounceReport) {
  for (const messageId of messageIds) {
    const mail = messagesWithId(world, messageId).find(
      (message) => message.inboxId === inboxId && message.direction === 'outbound',
    );
    if (mail) return mail;
  }
  const addresses = new Set(prefer(failures, hasStatus).map(({ recipient }) => toAddressKey(recipient)));
  if (addresses.size === 0) return undefined;
  const sent = world.messageIndex.list([inboxId], 'outbound');
  return sent.slice(0, sent.length).findLast((mail) => isSentTo(mail, addresses));
}

/**
 * Reads an inbound message as a report of a failed delivery: by RFC 3464, or in free text. Returns `undefined` for any
 * other message, also for a report of a delay, of a success, or that a mail was read. The result has these fields:
 *
 * - `failures`: the addresses in the report, with or without a status code.
 * - `isExact`: whether all `failures` are recipients that failed. Otherwise, `failures` may contain other addresses,
 *   such as that of a help desk.
 * - `statusCode`: the status code of the recipients for which the report names no other status code.
 * - `messageIds`: the Message-IDs that the reported mail can have, the most likely one first.
 */
export function readBounceReport(message: MessageRow, listFiles: () => readonly AttachmentRow[]) {
  // Mail between inboxes of this emulator has neither raw bytes nor stored headers, and is never a report.
  if (message.raw === null && message.headers === null) return undefined;
  const headers = readHeaders(message);
  if (!isReport(headers) && !isNullSender(headers) && !isMailSystem(message)) return undefined;
  const files = listFiles();
  const status = files.find(({ contentType }) => /^message\/(?:global-)?delivery-status/i.test(contentType));
  if (!status && isReport(headers) && !isDeliveryReport(headers)) return undefined;
  const returnedFiles = files.filter(({ contentType }) => RETURNED_TYPE.test(contentType));
  const report = status ? readStatus(decodeFile(status)) : readFreeText(message, headers, returnedFiles.length > 0);
  return report && { ...report, messageIds: findMessageIds(message, returnedFiles) };
}

/**
 * Returns whether a `multipart/report` is about a delivery. Other reports say that a mail was read, or that somebody
 * complains about it.
 */
function isDeliveryReport(headers: Readonly<Record<string, string>>): boolean {
  const { 'report-type': type = 'delivery-status' } = parseParameters(headers['content-type']).parameters;
  return type.toLowerCase() === 'delivery-status';
}

/** Matches the media type of a file that contains the returned mail, or only the header of this mail. */
const RETURNED_TYPE = /^(?:message\/(?:rfc822|global)|text\/rfc822-headers|message\/global-headers)\b/i;

const decodeFile = ({ content }: AttachmentRow) => new TextDecoder().decode(content);

/**
 * Reads the failures from the part of a report that is for programs (RFC 3464, section 2.3). Returns `undefined` if
 * this part names no failure.
 */
function readStatus(text: string) {
  const failures: Mention[] = text
    .split(/(?:\r?\n){2,}/)
    .map((group) => readFields(group.split(/\r?\n(?![ \t])/)))
    .flatMap(({ action, status, ...fields }) => {
      const written = fields['original-recipient'] ?? fields['final-recipient'];
      // Some servers leave out the status and put it into the reply of the other server, or leave out the action.
      const statusCode = findStatusCode(status ?? '') ?? findStatusCode(fields['diagnostic-code'] ?? '');
      const hasFailed = action === undefined ? written && statusCode?.startsWith('5') : /^failed\b/i.test(action);
      if (!hasFailed) return [];
      return { recipient: readTypedAddress(written ?? ''), statusCode: statusCode ?? UNKNOWN_STATUS };
    });
  return failures.length > 0 ? { failures, isExact: true, statusCode: UNKNOWN_STATUS } : undefined;
}

/**
 * Reads an address with its type, such as `rfc822; dana@customer.test`, and resolves the escapes of RFC 6533. A comment,
 * and angle brackets without their counterparts, are left out.
 */
function readTypedAddress(field: string): string {
  const text = field
    .replace(/^[^;]*;/, '')
    .trim()
    .replace(/\\x\{([0-9a-f]{1,6})\}/gi, (escaped, hex: string) => {
      const code = Number.parseInt(hex, 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : escaped;
    });
  const address = flattenAddresses(readAddressList(text)).find(({ domain }) => domain !== '');
  return address ? toAddressText(address) : text;
}

/** Finds the Message-IDs of the returned mail, then those that the report replies to, then those in its text. */
function findMessageIds(message: MessageRow, returnedFiles: readonly AttachmentRow[]): string[] {
  const idsIn = (text: string) =>
    Array.from(text.matchAll(/^message-id:\s*(<[^<>\s]+>|[^<>\s]+)/gim), ([, id = '']) => id);
  const headers = returnedFiles.map((file) => decodeFile(file).split(/\r?\n\r?\n/, 1)[0] ?? '');
  const { inReplyTo, references } = message;
  return [headers.flatMap(idsIn), inReplyTo ?? [], references.toReversed(), idsIn(bodyOf(message))].flat();
}

/** An address that a report names. */
interface Mention {
  /** The bare address. */
  readonly recipient: string;
  /** The status code (RFC 3463), such as `5.1.1`; `undefined` if no status code is next to the address. */
  readonly statusCode: string | undefined;
}

/** The status code of a failure if the report names no status code for it. */
const UNKNOWN_STATUS = '5.0.0';

const FAILURE_WORDS = [
  /undeliver|(?:not|n['’]t|never) (?:be(?:en)? )?(?:\w{1,20}ly )?delivered|(?:not|n['’]t) (?:able to )?deliver\b/i,
  /(?:delivery|message|mail|address\S{0,4})\b.{0,40}\bfail|failure notice|returned (?:mail|to sender)/i,
  /\b(?:delivery|message|mail)\b.{0,40}\baborted\b|\baborted (?:the )?(?:delivery|message|mail)\b/i,
  /permanent(?: fatal)? error|does(?: not|n['’]t) exist|unknown (?:user|recipient)/i,
  /\b(?:user|recipient|mailbox|address)\b.{0,20}\b(?:unknown|rejected|not found|unavailable)/i,
];

const describesFailure = (text: string) => FAILURE_WORDS.some((words) => words.test(text));

/** Words that say whether a delivery failed permanently. The first words that match decide. */
const VERDICTS: readonly (readonly [words: RegExp, isFailure: boolean])[] = [
  [/not yet been delivered|(?:keep|continue) (?:on )?trying|will (?:be retried|retry|try again)/i, false],
  [/do not need to re-?send/i, false],
  [/\b(?:given|giving) up|(?<!\bbe )returned to sender|permanent(?: fatal)? error|^x-failed-recipients:/im, true],
  [/\bdelay|\bwarning\b|\bsuccess/i, false],
  ...FAILURE_WORDS.map((words) => [words, true] as const),
];

/**
 * Matches the subject of an answer. The words after `Re:` are those of the answered mail, so they describe no failure.
 */
const ANSWER_SUBJECT = /^(?:re|aw|auto(?:matic)?[ -]?reply|out of (?:the )?office)\b/i;

/** Matches the line with which a report in free text begins to quote the reported mail. */
const QUOTE = /^(?:-{3}.*\b(?:original|copy|returned|below|message|header)|(?:return-path|received|message-id): )/im;
/** Matches a header field of a returned mail. */
const RETURNED_FIELD = /^(?:return-path|received|message-id): /im;

/**
 * Each row lists signs that together show a report. One sign alone is not enough, because people write such words, too.
 */
const EVIDENCE = [
  ['report', 'failureWords', 'returnedMail'],
  ['report', 'failureWords', 'codeInText'],
  ['nullSender', 'failureInSubject'],
  ['nullSender', 'mailSystem', 'failureWords'],
  ['nullSender', 'failureWords', 'codeInText'],
  ['nullSender', 'failureWords', 'failedRecipients'],
  ['nullSender', 'failureWords', 'returnedMail'],
  ['mailSystem', 'failureWords', 'addressWithCode'],
  ['mailSystem', 'failureWords', 'failedRecipients'],
  ['mailSystem', 'failureWords', 'returnedMail'],
] as const;

/** Reads a free text as a report of a failed delivery; `undefined` if the evidence is not enough. */
export function readFreeText(message: MessageRow, headers: Readonly<Record<string, string>>, hasReturnedMail: boolean) {
  const { subject } = message;
  const body = bodyOf(message);
  const [text = ''] = body.split(QUOTE, 1);
  const inTo = new Set(message.to.map(toAddressKey));
  const mayHaveFailed = ({ recipient, statusCode }: Mention) =>
    !inTo.has(toAddressKey(recipient)) && !statusCode?.startsWith('2');
  const mentions = findMentions(text).filter(mayHaveFailed);
  const statusCode = findStatusCode(text);
  const failedField = headers['x-failed-recipients'] ?? '';
  const signs: Readonly<Record<(typeof EVIDENCE)[number][number], boolean>> = {
    report: isReport(headers),
    nullSender: isNullSender(headers),
    mailSystem: isMailSystem(message),
    failureInSubject: describesFailure(subject) && !ANSWER_SUBJECT.test(subject),
    failureWords: describesFailure(`${subject}\n${text}`),
    codeInText: statusCode !== undefined,
    addressWithCode: mentions.some((mention) => mention.statusCode !== undefined),
    failedRecipients: failedField.includes('@'),
    returnedMail: hasReturnedMail || RETURNED_FIELD.test(body),
  };
  const isEvident = EVIDENCE.some((combination) => combination.every((sign) => signs[sign]));
  const codes = [statusCode, ...mentions.map((mention) => mention.statusCode)];
  const searchedText = `${signs.failedRecipients ? 'X-Failed-Recipients:' : ''}\n${subject}\n${text}`;
  const isPermanent = () => VERDICTS.find(([words]) => words.test(searchedText))?.[1] === true;
  if (!isEvident || !(codes.some((code) => code?.startsWith('5')) || isPermanent())) return undefined;
  return { ...listFailures(failedField, mentions), statusCode: statusCode ?? UNKNOWN_STATUS };
}

/** Returns the text of a message, also if it has only HTML. */
function bodyOf({ plainBody, htmlBody }: MessageRow): string {
  return plainBody.trim() === '' && htmlBody !== null ? readHtml(htmlBody).shown : plainBody;
}

const isReport = (headers: Readonly<Record<string, string>>) =>
  /^multipart\/report\b/i.test(headers['content-type'] ?? '');

/** Returns whether the mail came from the null sender (RFC 5321, section 4.5.5). */
const isNullSender = (headers: Readonly<Record<string, string>>) => headers['return-path'] === '<>';

/** Returns whether the sender calls itself a mail system. */
function isMailSystem({ from, fromAddress }: MessageRow): boolean {
  const isDaemon = /^(?:mailer-daemon|postmaster|mail-?daemon)(?:@|$)/.test(fromAddress);
  return isDaemon || /^"?mail delivery (?:sub)?system\b/i.test(from);
}

/** Returns the recipients in the field X-Failed-Recipients or, without this field, all addresses in the text. */
function listFailures(failedField: string, mentions: readonly Mention[]) {
  const statusOf = new Map(mentions.map(({ recipient, statusCode }) => [recipient, statusCode]));
  const named = failedField.toLowerCase().match(ADDRESS) ?? [];
  if (named.length === 0) return { failures: mentions, isExact: false };
  const failures = [...new Set(named)].map((recipient) => ({ recipient, statusCode: statusOf.get(recipient) }));
  return { failures, isExact: true };
}

const ADDRESS =
  /(?<![^\s<>()[\]"',;:*|])[^\s<>()[\]"',;:@*|][^\s<>()[\]",;:@*|]{0,63}@[^\s<>()[\]"',;:@*|]{1,254}(?<![.!?])/g;

/** Finds the addresses in a text, each once, with the status code after it. Addresses in a list share a status code. */
function findMentions(text: string): Mention[] {
  const found = new Map<string, string | undefined>();
  let nextStart = text.length;
  let statusCode: string | undefined;
  for (const { 0: address, index } of Array.from(text.matchAll(ADDRESS)).toReversed()) {
    const after = text.slice(index + address.length, nextStart);
    const isInList = nextStart < text.length && /^\W*(?:(?:and|or)\W*)?$/i.test(after.slice(0, 50));
    statusCode = findStatusCode(after) ?? (isInList ? statusCode : undefined);
    const recipient = address.toLowerCase();
    found.set(recipient, statusCode ?? found.get(recipient));
    nextStart = index;
  }
  return Array.from(found, ([recipient, code]) => ({ recipient, statusCode: code })).toReversed();
}

/**
 * Finds a status code of RFC 3463. If there is none, makes it from a reply code of SMTP, such as `5.0.0` from `550`.
 */
function findStatusCode(text: string): string | undefined {
  const enhanced = /(?<![\d.])[245]\.\d{1,3}\.\d{1,3}(?![\d.]*\d)/.exec(text)?.[0];
  const firstDigit = /(?<![\d.])([45])[0-5]\d[ -](?=\S)/.exec(text)?.[1];
  return enhanced ?? (firstDigit && `${firstDigit}.0.0`);
}
