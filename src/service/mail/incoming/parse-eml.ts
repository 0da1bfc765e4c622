import { truncate } from '../../../basics/text.ts';
import {
  findAddressProblem,
  formatAddress,
  MAX_ADDRESS_LENGTH,
  MAX_ADDRESSES,
  toAddressText,
  toBareAddress,
} from '../../../contract/addresses/email-address.ts';
import {
  flattenAddresses,
  type ListedAddress,
  readAddressList,
} from '../../../contract/addresses/email-address-list.ts';
import { MAIL_LIMITS } from '../../../contract/incoming-message.ts';
import { MAX_SUBJECT_LENGTH } from '../../../contract/schemas.ts';
import type { MessageRow } from '../../../world/store/rows.ts';
import { toHtml } from '../html.ts';
import {
  bytesOf,
  decodeBody,
  decodeRawField,
  decodeText,
  decodeWords,
  findHeaderEnd,
  repairWindows1252,
  toBinary,
  toCleanLine,
} from '../mime/decode.ts';
import { type MailHeader, repairLineEnds } from '../mime/header.ts';
import { encodedBodyOf, headOf, listFields, type MailPart, parseParameters, splitParts } from '../mime/split-parts.ts';
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
  /** The address in Delivered-To, a field that a mail server adds. The list is empty if there is no address. */
  readonly deliveredTo: readonly string[];
  /** The Date field: as ISO 8601 if it can be parsed, otherwise as it is written; `undefined` without this field. */
  readonly date: string | undefined;
  /** Reads the bare addresses of all From and Sender fields, however many there are. */
  readAuthors(): string[];
}

/**
 * Parses an RFC 5322 message with MIME parts. Content beyond the limits of a composed mail is shortened or left out. If
 * the sender is missing, `from` is empty. `fallbackId` replaces a missing Message-ID.
 *
 * @throws {ApiError} VALIDATION_ERROR if the message cannot be parsed.
 */
export function parseEml(bytes: Uint8Array, fallbackId: string): ParsedMail {
  const text = toBinary(repairLineEnds(bytes));
  const parts = splitParts(text);
  const written = parts.slice(0, 1).flatMap((mail) => listFields(headOf(text, mail)));
  const fields = written.map(({ name, value }) => ({ name: name.toLowerCase(), value }));
  // Several fields may have the same name.
  const valuesOf = (name: string) => fields.flatMap((field) => (field.name === name ? field.value : []));
  const allAddressesIn = (values: readonly string[]) =>
    values.flatMap((value) => toAddresses(decodeRawField(value, text)));
  const addressesIn = (values: readonly string[]) => allAddressesIn(values).slice(0, MAX_ADDRESSES_READ);
  const firstAddress = (name: string) => preferUsable(addressesIn(valuesOf(name).slice(0, 1)));
  const allAddresses = (name: string) => addressesIn(valuesOf(name));
  const [to, cc, bcc] = [allAddresses('to'), allAddresses('cc'), allAddresses('bcc')];
  const from = firstAddress('from') ?? firstAddress('sender') ?? '';
  const subject = decodeRawField(valuesOf('subject')[0] ?? '', text);
  return {
    recipients: [...to, ...cc, ...bcc],
    bcc: bcc.slice(0, MAX_ADDRESSES),
    deliveredTo: [firstAddress('delivered-to') ?? []].flat().map(toBareAddress),
    date: readDate(valuesOf('date')[0]),
    readAuthors: () => allAddressesIn([...valuesOf('from'), ...valuesOf('sender')]).map(toBareAddress),
    mail: {
      from,
      to: to.slice(0, MAX_ADDRESSES),
      cc: cc.slice(0, MAX_ADDRESSES),
      replyTo: preferUsable(allAddresses('reply-to')) ?? null,
      subject: truncate(toCleanLine(decodeWords(subject) || subject), MAX_SUBJECT_LENGTH),
      ...readContents(parts, text),
      messageIdHeader: readMessageId(valuesOf('message-id')[0]) ?? fallbackId,
      inReplyTo: findIds(valuesOf('in-reply-to')[0])[0] ?? null,
      references: findIds(valuesOf('references')[0]).slice(-MAIL_LIMITS.references),
    },
  };
}

/** The size of the longest header of a mail that is accepted, and some more. */
const MAX_HEADER_BYTES = 300 * 1024;

/** Returns the display forms of all addresses in the Reply-To fields of a raw mail. */
export function readReplyTo(raw: Uint8Array): string[] {
  const text = toBinary(repairLineEnds(raw.subarray(0, MAX_HEADER_BYTES)));
  const fields = listFields(text.slice(0, findHeaderEnd(text)).replaceAll('\r\n', '\n'));
  const values = fields.flatMap(({ name, value }) => (name.toLowerCase() === 'reply-to' ? value : []));
  return values.flatMap((value) => toAddresses(decodeRawField(value, text))).slice(0, MAX_ADDRESSES);
}

/** Returns a date as ISO 8601, and any other text unchanged. */
function readDate(text: string | undefined): string | undefined {
  const date = new Date(text?.slice(0, 100) ?? '');
  return Number.isNaN(date.getTime()) ? text : date.toISOString();
}

/** How many addresses of a field are read. */
const MAX_ADDRESSES_READ = 1_000;

/**
 * Returns the display forms of the addresses of a list, also of those to which no mail can be sent. A group is replaced
 * by its members.
 */
function toAddresses(list: string): string[] {
  return flattenAddresses(readAddressList(list)).flatMap((entry) => {
    const name = decodeWords(entry.name);
    // Some programs write the name and the address together as encoded words.
    const isWhole = /^=\?.*\?=$/s.test(entry.name) && entry.local === '' && entry.domain === '';
    if (isWhole && /<[^<>@]*@[^<>]*>/.test(name)) return flattenAddresses(readAddressList(name)).flatMap(showAddress);
    return showAddress({ ...entry, name });
  });
}

/** How many characters of a name are shown if it has no address and is too long. */
const SHORT_NAME_LENGTH = 400;

/** Returns an address in display form, or nothing if it is empty. The name is left out if both together are too long. */
function showAddress(entry: ListedAddress): string | [] {
  const address = toCleanLine(toAddressText(entry));
  const written = toCleanLine(entry.name).trim();
  const name = written === address ? '' : written;
  const forms = [
    formatAddress({ name, address }),
    address,
    formatAddress({ name: truncate(name || address, SHORT_NAME_LENGTH), address: '' }),
  ];
  return forms.find((text) => text !== '' && text.length <= MAX_ADDRESS_LENGTH) ?? [];
}

/** Returns the first address to which mail can be sent, or else the first. */
function preferUsable(addresses: readonly string[]): string | undefined {
  return addresses.find((address) => findAddressProblem(address) === undefined) ?? addresses[0];
}

/**
 * Returns the Message-ID of a mail. If it does not stand in angle brackets, it is the whole field, unless that is several
 * words without an `@`.
 */
function readMessageId(field = ''): string | undefined {
  const [inBrackets] = field.match(/<[^<>\s]+>/) ?? [];
  const id = inBrackets ?? toCleanLine(decodeText(bytesOf(field))).trim();
  const isId = /^\S+$/.test(id) || id.includes('@');
  return isId && id.length <= MAIL_LIMITS.messageId ? id : undefined;
}

/**
 * Finds the Message-IDs to which a mail refers. In a field without angle brackets, these are the words with an `@`, or
 * the whole field if it is one word.
 */
function findIds(field = ''): string[] {
  const inBrackets = field.match(/<[^<>\s]+>/g);
  const words = field.split(/[\s,<>]+/).filter((word) => word !== '');
  const ids = inBrackets ?? (words.length === 1 ? words : words.filter((word) => word.includes('@')));
  return ids.filter((id) => id.length <= MAIL_LIMITS.messageId).map((id) => decodeText(bytesOf(id)));
}

/**
 * Reads the bodies and the files of a mail from its parts. If there is HTML, the HTML body also contains each plain
 * text that has no HTML alternative. The plain body is never made from HTML.
 */
function readContents(parts: readonly MailPart[], mailText: string) {
  const leaves = parts.flatMap((part) => readLeaf(part, mailText) ?? []);
  const texts = leaves.filter(isText).map((leaf) => {
    const { part, mediaType } = leaf;
    return { text: readText(leaf, mailText), isHtml: mediaType === 'text/html', alternative: alternativeOf(part) };
  });
  const alternativesWithHtml = new Set(texts.flatMap(({ isHtml, alternative }) => (isHtml ? alternative : [])));
  const plain = texts.flatMap(({ isHtml, text }) => (isHtml ? [] : text));
  const html = texts.flatMap(({ isHtml, text, alternative }) => {
    if (isHtml) return text;
    return alternativesWithHtml.size === 0 || alternativesWithHtml.has(alternative) ? [] : toHtml(text.trim());
  });
  const joinBody = (texts: readonly string[]) => truncate(repairWindows1252(texts.join('\n')), MAIL_LIMITS.body);
  const files = leaves.filter((leaf) => !isText(leaf)).slice(0, MAIL_LIMITS.attachments);
  return {
    plainBody: joinBody(plain),
    htmlBody: joinBody(html) || null,
    attachments: files.map((leaf) => toFile(leaf, mailText)),
  };
}

/**
 * Returns a part with its media type, or `undefined` if it contains parts. A `multipart` that was not split counts as
 * text.
 */
function readLeaf(part: MailPart, mailText: string) {
  const { value, parameters } = parseParameters(part.fields['content-type']);
  const isMultipart = value.startsWith('multipart/');
  if (isMultipart && encodedBodyOf(mailText, part) === '') return undefined;
  const mediaType = isMultipart ? '' : value;
  const defaultType = part.parent?.subtype === 'digest' ? 'message/rfc822' : 'text/plain';
  return { part, parameters, mediaType: mediaType || defaultType };
}

type Leaf = NonNullable<ReturnType<typeof readLeaf>>;

function isText({ mediaType, part }: Leaf): boolean {
  return isBodyText(part, mediaType);
}

/** Returns whether a part with a media type such as `text/plain` is a text of the mail, and not a file. */
export function isBodyText({ fields }: Pick<MailPart, 'fields'>, mediaType: string): boolean {
  const isFile = /^attachment\b/i.test(fields['content-disposition'] ?? '');
  return /^text\/(?:plain|html)$/.test(mediaType) && !isFile;
}

/** Returns the `multipart/alternative` that contains a part, or the part itself if none contains it. */
function alternativeOf(part: MailPart): MailPart {
  for (let container = part.parent; container; container = container.parent) {
    if (container.subtype === 'alternative') return container;
  }
  return part;
}

function readText({ part, parameters }: Leaf, mailText: string): string {
  const bytes = decodeBody(encodedBodyOf(mailText, part), part.fields['content-transfer-encoding']);
  const text = decodeText(bytes, parameters.charset);
  if (parameters.format?.toLowerCase() !== 'flowed') return text;
  // A line that ends with a space continues on the next line, unless it is the `-- ` before a signature (RFC 3676).
  return text.replace(/^ /gm, '').replace(/(?<!^--) \n/gm, parameters.delsp?.toLowerCase() === 'yes' ? '' : ' ');
}

/** The name of a file that comes without a name, by media type. */
const FILE_NAMES: Readonly<Record<string, string>> = {
  'message/rfc822': 'message.eml',
  'message/global': 'message.eml',
  'message/delivery-status': 'delivery-status.txt',
  'text/rfc822-headers': 'headers.txt',
  'text/calendar': 'invite.ics',
  'application/ms-tnef': 'winmail.dat',
};

/** Returns the name for a file that comes without a name. */
export function fileNameOf(mediaType: string): string {
  return FILE_NAMES[mediaType] ?? 'attachment';
}

/** A file has the bytes of its part, with the line ends that the mail has: those that IMAP shows, and that are signed. */
function toFile({ part, parameters, mediaType }: Leaf, mailText: string): AttachedFile {
  const [disposition, type] = ['content-disposition', 'content-type'].map(
    (name) => parseParameters(decodeRawField(part.fields[name] ?? '', mailText)).parameters,
  );
  let bytes = decodeBody(mailText.slice(part.bodyStart, part.bodyEnd), part.fields['content-transfer-encoding']);
  // The lines of an attached mail must end with CRLF, as in every mail.
  if (mediaType === 'message/rfc822') bytes = bytesOf(toBinary(bytes).replace(/\r?\n/g, '\r\n'));
  const isCalendar = mediaType === 'text/calendar' || mediaType === 'application/ics';
  const method = isCalendar && parameters.method ? `; method=${parameters.method.toUpperCase()}` : '';
  const name = toCleanLine(decodeWords(disposition?.filename ?? type?.name ?? ''));
  return {
    filename: truncate(name, MAIL_LIMITS.filename) || fileNameOf(mediaType),
    contentType: truncate(mediaType + method, MAIL_LIMITS.contentType),
    content: bytes,
    sizeBytes: bytes.byteLength,
  };
}
