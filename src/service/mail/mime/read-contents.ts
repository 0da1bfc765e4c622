import { cut } from '../../../basics/text.ts';
import { MAIL_LIMITS } from '../../../contract/incoming-message.ts';
import { toHtml } from '../html.ts';
import type { AttachedFile } from '../store-message.ts';
import {
  bytesOf,
  decodeBody,
  decodeField,
  decodeText,
  decodeWords,
  repairWindows1252,
  toBinary,
  toSingleLine,
} from './decode.ts';
import { parseParameters, type RawPart } from './split-parts.ts';

/**
 * Reads the contents of a mail from its parts. If there is HTML, it also has each text that is no alternative to HTML.
 * No text is made from HTML.
 */
export function readContents(parts: readonly RawPart[], mail: string) {
  const leaves = parts.flatMap((part) => readLeaf(part) ?? []);
  const texts = leaves.filter(isText).map((leaf) => {
    const { part, mediaType } = leaf;
    return { text: readText(leaf), isHtml: mediaType === 'text/html', alternative: alternativeOf(part) };
  });
  const withHtml = new Set(texts.flatMap(({ isHtml, alternative }) => (isHtml ? alternative : [])));
  const plain = texts.flatMap(({ isHtml, text }) => (isHtml ? [] : text));
  const html = texts.flatMap(({ isHtml, text, alternative }) => {
    if (isHtml) return text;
    return withHtml.size === 0 || withHtml.has(alternative) ? [] : toHtml(text.trim());
  });
  const bodyOf = (list: readonly string[]) => cut(repairWindows1252(list.join('\n')), MAIL_LIMITS.body);
  const files = leaves.filter((leaf) => !isText(leaf)).slice(0, MAIL_LIMITS.attachments);
  return {
    plainBody: bodyOf(plain),
    htmlBody: bodyOf(html) || null,
    attachments: files.map((leaf) => toFile(leaf, mail)),
  };
}

/** A part that has no parts, with its media type and the parameters of that. A `multipart` without parts is a text. */
function readLeaf(part: RawPart) {
  const { value, parameters } = parseParameters(part.fields['content-type']);
  const isMultipart = value.startsWith('multipart/');
  if (isMultipart && part.body === '') return undefined;
  const isInDigest = /^multipart\/digest\b/i.test(part.parent?.fields['content-type'] ?? '');
  const mediaType = isMultipart ? '' : value;
  return { part, parameters, mediaType: mediaType || (isInDigest ? 'message/rfc822' : 'text/plain') };
}

type Leaf = NonNullable<ReturnType<typeof readLeaf>>;

function isText({ mediaType, part }: Leaf): boolean {
  const isFile = /^attachment\b/i.test(part.fields['content-disposition'] ?? '');
  return /^text\/(?:plain|html)$/.test(mediaType) && !isFile;
}

/** Returns the `multipart/alternative` that a part belongs to, or else the part itself. */
function alternativeOf(part: RawPart): RawPart {
  for (let { parent } = part; parent; { parent } = parent) {
    if (/^multipart\/alternative\b/i.test(parent.fields['content-type'] ?? '')) return parent;
  }
  return part;
}

function readText({ part, parameters }: Leaf): string {
  const text = decodeText(decodeBody(part), parameters.charset);
  if (parameters.format?.toLowerCase() !== 'flowed') return text;
  // A line that ends with a space goes on, unless it is the mark before a signature (RFC 3676).
  return text.replace(/^ /gm, '').replace(/(?<!^--) \n/gm, parameters.delsp?.toLowerCase() === 'yes' ? '' : ' ');
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

function toFile({ part, parameters, mediaType }: Leaf, mail: string): AttachedFile {
  const isCalendar = mediaType === 'text/calendar' || mediaType === 'application/ics';
  const [disposition, type] = ['content-disposition', 'content-type'].map(
    (name) => parseParameters(decodeField(part.fields[name] ?? '', mail)).parameters,
  );
  let bytes = decodeBody(part);
  if (isCalendar) bytes = new TextEncoder().encode(`${decodeText(bytes, parameters.charset).trimEnd()}\n`);
  // A mail keeps the line ends of mail.
  if (mediaType === 'message/rfc822') bytes = bytesOf(toBinary(bytes).replace(/\r?\n/g, '\r\n'));
  const method = isCalendar && parameters.method ? `; method=${parameters.method.toUpperCase()}` : '';
  const name = toSingleLine(decodeWords(disposition?.filename ?? type?.name ?? ''));
  return {
    filename: cut(name, MAIL_LIMITS.filename) || fileNameOf(mediaType),
    contentType: cut(mediaType + method, MAIL_LIMITS.contentType),
    content: bytes,
    sizeBytes: bytes.byteLength,
  };
}
