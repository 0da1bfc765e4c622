import type { AttachmentRow, MessageRow } from '../../../world/store/rows.ts';
import { repairLineEnds } from '../mime/header.ts';
import { type RawPart, splitParts } from '../mime/split-parts.ts';

/** How much of a raw mail is searched. */
const SEARCHED_BYTES = 192 * 1024;

/** Returns a sentence for each problem in reading a mail that came as raw bytes. */
export function findProblems(message: MessageRow, attachments: readonly AttachmentRow[]): string[] {
  if (message.raw === null) return [];
  const texts = [
    ['The subject', message.subject],
    ['The sender', message.from],
    ['The text', message.plainBody],
    ['The HTML', message.htmlBody ?? ''],
    ...attachments.map(({ filename }) => ['The name of an attachment', filename] as const),
  ] as const;
  const damaged = texts.filter(([, text]) => text.includes('\uFFFD'));
  const start = repairLineEnds(message.raw.subarray(0, SEARCHED_BYTES));
  const parts = splitParts(new TextDecoder('windows-1252').decode(start));
  const unopened = attachments.filter(({ contentType }) => /^application\/(?:vnd\.)?ms-tnef/i.test(contentType));
  return [
    ...damaged.map(([part]) => `${part} has characters that could not be decoded, shown as U+FFFD.`),
    ...new Set(CHECKS.flatMap((check) => parts.flatMap((part) => check(part) || []))),
    ...findUnknownCharsets(parts).map((name) => `The charset ${name} is unknown; its text is read as windows-1252.`),
    ...unopened.map(({ filename }) => `The attachment ${filename} is in the format TNEF, which is not unpacked.`),
  ];
}

const NOT_BASE64 = /[^A-Za-z0-9+/=\s]/;

/** The checks of a part. Each returns a sentence if it finds something that cannot be decoded. */
const CHECKS: readonly ((part: RawPart) => string | false)[] = [
  ({ fields, body }) => {
    const [type] = /^multipart\/[\w.+-]+/i.exec(fields['content-type'] ?? '') ?? [];
    return (
      type !== undefined && body !== '' && `The boundary of a ${type} is missing or does not occur, so it has no parts.`
    );
  },
  (part) =>
    !/^(?:7bit|8bit|binary|base64|quoted-printable|)$/i.test(encodingOf(part)) &&
    `The encoding ${encodingOf(part)} is unknown; its part is shown as it is.`,
  (part) =>
    /^base64$/i.test(encodingOf(part)) &&
    NOT_BASE64.test(part.body) &&
    'A part in base64 has other characters, which are left out.',
  ({ head }) =>
    Array.from(head.matchAll(/=\?[^?\s]+\?B\?([^?]*)\?=/gi)).some(([, word = '']) => NOT_BASE64.test(word)) &&
    'A word of the header that says it is base64 has other characters, and cannot be decoded.',
];

function encodingOf({ fields }: RawPart): string {
  return (fields['content-transfer-encoding'] ?? '').replace(/\([^()]*\)|["\s]/g, '').slice(0, 100);
}

/** Finds the charsets that the header fields of the mail and of its parts name, and that the parser does not know. */
function findUnknownCharsets(parts: readonly RawPart[]): string[] {
  const named = parts.flatMap(({ fields }) => {
    const { 'content-type': type = '', 'content-disposition': disposition = '' } = fields;
    const inNames = /name\*(?:0\*)?\s*=\s*"?([^\s"';]{1,40})'[^']*'/gi;
    return [...type.matchAll(/\bcharset\s*=\s*"?([^\s";]+)/gi), ...`${type};${disposition}`.matchAll(inNames)];
  });
  const inWords = parts.flatMap(({ head }) => Array.from(head.matchAll(/=\?([^?\s*]+)(?:\*[^?\s]*)?\?[QB]\?/gi)));
  const names = [...named, ...inWords].map(([, name = '']) => name.toLowerCase());
  return [...new Set(names)].filter((name) => !isKnown(name));
}

/** Names of charsets that the parser knows, besides those of the Encoding Standard. */
const OTHER_NAMES = [
  /^(?:cp|windows|ms|ibm)-?(?:932|936|949|950|874|5022[0-2]|51932)$/,
  /^(?:iso-?2022-?jp-?[12]?|euc_?jp|junet|uhc|iso-8859-8-e)$/,
];

function isKnown(charset: string): boolean {
  const name = charset.replace(/^(?:x-|cs)/, '');
  return OTHER_NAMES.some((pattern) => pattern.test(name)) || [charset, name].some(isDecodable);
}

function isDecodable(charset: string): boolean {
  try {
    return new TextDecoder(charset).encoding !== '';
  } catch {
    return false;
  }
}
