import { toBinary } from '../../service/mail/mime/decode.ts';
import { repairLineEnds } from '../../service/mail/mime/header.ts';
import { encodedBodyOf, type MailPart, splitParts } from '../../service/mail/mime/split-parts.ts';

/**
 * How many characters of images are put into one HTML body. A limit is needed, because the body may repeat an image.
 */
const MAX_INLINED_LENGTH = 32 * 1024 * 1024;

/** Replaces each `cid:` address by the image with this id in the raw mail, as a `data:` URL. */
export function inlineImages(html: string, mail: Uint8Array): string {
  if (!/cid:/i.test(html)) return html;
  const text = toBinary(repairLineEnds(mail));
  const images = new Map(splitParts(text).flatMap((part) => toImage(text, part)));
  let room = MAX_INLINED_LENGTH;
  return html.replace(/(["'=(]\s*)cid:([^\s"'<>()]+)/gi, (written, start: string, id: string) => {
    const image = images.get(id) ?? '';
    room -= image.length;
    return image === '' || room < 0 ? written : start + image;
  });
}

/**
 * Returns the image in a part as a `data:` URL, under each spelling of its id that a `cid:` URL can have (RFC 2392).
 */
function toImage(mail: string, part: MailPart): [id: string, image: string][] {
  const { fields } = part;
  const [, id] = /^<([^<>]+)>/.exec(fields['content-id'] ?? '') ?? [];
  const [type] = /^image\/[\w.+-]+/i.exec(fields['content-type'] ?? '') ?? [];
  const isBase64 = /^base64$/i.test(fields['content-transfer-encoding'] ?? '');
  if (id === undefined || type === undefined || !isBase64) return [];
  const image = `data:${type};base64,${encodedBodyOf(mail, part).replace(/[^A-Za-z0-9+/=]/g, '')}`;
  return [id, encodeURI(id), encodeURIComponent(id)].map((spelling) => [spelling, image]);
}
