import { decodeHTML } from 'entities/decode';
import { fromBase64 } from '../../basics/base64.ts';
import { normaliseText } from '../../basics/text.ts';
import { toAddressText } from '../../contract/addresses/email-address.ts';
import { flattenAddresses, readAddressList } from '../../contract/addresses/email-address-list.ts';
import { readHtml } from '../../service/mail/html-text.ts';
import { decodeText, decodeWords } from '../../service/mail/mime/decode.ts';

/** Where a text of a mail, a draft or a request is. */
export type TextPlace =
  | 'subject'
  | 'plainBody'
  | 'htmlBody'
  | 'hidden HTML'
  | 'link'
  | 'name'
  | 'address'
  | 'attachment name'
  | 'attachment'
  | 'header'
  | 'request';

/** A text that a mail, a draft or a request has, as it is written or as somebody reads it who undoes an encoding. */
export interface MailText {
  readonly place: TextPlace;
  readonly text: string;
}

/** What a mail or a draft may have, as the journal shows it. */
export interface WrittenMail {
  readonly from?: string;
  readonly to?: readonly string[];
  readonly cc?: readonly string[];
  readonly bcc?: readonly string[];
  readonly replyTo?: string | null;
  readonly subject?: string | null;
  readonly plainBody?: string | null;
  readonly htmlBody?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly attachments?: readonly WrittenFile[];
}

/** A file of a mail, with its bytes in base64. */
export interface WrittenFile {
  readonly filename: string;
  readonly contentType: string;
  readonly content: string;
}

/** The header fields that mail programs write themselves, or whose text is in another field of {@link WrittenMail}. */
const OWN_FIELDS =
  /^(?:arc-.*|authentication-results|auto-submitted|bcc|cc|content-.*|date|delivered-to|dkim-signature|from|importance|in-reply-to|message-id|mime-version|precedence|priority|received.*|references|reply-to|return-path|sender|subject|thread-.*|to|user-agent|x-mailer|x-priority)$/;

/**
 * Returns every text of a mail or a draft: its subject, its bodies, what its HTML hides, the addresses of its links, the
 * names of people, the addresses of its recipients, the names of its files, the files that are text, and the header fields
 * that a mail program does not write by itself. Each text is there as it is written and, where that differs, as it is read:
 * without invisible characters, and with encodings undone (see {@link readingsOf}).
 */
export function textsOfMail(mail: WrittenMail): MailText[] {
  const { from = '', to = [], cc = [], bcc = [], replyTo, subject, plainBody, htmlBody, headers = {} } = mail;
  const recipients = [...to, ...cc, ...bcc, replyTo ?? ''].flatMap((text) => flattenAddresses(readAddressList(text)));
  const senders = flattenAddresses(readAddressList(from));
  const ownHeaders = Object.entries(headers).filter(([name]) => !OWN_FIELDS.test(name.toLowerCase()));
  return [
    ...textsOf('subject', subject ?? ''),
    ...textsOf('plainBody', plainBody ?? ''),
    ...textsOfHtml('htmlBody', htmlBody ?? ''),
    ...[...senders, ...recipients].flatMap(({ name }) => textsOf('name', name)),
    // The address of the sender is that of the inbox, which no agent chooses.
    ...recipients.flatMap((address) => textsOf('address', toAddressText(address))),
    ...(mail.attachments ?? []).flatMap(textsOfFile),
    ...ownHeaders.flatMap(([name, value]) => textsOf('header', `${name}: ${value}`)),
  ];
}

/** Returns a text of a place as it is written, and its readings. An empty text has none. */
export function textsOf(place: TextPlace, text: string): MailText[] {
  return readingsOf(text).map((reading) => ({ place, text: reading }));
}

/** Returns what HTML shows, what it hides, and the addresses of its links, each with its readings. */
function textsOfHtml(place: TextPlace, html: string): MailText[] {
  if (html === '') return [];
  const { shown, hidden, links } = readHtml(html);
  return [...textsOf(place, shown), ...textsOf('hidden HTML', hidden.join('\n')), ...textsOf('link', links.join('\n'))];
}

function textsOfFile(file: WrittenFile): MailText[] {
  const { filename, contentType } = file;
  const content = textOfFile(file);
  const isHtml =
    /^text\/html\b/i.test(contentType) || /\.html?$/i.test(filename) || /^\s*<(?:!doctype|html)\b/i.test(content);
  return [
    ...textsOf('attachment name', filename),
    ...textsOf('attachment', content),
    ...(isHtml ? textsOfHtml('attachment', content) : []),
  ];
}

/** A control character that no text has. */
const CONTROL = /(?!\s)\p{Cc}/u;

/** Returns the text of a file, whatever type it is said to have; empty if it is not text. */
function textOfFile({ contentType, content }: WrittenFile): string {
  const bytes = fromBase64(content);
  const [, charset] = /;\s*charset\s*=\s*"?([\w.:-]{1,40})/i.exec(contentType) ?? [];
  const [first, second] = bytes;
  // A file in UTF-16 says so by its first two bytes.
  const isUtf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  const utf16 = first === 0xff ? 'utf-16le' : 'utf-16be';
  const text = decodeText(bytes, isUtf16 ? utf16 : charset);
  return CONTROL.test(text) ? '' : text;
}

/**
 * Returns a text as it is written and as it is read, without repetitions: in its clean form, which has no invisible
 * characters and no compatibility characters; with entities, quoted-printable, percent-encoding and encoded words undone;
 * and what the base64 in it says. Encodings around each other are undone only where an escape is around base64.
 */
export function readingsOf(text: string): string[] {
  if (text === '') return [];
  const clean = cleanText(text);
  const unescaped = cleanText(undoEscapes(clean));
  const encoded = unescaped === clean ? [clean] : [clean, unescaped];
  return [...new Set([text, clean, unescaped, ...encoded.flatMap(decodeBase64Runs).map(cleanText)])];
}

/**
 * Returns a text in the form in which texts are compared: clean as in {@link readingsOf}, in lower case, and with one space
 * in place of each run of white space.
 */
export function foldText(text: string): string {
  return cleanText(text).toLowerCase().replace(/\s+/g, ' ').trim();
}

const ASCII = /^[\0-\x7f]*$/;

/** Characters that nobody sees: zero-width characters, soft hyphens, marks of direction, and so on. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}]+/gu;

/** Returns a text without invisible characters, in the form NFKC, in which `Ｋ` and `𝐊` are `K`. */
function cleanText(text: string): string {
  if (ASCII.test(text)) return text;
  return normaliseText(text.replace(INVISIBLE, ''), 'NFKC');
}

const PERCENT = /(?:%[0-9a-f]{2})+/gi;
const QUOTED_PRINTABLE = /(?:=[0-9a-f]{2})+/gi;
const SOFT_LINE_BREAK = /=\r?\n/g;

/** Undoes the encodings that replace single characters: encoded words, entities, quoted-printable, percent-encoding. */
function undoEscapes(text: string): string {
  let undone = text;
  if (undone.includes('=?')) undone = decodeWords(undone);
  if (undone.includes('&')) undone = decodeHTML(undone);
  if (undone.includes('=')) {
    undone = undone.replace(SOFT_LINE_BREAK, '').replace(QUOTED_PRINTABLE, (run) => decodeHex(run.replaceAll('=', '')));
  }
  if (undone.includes('%')) undone = undone.replace(PERCENT, (run) => decodeHex(run.replaceAll('%', '')));
  return undone;
}

/** Decodes the bytes that hexadecimal digits encode, as UTF-8. */
function decodeHex(digits: string): string {
  const bytes = Uint8Array.from({ length: digits.length / 2 }, (_, index) =>
    Number.parseInt(digits.slice(2 * index, 2 * index + 2), 16),
  );
  return new TextDecoder().decode(bytes);
}

/** A run of base64 in one line, in both alphabets. */
const RUN = /[\w+/-]{6,}={0,2}/g;

/** A line of a mail that may be base64, also within a quote. */
const LINE = /^[>\s]{0,10}([\w+/-]+={0,2})\s?$/;

/** Returns the texts that runs of base64 in a text encode, one in each line; an empty list if there is none. */
function decodeBase64Runs(text: string): string[] {
  const runs = (text.match(RUN) ?? []).flatMap((run) => [run, ...run.split(/[^A-Za-z0-9=]+/)]);
  const found = [...new Set([...runs, ...joinLines(text)])].flatMap((run) => decodeBase64(run) ?? []);
  return found.length === 0 ? [] : [found.join('\n')];
}

/**
 * Joins the lines of base64 that is wrapped: all have the same length, but the last may be shorter, and other words may be
 * before the first.
 */
function joinLines(text: string): string[] {
  const joined: string[] = [];
  let lines: string[] = [];
  const end = () => {
    if (lines.length > 1) joined.push(lines.join(''));
    lines = [];
  };
  for (const line of text.split('\n')) {
    const digits = LINE.exec(line)?.[1];
    const width = lines[0]?.length ?? 0;
    if (digits !== undefined && digits.length <= width) {
      lines.push(digits);
      if (digits.length < width) end();
      continue;
    }
    end();
    lines.push(digits ?? line.slice(line.trimEnd().lastIndexOf(' ') + 1).trimEnd());
  }
  end();
  return joined;
}

/** The least digits of base64 that are read as text although no `=` says that they are base64. */
const LEAST_DIGITS = 8;

/** Returns the text that base64 encodes; undefined if that is no text, as with most words and ids. */
function decodeBase64(run: string): string | undefined {
  const digits = run
    .replace(/={1,2}$/, '')
    .replaceAll('-', '+')
    .replaceAll('_', '/');
  if (digits.length % 4 === 1 || digits.length < (run.endsWith('=') ? 4 : LEAST_DIGITS)) return undefined;
  try {
    const decoded = new TextDecoder('utf-8', { fatal: true }).decode(fromBase64(digits));
    return CONTROL.test(decoded) ? undefined : decoded;
  } catch {
    // Bytes that are not UTF-8 are no text.
    return undefined;
  }
}

/** A line of a plain body that is a quote of another mail. */
const QUOTED_LINE = /^\s*>/;

/** The line before a quote that is not marked line by line, such as `-----Original Message-----`. */
const QUOTE_DIVIDER = /^\s{0,3}[-_]{4,}(?: ?[^-_]{3,60}[-_]{4,})?\s{0,3}$/;

/** The first header field at the head of a quote, such as `From: Dana <dana@customer.test>` or `*Von:* Dana`. */
const SENDER_FIELD =
  /^\s{0,3}[*_]{0,2}(?:from|von|de|da|van|från|fra|od|от|发件人|寄件者|差出人|보낸 사람)[*_]{0,2} ?[:：]/iu;

/** A further header field there. */
const HEAD_FIELD = /^\s{0,3}[*_]{0,2}\p{L}[\p{L} -]{0,24}[*_]{0,2} ?[:：]/u;

/** A time of the day, which the sentence of a mail program before a quote has. */
const TIME = /\d{1,2}[:.h]\d{2}/;

/** Over how many lines the sentence before a quote goes at most. */
const MAX_INTRODUCTION_LINES = 3;

/** The line before a signature (RFC 3676, section 4.3). */
const SIGNATURE = /^-- ?$/;

/** Returns the lines of a plain text that its author wrote: without quotes of other mails, and without a signature. */
function ownLinesOf(text: string): string[] {
  const own: string[] = [];
  const lines = cleanText(text).split(/\r?\n/);
  for (const [index, line] of lines.entries()) {
    if (SIGNATURE.test(line) || QUOTE_DIVIDER.test(line) || isHeadOfQuote(line, lines[index + 1])) break;
    if (!QUOTED_LINE.test(line)) own.push(line);
    else if (!QUOTED_LINE.test(lines[index - 1] ?? '')) removeIntroduction(own);
  }
  // In HTML, the quote is left out already.
  removeIntroduction(own);
  return own;
}

function isHeadOfQuote(line: string, next = ''): boolean {
  return SENDER_FIELD.test(line) && HEAD_FIELD.test(next);
}

/**
 * Removes from the end of lines the sentence with which a mail program introduces a quote, such as `On 5 Jan 2026 at 9:00,
 * Dana wrote:`. It ends with a colon, and has the time or at least an address.
 */
function removeIntroduction(lines: string[]): void {
  let end = lines.length;
  while (end > 0 && (lines[end - 1] ?? '').trim() === '') end -= 1;
  if (!/[:：]$/.test((lines[end - 1] ?? '').trimEnd())) return;
  let start = end - 1;
  while (start > 0 && end - start < MAX_INTRODUCTION_LINES && !TIME.test(lines[start] ?? '')) start -= 1;
  if (TIME.test(lines[start] ?? '')) lines.length = start;
  else if (lines[end - 1]?.includes('@')) lines.length = end - 1;
}

/** What a text must have for somebody to read something in it. */
const READABLE = /[\p{L}\p{N}\p{Extended_Pictographic}]/u;

/**
 * Returns whether a mail or a draft answers nothing: it has no file with content, and neither its plain body nor what its
 * HTML shows has a letter, a digit or an emoji, besides quotes of other mails and a signature. White space, `&nbsp;` and
 * invisible characters are no answer.
 */
export function isEmptyAnswer({ plainBody, htmlBody, attachments = [] }: WrittenMail): boolean {
  if (attachments.some(({ content }) => content !== '')) return false;
  const own = [...ownLinesOf(plainBody ?? ''), ...ownLinesOf(readHtml(htmlBody ?? '').own)];
  return !READABLE.test(own.join('\n'));
}
