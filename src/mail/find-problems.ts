import { fromBase64 } from '../contract/base64.ts';
import type { AttachmentRow, MessageRow } from '../store/rows.ts';

/** How much of a raw mail is searched for charsets, in characters of base64. */
const SEARCHED_LENGTH = 256 * 1024;

/** Says what could not be read of a mail that came as raw bytes, each in one sentence. */
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
  const unopened = attachments.filter(({ contentType }) => /^application\/(?:vnd\.)?ms-tnef/i.test(contentType));
  return [
    ...damaged.map(([part]) => `${part} has characters that could not be decoded, shown as U+FFFD.`),
    ...findUnknownCharsets(message.raw).map(
      (name) => `The charset ${name} is unknown; its text is read as windows-1252.`,
    ),
    ...unopened.map(({ filename }) => `The attachment ${filename} is in the format TNEF, which is not unpacked.`),
  ];
}

/** Finds the charsets that header fields name, of the mail and of its parts, and that the parser does not know. */
function findUnknownCharsets(raw: string): string[] {
  const text = new TextDecoder('windows-1252').decode(fromBase64(raw.slice(0, SEARCHED_LENGTH)));
  const fields = text.match(/^content-type:[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*/gim) ?? [];
  const named = fields.flatMap((field) => /charset\s*=\s*"?([^\s";]+)/i.exec(field)?.[1] ?? []);
  const inWords = Array.from(text.matchAll(/=\?([^?\s*]+)(?:\*[^?\s]*)?\?[QB]\?/gi), ([, name = '']) => name);
  return [...new Set([...named, ...inWords].map((name) => name.toLowerCase()))].filter((name) => !isKnown(name));
}

/** Names that the parser knows, besides those of the Encoding Standard. */
const OTHER_NAMES =
  /^(?:(?:cp|windows|ms|ibm)-?(?:932|936|949|950|874|5022[0-2]|51932)|iso-?2022-?jp-?[12]?|euc_?jp|junet|uhc|iso-8859-8-e)$/;

function isKnown(charset: string): boolean {
  const name = charset.replace(/^(?:x-|cs)/, '');
  return OTHER_NAMES.test(name) || [charset, name].some(isDecodable);
}

function isDecodable(charset: string): boolean {
  try {
    return new TextDecoder(charset).encoding !== '';
  } catch {
    return false;
  }
}
