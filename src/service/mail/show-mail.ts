import { z } from 'zod';
import { lazy, type OutputOf } from '../../basics/lazy-schema.ts';
import { describeAddressProblem, findAddressProblem } from '../../contract/addresses/email-address.ts';
import { timestamp } from '../../contract/schemas.ts';
import { type AttachmentRow, type MessageRow, pick, type ShownFields, shownFields } from '../../world/store/rows.ts';
import { showRow } from '../../world/store/state.ts';
import type { World } from '../../world/store/world.ts';
import { type NamesIn, showView, VIEWS, type View } from './mail-views.ts';
import { isRareCharset } from './mime/charsets.ts';
import { readHeaders, repairLineEnds } from './mime/header.ts';
import { encodedBodyOf, headOf, listFields, type MailPart, splitParts } from './mime/split-parts.ts';

/** The columns of a file of a mail, except for its bytes. */
export const FILE_COLUMNS = ['id', 'filename', 'contentType', 'sizeBytes'] as const;

/** Returns the schemas of the columns in `FILE_COLUMNS`. */
export const fileFields = (): ShownFields<AttachmentRow, (typeof FILE_COLUMNS)[number]> =>
  shownFields('attachments', FILE_COLUMNS);

/** A file of a mail without its bytes. */
export interface MailFile extends OutputOf<ReturnType<typeof fileFields>> {}

const contentField = () => ({
  /** The bytes, in base64. */
  content: z.string().describe('The bytes, in base64.'),
});

/** A file of a mail. */
export interface MailAttachment extends OutputOf<ReturnType<typeof fileFields> & ReturnType<typeof contentField>> {}

/** What a view can show besides the columns of the row. */
const addedFields = () => ({
  /** The id of the tenant. */
  tenantId: z.string(),
  /** The beginning of the text. */
  snippet: z.string(),
});

/** The schemas of what a view shows of the row of a mail. */
type ViewFields<Of extends View> = Pick<
  ShownFields<MessageRow, keyof MessageRow> & ReturnType<typeof addedFields>,
  NamesIn<Of>
>;

/** Returns the schemas of what a view shows of the row of a mail. */
export function viewFields<Of extends View>(view: Of): ViewFields<Of> {
  const names: readonly NamesIn<View>[] = VIEWS[view];
  const columns = names.filter((name) => name !== 'tenantId' && name !== 'snippet');
  const receivedAt = timestamp().describe("By the tenant's clock.");
  const fields: ViewFields<View> = { ...shownFields('messages', columns), ...addedFields(), receivedAt };
  return Object.fromEntries(names.map((name) => [name, fields[name]])) as ViewFields<Of>;
}

const otherFields = () => ({
  /**
   * The header fields by lower-case name, as the raw mail has them. If several fields have the same name, this is the
   * last field, but a field that the emulator added has priority.
   */
  headers: z.record(z.string(), z.string()).describe('By lower-case name.'),
  /** The files, with their bytes. */
  attachments: z.array(z.strictObject({ ...fileFields(), ...contentField() }) as z.ZodType<MailAttachment>),
  /** The problems of a raw mail: what could not be read, each in one sentence. Left out if there is no problem. */
  problems: z.array(z.string()).exactOptional().describe('What could not be read of a raw mail, each in one sentence.'),
  /** To how many event streams the event of the mail was sent; left out if the number is 0. */
  streams: z
    .int()
    .min(0)
    .exactOptional()
    .describe('To how many event streams its event was sent; left out if to none.'),
});

/** The schema of a mail. */
export const mailReply = lazy(() => z.strictObject({ ...viewFields('mail'), ...otherFields() }));

/** A mail that an inbox received or sent, with everything that the mail contains. */
export interface Mail extends OutputOf<ReturnType<typeof viewFields<'mail'>> & ReturnType<typeof otherFields>> {}

/** Shows a message with its header fields, its files, and the problems of its raw bytes. */
export function showMail(world: World, message: MessageRow): Mail {
  const files = world.attachments.by('messageId', message.id);
  const problems = findProblems(message, files);
  const mail = showMailAsItWas(world.id, message, files);
  // The spread reads the header fields, so that the result has no getter.
  return problems.length > 0 ? { ...mail, problems } : { ...mail };
}

/** Shows a message as it was, with its files at that time. Its header fields are read when somebody asks for them. */
export function showMailAsItWas(
  tenantId: string,
  message: MessageRow,
  files: readonly AttachmentRow[],
): Omit<Mail, 'problems' | 'streams'> {
  const { id, ...columns } = showView('mail', tenantId, message);
  return {
    // `id` is not in the spread, because V8 would put the getter of a literal that begins with a spread at its end:
    // `headers` would come after `attachments`.
    id,
    ...columns,
    get headers() {
      return readHeaders(message);
    },
    attachments: files.map((file) => showRow(pick(file, [...FILE_COLUMNS, 'content']))),
  };
}

/** How many bytes of a raw mail are searched for problems. */
const SEARCHED_BYTES = 192 * 1024;

/** Returns a sentence for each problem with the raw bytes of a mail. A mail without raw bytes has no problems. */
function findProblems(message: MessageRow, files: readonly AttachmentRow[]): string[] {
  if (message.raw === null) return [];
  const texts = [
    ['The subject', message.subject],
    ['The sender', message.from],
    ['The text', message.plainBody],
    ['The HTML', message.htmlBody ?? ''],
    ...files.map(({ filename }) => ['The name of an attachment', filename] as const),
  ] as const;
  const damaged = texts.filter(([, value]) => value.includes('\uFFFD'));
  const start = repairLineEnds(message.raw.subarray(0, SEARCHED_BYTES));
  // This encoding gives one character for each byte.
  const text = new TextDecoder('windows-1252').decode(start);
  const parts = splitParts(text);
  const isCut = message.raw.length > SEARCHED_BYTES;
  const heads = parts.map((part) => headOf(text, part));
  const tnefFiles = files.filter(({ contentType }) => /^application\/(?:vnd\.)?ms-tnef/i.test(contentType));
  return [
    ...findOddAddresses(message, heads[0] ?? ''),
    ...damaged.map(([name]) => `${name} has characters that could not be decoded, shown as U+FFFD.`),
    ...new Set(PART_CHECKS.flatMap((check) => parts.flatMap((part) => check(part, text, isCut) || []))),
    ...findUnknownCharsets(parts, heads).map(
      (name) => `The charset ${name} is unknown; its text is read as windows-1252.`,
    ),
    ...tnefFiles.map(({ filename }) => `The attachment ${filename} is in the format TNEF, which is not unpacked.`),
  ];
}

/** Returns a sentence for each address of the header to which no mail can be sent, and for a second sender. */
function findOddAddresses({ from, to, cc, replyTo }: MessageRow, head: string): string[] {
  const named = [
    ['sender', from === '' ? [] : [from]],
    ['recipient in To', to],
    ['recipient in Cc', cc],
    ['Reply-To', replyTo === null ? [] : [replyTo]],
  ] as const;
  const odd = named.flatMap(([role, addresses]) =>
    addresses
      .filter((address) => findAddressProblem(address) !== undefined)
      .map((address) => `The ${role} ${describeAddressProblem(address)}, so no mail can be sent to it.`),
  );
  const fieldCount = listFields(head).filter(({ name }) => name.toLowerCase() === 'from').length;
  if (fieldCount > 1) odd.push(`The mail has ${fieldCount} From fields, and only the first is read.`);
  return odd;
}

const NOT_BASE64 = /[^A-Za-z0-9+/=\s]/;

/** The checks of a part. Each returns a sentence if it finds something that cannot be decoded. */
const PART_CHECKS: readonly ((part: MailPart, mail: string, isCut: boolean) => string | false)[] = [
  (part, mail, isCut) => {
    // The boundary of a part that reaches the place where the mail was cut may come behind it.
    if (isCut && part.bodyEnd >= mail.length) return false;
    const [type] = /^multipart\/[\w.+-]+/i.exec(part.fields['content-type'] ?? '') ?? [];
    return (
      type !== undefined &&
      encodedBodyOf(mail, part) !== '' &&
      `The boundary of a ${type} is missing or does not occur, so it has no parts.`
    );
  },
  (part) =>
    !/^(?:7bit|8bit|binary|base64|quoted-printable|)$/i.test(encodingOf(part)) &&
    `The encoding ${encodingOf(part)} is unknown; its part is shown as it is.`,
  (part, mail) =>
    /^base64$/i.test(encodingOf(part)) &&
    NOT_BASE64.test(encodedBodyOf(mail, part)) &&
    'A part in base64 has other characters, which are left out.',
  (part, mail) =>
    Array.from(headOf(mail, part).matchAll(/=\?[^?\s]+\?B\?([^?]*)\?=/gi)).some(([, word = '']) =>
      NOT_BASE64.test(word),
    ) && 'An encoded word of the header is marked as base64 but has other characters, and cannot be decoded.',
];

function encodingOf({ fields }: MailPart): string {
  return (fields['content-transfer-encoding'] ?? '').replace(/\([^()]*\)|["\s]/g, '').slice(0, 100);
}

/**
 * Finds the charsets in the header fields of the mail and of its parts. Returns those that the parser does not know.
 */
function findUnknownCharsets(parts: readonly MailPart[], heads: readonly string[]): string[] {
  const inParameters = parts.flatMap(({ fields }) => {
    const { 'content-type': type = '', 'content-disposition': disposition = '' } = fields;
    const charsetOfName = /name\*(?:0\*)?\s*=\s*"?([^\s"';]{1,40})'[^']*'/gi;
    return [...type.matchAll(/\bcharset\s*=\s*"?([^\s";]+)/gi), ...`${type};${disposition}`.matchAll(charsetOfName)];
  });
  const inWords = heads.flatMap((head) => Array.from(head.matchAll(/=\?([^?\s*]+)(?:\*[^?\s]*)?\?[QB]\?/gi)));
  const names = [...inParameters, ...inWords].map(([, name = '']) => name.toLowerCase());
  return [...new Set(names)].filter((name) => !isKnownCharset(name));
}

/** Matches the names of charsets that the parser knows, besides those of the Encoding Standard. */
const OTHER_CHARSETS = [
  /^(?:cp|windows|ms|ibm)-?(?:932|936|949|950|874|5022[0-2]|51932)$/,
  /^(?:iso-?2022-?jp-?[12]?|euc_?jp|junet|uhc|iso-8859-8-e)$/,
];

function isKnownCharset(charset: string): boolean {
  const name = charset.replace(/^(?:x-|cs)/, '');
  const isOther = OTHER_CHARSETS.some((pattern) => pattern.test(name)) || isRareCharset(charset);
  return isOther || [charset, name].some(isDecodable);
}

function isDecodable(charset: string): boolean {
  try {
    return new TextDecoder(charset).encoding !== '';
  } catch {
    return false;
  }
}
